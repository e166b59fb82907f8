/**
 * Applicants as a credit officer meets them, as the bodies of API calls, each with the verdicts that the officer would
 * sign. Unless noted they have two verified strong identifiers, a consent, and a year of transactions with balances.
 */
import type { Verdict } from '../src/core/vocabularies.ts'
import type { PersonaTransaction } from './personas.ts'

/** A transaction as the API takes it; a feed may leave the balance out. */
export type ApplicantTransaction = Omit<PersonaTransaction, 'balance_after'> & {
  balance_after?: number
  counterparty?: { name: string }
}

/** One applicant and what is acceptable as a decision. */
export interface Applicant {
  name: string
  type: 'person' | 'business'
  transactions: ApplicantTransaction[]
  /** Undefined for access without credit. */
  amount: number | undefined
  verdicts: readonly Verdict[]
  /** Codes of which each must be among the reasons. */
  reasons?: readonly string[]
  /** Codes of which none may be among the reasons. */
  notReasons?: readonly string[]
  /** The limit, if one is given, is at most this. */
  limitMax?: number
  /** Applicants with the same text must get the same decision. */
  sameAs?: string
}

const DAY_MS = 86_400_000
const APPROVED = ['approve', 'approve_with_conditions'] as const

/** A movement every month: its day, what it is, and its amount (negative: a debit). */
type Monthly = readonly [day: number, name: string, amount: number, category?: string]

/** Books movements day by day and keeps the balance. */
class Ledger {
  readonly #now: string
  readonly #movements: { at: string; name: string; amount: number; category: string | undefined; currency: string }[] =
    []

  constructor(now: string) {
    this.#now = now
  }

  /** Books a movement some days ago. */
  on(daysAgo: number, name: string, amount: number, category?: string, currency = 'EUR'): this {
    const at = new Date(Date.parse(this.#now) - daysAgo * DAY_MS).toISOString()
    this.#movements.push({ at, name, amount, category, currency })
    return this
  }

  /** Books movements in each calendar month from some days ago until some days ago. */
  monthly(movements: readonly Monthly[], { from = 365, to = 0, currency = 'EUR' } = {}): this {
    const [year, month] = [Number(this.#now.slice(0, 4)), Number(this.#now.slice(5, 7)) - 1]
    const [first, last] = [from, to].map((days) => new Date(Date.parse(this.#now) - days * DAY_MS).toISOString())
    for (let back = 13; back >= 0; back--) {
      for (const [day, name, amount, category] of movements) {
        const at = new Date(Date.UTC(year, month - back, day, 9)).toISOString()
        if (at >= first! && at <= last! && at < this.#now) {
          this.#movements.push({ at, name, amount, category, currency })
        }
      }
    }
    return this
  }

  /** The transactions in the order of time, with the balance after each. */
  transactions(opening: number, { withBalances = true } = {}): ApplicantTransaction[] {
    const cents = new Map<string, number>()
    const inOrder = this.#movements.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : b.amount - a.amount))
    return inOrder.map(({ at, name, amount, category, currency }, index) => {
      const balance = (cents.get(currency) ?? opening * 100) + Math.round(amount * 100)
      cents.set(currency, balance)
      return {
        external_id: `tx-${index}`,
        occurred_at: at,
        amount: Math.abs(amount),
        currency,
        direction: amount > 0 ? 'credit' : 'debit',
        ...(withBalances && { balance_after: balance / 100 }),
        ...(category !== undefined && { category }),
        counterparty: { name },
      }
    })
  }
}

/** Spending of about `total` a month, on six days. */
function spending(total: number): Monthly[] {
  const shares: [number, string, number][] = [
    [3, 'City Rent', 0.4],
    [6, 'Market', 0.12],
    [11, 'Power and Water', 0.1],
    [16, 'Market', 0.13],
    [21, 'Railway', 0.1],
    [25, 'Market', 0.15],
  ]
  return shares.map(([day, name, share]) => [day, name, -Math.round(total * share)])
}

const SALARY: Monthly = [27, 'Acme GmbH', 2900, 'salary']

function salaried(now: string): Ledger {
  return new Ledger(now).monthly([SALARY, ...spending(2500)])
}

/** The applicants as of `now` (ISO 8601). */
export function applicants(now: string): Applicant[] {
  return [...wellOff(now), ...strained(now), ...hardToRead(now), ...spellings(now)]
}

function wellOff(now: string): Applicant[] {
  const gig = new Ledger(now).monthly(spending(1700))
  const amounts = [310, 95, 420, 180, 260, 530, 140, 75, 390, 220]
  for (let day = 362, turn = 0; day > 0; day -= [3, 5, 2, 4, 6][turn % 5]!, turn++) {
    gig.on(day, ['Courier App', 'Ride App', 'Odd Jobs'][turn % 3]!, amounts[turn % 10]!)
  }
  const business = new Ledger(now).monthly(spending(9000), { from: 120 })
  for (let day = 119; day > 0; day -= 2) business.on(day, 'Card Settlement', 780 + ((day * 37) % 90))
  const seasonal = new Ledger(now).monthly(spending(4200))
  for (let day = 364; day > 0; day -= 3) {
    const month = new Date(Date.parse(now) - day * DAY_MS).getUTCMonth()
    const isSeason = month >= 4 && month <= 8
    seasonal.on(day, `Guests ${'abcdefghij'[day % 10]}`, isSeason ? 1150 + (day % 7) * 20 : 160 + (day % 5) * 10)
  }
  // Starts with an income, so that the account is never overdrawn.
  const start = Date.UTC(Number(now.slice(0, 4)), Number(now.slice(5, 7)) - 12, 1)
  const student = (): Ledger =>
    new Ledger(now).monthly([[1, 'Parents', 900], ...spending(878)], { from: (Date.parse(now) - start) / DAY_MS })
  return [
    { name: 'salaried', amount: 5000, transactions: salaried(now).transactions(2600), verdicts: ['approve'] },
    { name: 'gig worker', amount: 2000, transactions: gig.transactions(1500), verdicts: ['approve'] },
    {
      name: 'business with four months of history',
      type: 'business' as const,
      amount: 8000,
      transactions: business.transactions(6000),
      verdicts: [...APPROVED, 'manual_review'] as const,
    },
    {
      name: 'seasonal business',
      type: 'business' as const,
      amount: 10_000,
      transactions: seasonal.transactions(16_000),
      verdicts: ['approve'] as const,
    },
    { name: 'student asks for little', amount: 800, transactions: student().transactions(0), verdicts: ['approve'] },
    {
      name: 'student asks for much',
      amount: 8000,
      transactions: student().transactions(0),
      verdicts: ['approve_with_conditions', 'decline', 'manual_review'] as const,
      limitMax: 999,
    },
    {
      name: '90-day feed',
      amount: 3000,
      transactions: new Ledger(now).monthly([SALARY, ...spending(2300)], { from: 90 }).transactions(2600),
      verdicts: APPROVED,
    },
    { name: 'access only', amount: undefined, transactions: [], verdicts: ['approve'] },
  ].map((applicant) => ({ type: 'person', ...applicant }) as Applicant)
}

function strained(now: string): Applicant[] {
  const indebted = new Ledger(now).monthly([
    [27, 'Acme GmbH', 9500, 'salary'],
    [2, 'First Bank', -2600, 'loan_repayment'],
    [4, 'Car Finance', -1300, 'loan_repayment'],
    ...spending(3600),
  ])
  const oneDay = salaried(now).on(182, 'Dentist', -6500).on(181, 'Family', 6500, 'own_transfer')
  const fiveDays = salaried(now).on(245, 'Roofer', -6800)
  for (const day of [244, 243, 242, 241]) fiveDays.on(day, 'Market', -15)
  fiveDays.on(240, 'Family', 6800, 'own_transfer')
  const everyMonth = new Ledger(now).monthly([[27, 'Acme GmbH', 2000, 'salary'], ...spending(2000)])
  const jobLost = new Ledger(now).monthly([[27, 'Acme GmbH', 2900, 'salary']], { to: 92 }).monthly(spending(2100))
  const circular = new Ledger(now).monthly([
    [27, 'Acme GmbH', 1500, 'salary'],
    ...spending(1300),
    [8, 'Partner One', 8000],
    [9, 'Partner Two', -5000],
    [10, 'Partner Three', -3000],
  ])
  return [
    {
      name: 'far in debt',
      amount: 25_000,
      transactions: indebted.transactions(7000),
      verdicts: ['decline', 'approve_with_conditions'],
      reasons: ['debt_too_high'],
      limitMax: 8000,
    },
    {
      name: 'one overdraft day half a year ago',
      amount: 5000,
      transactions: oneDay.transactions(2600),
      verdicts: APPROVED,
    },
    {
      name: 'five-day overdraft eight months ago',
      amount: 5000,
      transactions: fiveDays.transactions(2600),
      verdicts: ['approve_with_conditions', 'manual_review'],
      reasons: ['overdrawn_before'],
    },
    {
      name: 'agreed overdraft used every month',
      amount: 5000,
      transactions: everyMonth.transactions(-300),
      verdicts: ['decline'],
      reasons: ['account_overdrawn'],
    },
    {
      name: 'job lost three months ago',
      amount: 8000,
      transactions: jobLost.transactions(5500),
      verdicts: ['decline', 'manual_review'],
      reasons: ['income_stopped'],
    },
    {
      name: 'circular transfers',
      amount: 20_000,
      transactions: circular.transactions(2600),
      verdicts: ['approve_with_conditions', 'decline', 'manual_review'],
      reasons: ['circular_transfers'],
      limitMax: 10_000,
    },
  ].map((applicant) => ({ type: 'person', ...applicant }) as Applicant)
}

function hardToRead(now: string): Applicant[] {
  const twoCurrencies = new Ledger(now)
    .monthly([[27, 'Acme Inc', 3400, 'salary']], { currency: 'USD' })
    .monthly([[20, 'Side Job', 1100, 'salary'], ...spending(1900)])
  const savings = new Ledger(now).monthly([[28, 'Bank', 210, 'interest'], ...spending(2600)])
  return [
    {
      name: 'paid in two currencies',
      amount: 6000,
      transactions: twoCurrencies.transactions(14_000),
      verdicts: [...APPROVED, 'manual_review'],
      notReasons: ['spends_more_than_income', 'income_below_spending'],
    },
    {
      name: 'no balances in the feed',
      amount: 5000,
      transactions: salaried(now).transactions(2600, { withBalances: false }),
      verdicts: ['manual_review'],
      reasons: ['balances_missing'],
    },
    {
      name: 'lives on savings',
      amount: 10_000,
      transactions: savings.transactions(280_000),
      verdicts: ['manual_review'],
    },
    {
      name: 'feed that ended three months ago',
      amount: 4000,
      transactions: new Ledger(now).monthly([SALARY, ...spending(2500)], { to: 90 }).transactions(2600),
      verdicts: ['manual_review', 'approve_with_conditions'],
      reasons: ['bank_data_ended'],
    },
    {
      name: 'only credits on file',
      amount: 5000,
      transactions: new Ledger(now).monthly([SALARY]).transactions(2600),
      verdicts: ['manual_review'],
      reasons: ['spending_unknown'],
    },
  ].map((applicant) => ({ type: 'person', ...applicant }) as Applicant)
}

/** The same applicant with four spellings of one category. */
function spellings(now: string): Applicant[] {
  return ['loan_repayment', 'LOAN_PAYMENTS_CAR_PAYMENT', 'Loan payment', 'instalments'].map((category) => ({
    name: `loan repayments as "${category}"`,
    type: 'person',
    amount: 6000,
    transactions: salaried(now)
      .monthly([[9, 'First Bank', -350, category]])
      .transactions(6500),
    verdicts: [...APPROVED, 'manual_review', 'decline'],
    sameAs: 'loan repayments',
  }))
}
