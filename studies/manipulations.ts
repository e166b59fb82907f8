import type { TransactionFact } from '../server/src/core/facts/entity-state.ts'
import type { Loan } from './berka-loans.ts'

/** One way in which an applicant, or a forged feed, may make an account look better than it is. */
export interface Manipulation {
  name: string
  what: string
  apply: (loan: Loan) => TransactionFact[]
}

const DAY_MS = 86_400_000
const MONTH_MS = 30 * DAY_MS
/** How long before the request manipulations begin. */
const YEAR_MS = 365 * DAY_MS

/**
 * A forged feed whose balances add up: nothing in the feed itself can show it, so it is not among the others. Only where the
 * transactions come from a bank, and not from the applicant, are they proof against it.
 */
export const CONSISTENT_FORGERY: Manipulation = {
  name: 'all balances alike',
  what: 'six instalments are added to every balance of the feed',
  apply: ({ transactions, instalment }) =>
    transactions.map((fact) => ({ ...fact, balanceAfter: cents(fact.balanceAfter! + 6 * instalment) })),
}

/** The manipulations. What really moves money moves the balances too; what only forges the feed leaves them. */
export const MANIPULATIONS: readonly Manipulation[] = [
  {
    name: 'hide half the debits',
    what: 'every second debit is left out of the feed',
    apply: ({ transactions }) => {
      let debits = 0
      return transactions.filter(({ direction }) => direction === 'credit' || debits++ % 2 === 0)
    },
  },
  {
    name: 'round trips in parts',
    what: 'each month three instalments come in from a friend and go back in three parts within three days',
    apply: (loan) =>
      withMovements(
        loan,
        eachMonth(loan, (ms) => [
          movement(ms, 3 * loan.instalment, 'friend'),
          ...[0.5, 0.3, 0.2].map((part, day) =>
            movement(ms + (day + 1) * DAY_MS, -part * 3 * loan.instalment, `friend ${'abc'[day]}`),
          ),
        ]),
      ),
  },
  {
    name: 'borrowed balances',
    what: 'six instalments are borrowed a hundred days before the request and paid back after it',
    apply: (loan) => withMovements(loan, [movement(loan.requestedAtMs - 100 * DAY_MS, 6 * loan.instalment, 'friend')]),
  },
  {
    name: 'shifted balances',
    what: 'six instalments are added to every balance that a debit leaves',
    apply: ({ transactions, instalment }) =>
      transactions.map((fact) =>
        fact.direction === 'debit' ? { ...fact, balanceAfter: cents(fact.balanceAfter! + 6 * instalment) } : fact,
      ),
  },
  {
    name: 're-sent credits',
    what: 'every credit is sent twice under different ids',
    apply: ({ transactions }) =>
      transactions.flatMap((fact) =>
        fact.direction === 'credit' ? [fact, { ...fact, externalId: `${fact.externalId}b` }] : [fact],
      ),
  },
  {
    name: 'omitted lows',
    what: 'every transaction that leaves less than one instalment is left out of the feed',
    apply: ({ transactions, instalment }) => transactions.filter(({ balanceAfter }) => balanceAfter! >= instalment),
  },
  {
    name: 'split debits',
    what: 'every debit is paid in five parts on the same day',
    apply: ({ transactions }) =>
      transactions.flatMap((fact) => (fact.direction === 'debit' ? inParts(fact, 5) : [fact])),
  },
  {
    name: 'tiny debits',
    what: 'a debit of one unit after every credit, while the balance is high',
    apply: (loan) =>
      withMovements(
        loan,
        loan.transactions
          .filter(({ direction }) => direction === 'credit')
          .map(({ occurredAt }) => movement(Date.parse(occurredAt) + DAY_MS, -1, 'kiosk')),
      ),
  },
  {
    name: 'other currency',
    what: 'every tenth debit is booked in another currency, as if it had never been paid from the account',
    apply: ({ transactions }) => {
      let [debits, moved] = [0, 0]
      return transactions.map((fact) => {
        if (fact.direction === 'debit' && debits++ % 10 === 0) {
          moved += fact.amount
          const { balanceAfter: _balance, ...elsewhere } = fact
          return { ...elsewhere, currency: 'EUR' }
        }
        return { ...fact, balanceAfter: cents(fact.balanceAfter! + moved) }
      })
    },
  },
  {
    name: 'an own round trip',
    what: 'each month three instalments go to an own account and come back whole after two days',
    apply: (loan) =>
      withMovements(
        loan,
        eachMonth(loan, (ms) => [
          movement(ms, -3 * loan.instalment, 'own savings'),
          movement(ms + 2 * DAY_MS, 3 * loan.instalment, 'own savings'),
        ]),
      ),
  },
  {
    name: 'round trip in 20 parts',
    what: 'each month three instalments come in from a friend and go back in twenty parts, one a day',
    apply: (loan) => passingThrough(loan, { instalments: 3, parts: 20 }),
  },
  {
    name: 'weekly round trips',
    what: 'each week an instalment comes in from a friend and goes back whole five days later',
    apply: (loan) => {
      const weeks = Array.from({ length: 51 }, (_, week) => loan.requestedAtMs - YEAR_MS + week * 7 * DAY_MS)
      return withMovements(
        loan,
        weeks.flatMap((ms) => [
          movement(ms, loan.instalment, 'friend'),
          movement(ms + 5 * DAY_MS, -loan.instalment, 'friend'),
        ]),
      )
    },
  },
  {
    name: 'salary look-alike',
    what: 'each month two instalments come in like a salary and are drawn in fifteen parts, one a day',
    apply: (loan) => passingThrough(loan, { instalments: 2, parts: 15 }),
  },
  {
    name: 'look-alike, kept',
    what: 'the same for the last three months, without drawing it',
    apply: (loan) =>
      withMovements(
        loan,
        [90, 60, 30].map((days) => movement(loan.requestedAtMs - days * DAY_MS, 2 * loan.instalment, 'employer')),
      ),
  },
  ...[60, 80].map((days) => ({
    name: `borrowed for ${days} days`,
    what: `six instalments are borrowed ${days} days before the request and paid back after it`,
    apply: (loan: Loan) =>
      withMovements(loan, [movement(loan.requestedAtMs - days * DAY_MS, 6 * loan.instalment, 'friend')]),
  })),
  {
    name: 'parked income',
    what: 'each month a friend parks two instalments and gets them back whole after twenty days',
    apply: (loan) =>
      withMovements(
        loan,
        eachMonth(loan, (ms) => [
          movement(ms, 2 * loan.instalment, 'friend'),
          movement(ms + 20 * DAY_MS, -2 * loan.instalment, 'friend'),
        ]),
      ),
  },
  {
    name: 'split accounts',
    what: 'every second debit is paid from an account that is not shown, to which the money goes at the end of the month',
    apply: inSplitAccounts,
  },
  {
    name: 'lowest debits hidden',
    what: 'the ninth of a hundred debits that leave least are left out of the feed',
    apply: (loan) => {
      const lowest = lowestDebits(loan, 0.09)
      return loan.transactions.filter((fact) => !lowest.has(fact))
    },
  },
  {
    name: 'lows without balance',
    what: 'the nineteenth of a hundred debits that leave least report no balance',
    apply: (loan) => {
      const lowest = lowestDebits(loan, 0.19)
      return loan.transactions.map((fact) => {
        if (!lowest.has(fact)) return fact
        const { balanceAfter: _balance, ...without } = fact
        return without
      })
    },
  },
  {
    name: 'debits without effect',
    what: 'after each credit, ninety debits of two thousandths of an instalment leave the balance as it is',
    apply: standingStill,
  },
]

/** Money that moves: positive amounts come in. */
interface Movement {
  ms: number
  amount: number
  counterparty: string
}

function movement(ms: number, amount: number, counterparty: string): Movement {
  return { ms, amount: Math.round(amount * 100) / 100, counterparty }
}

function eachMonth({ requestedAtMs }: Loan, movementsAt: (ms: number) => Movement[]): Movement[] {
  const starts: number[] = []
  for (let ms = requestedAtMs - YEAR_MS; ms < requestedAtMs - 10 * DAY_MS; ms += MONTH_MS) starts.push(ms)
  return starts.flatMap(movementsAt)
}

/** Adds real movements of money to an account: every balance after one changes by its amount. */
function withMovements({ transactions, requestedAtMs }: Loan, movements: readonly Movement[]): TransactionFact[] {
  const first = Math.min(...transactions.map(({ occurredAt }) => Date.parse(occurredAt)))
  const real = movements.filter(({ ms }) => ms > first && ms < requestedAtMs).toSorted((a, b) => a.ms - b.ms)
  const movedBefore = (ms: number) => real.reduce((sum, one) => (one.ms < ms ? sum + one.amount : sum), 0)
  const known = transactions.map((fact) => ({
    ...fact,
    balanceAfter: cents(fact.balanceAfter! + movedBefore(Date.parse(fact.occurredAt))),
  }))
  // Movements come last on their day: transactions of one day are dated at midnight, and so are movements.
  const added = real.map(({ ms, amount, counterparty }, index): TransactionFact => {
    const own = transactions.findLast(({ occurredAt }) => Date.parse(occurredAt) <= ms)?.balanceAfter ?? 0
    const moved = real.slice(0, index + 1).reduce((sum, one) => sum + one.amount, 0)
    return {
      externalId: `moved-${String(index).padStart(4, '0')}`,
      occurredAt: new Date(ms).toISOString(),
      amount: Math.abs(amount),
      currency: 'CZK',
      direction: amount > 0 ? 'credit' : 'debit',
      description: 'transfer',
      counterparty,
      balanceAfter: cents(own + moved),
    }
  })
  return [...known, ...added].toSorted((a, b) => a.occurredAt.localeCompare(b.occurredAt))
}

function inParts(fact: TransactionFact, parts: number): TransactionFact[] {
  const part = Math.floor((fact.amount * 100) / parts) / 100
  return Array.from({ length: parts }, (_, index) => {
    const left = cents(part * (parts - 1 - index))
    const amount = index === 0 ? cents(fact.amount - part * (parts - 1)) : part
    return {
      ...fact,
      externalId: `${fact.externalId}-${index}`,
      amount,
      balanceAfter: cents(fact.balanceAfter! + left),
    }
  }).filter(({ amount }) => amount > 0)
}

function cents(amount: number): number {
  return Math.round(amount * 100) / 100
}

/** Money that comes in each month and leaves in equal parts on the days after. */
function passingThrough(loan: Loan, { instalments, parts }: { instalments: number; parts: number }): TransactionFact[] {
  const sum = instalments * loan.instalment
  const part = Math.floor((sum / parts) * 100) / 100
  return withMovements(
    loan,
    eachMonth(loan, (ms) => [
      movement(ms, sum, 'employer'),
      ...Array.from({ length: parts }, (_, day) =>
        movement(
          ms + (day + 1) * DAY_MS,
          day === 0 ? -(sum - part * (parts - 1)) : -part,
          `shop ${'abcdefghij'[day % 10]}`,
        ),
      ),
    ]),
  )
}

/** The share of the debits that leave the lowest balances. */
function lowestDebits({ transactions }: Loan, share: number): Set<TransactionFact> {
  const debits = transactions.filter(({ direction }) => direction === 'debit')
  const inOrder = debits.toSorted((a, b) => a.balanceAfter! - b.balanceAfter!)
  return new Set(inOrder.slice(0, Math.ceil(inOrder.length * share)))
}

function inSplitAccounts({ transactions }: Loan): TransactionFact[] {
  let [debits, hidden, month] = [0, 0, 0]
  const shown: TransactionFact[] = []
  for (const fact of transactions) {
    const ms = Date.parse(fact.occurredAt)
    if (hidden > 0 && ms - month >= MONTH_MS) {
      const before = shown.at(-1)!
      const { counterparty: _counterparty, category: _category, ...rest } = fact
      shown.push({
        ...rest,
        externalId: `${fact.externalId}-moved`,
        amount: cents(hidden),
        direction: 'debit',
        description: 'own savings',
        balanceAfter: cents(before.balanceAfter! - hidden),
      })
      hidden = 0
    }
    if (hidden === 0) month = ms
    if (fact.direction === 'debit' && shown.length > 0 && debits++ % 2 === 0) hidden += fact.amount
    else shown.push({ ...fact, balanceAfter: cents(fact.balanceAfter! + hidden) })
  }
  return shown
}

function standingStill({ transactions, instalment }: Loan): TransactionFact[] {
  return transactions.flatMap((fact) => {
    if (fact.direction === 'debit') return [fact]
    const ms = Date.parse(fact.occurredAt) + DAY_MS
    const still = Array.from({ length: 90 }, (_, index) => ({
      ...fact,
      externalId: `${fact.externalId}-${index}`,
      occurredAt: new Date(ms).toISOString(),
      amount: Math.max(1, cents(instalment / 500)),
      direction: 'debit' as const,
      description: 'kiosk',
    }))
    return [fact, ...still]
  })
}
