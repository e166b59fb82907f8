/** Corrected cash flows are compared with those of what is left, derived from scratch. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../../canonical-json.ts'
import { dayOf } from '../../graph/decay.ts'
import { emptyState } from '../entity-state.ts'
import type { StatementBalanceFact } from './accounts/statement-balances.ts'
import { addToCashflow } from './add-to-cashflow.ts'
import type { CashflowState } from './cashflow-state.ts'
import { CashflowCorrection, planCorrection, type TransactionChange } from './correct-cashflow.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** What a caller sends in one batch. */
interface Batch {
  transactions: TransactionFact[]
  balances: StatementBalanceFact[]
  /** Chooses recorded transactions to correct, or to void where there is no other content. */
  corrections: { choice: number; content: Content | null }[]
}

type Content = Omit<TransactionFact, 'account' | 'externalId'>

/** An entity with everything that is recorded of it, as a database has it, and its state. */
class Ledger {
  state: CashflowState = emptyState().cashflow
  readonly recorded = new Map<string, TransactionFact>()
  readonly balances = new Map<string, StatementBalanceFact>()
  daysRead: number[] = []

  add({ transactions, balances, corrections }: Batch): void {
    const changes = new Map<string, TransactionChange>()
    for (const { choice, content } of corrections) {
      const names = [...this.recorded.keys()]
      const name = names[choice % names.length]
      const before = name === undefined ? undefined : this.recorded.get(name)
      if (before === undefined || changes.has(name!)) continue
      const after = content && {
        ...content,
        externalId: before.externalId,
        ...(before.account && { account: before.account }),
      }
      changes.set(name!, { before, after })
    }
    if (changes.size > 0) this.correct(changes)
    const fresh = transactions.filter((one) => !this.recorded.has(nameOf(one)))
    for (const one of fresh) this.recorded.set(nameOf(one), one)
    for (const one of balances) this.balances.set(`${one.account} ${one.currency} ${one.day} ${one.kind}`, one)
    this.state = addToCashflow(this.state, { transactions: fresh, balances })
  }

  correct(changes: ReadonlyMap<string, TransactionChange>): void {
    const list = [...changes.values()]
    const plan = planCorrection(this.state, list) ?? planCorrection(this.state, list, this.#newestAfter(changes))!
    this.daysRead = [...plan.days]
    const correction = new CashflowCorrection(this.state, list, plan)
    for (const day of plan.days.toReversed()) {
      correction.add({
        transactions: [...this.recorded.values()].filter((one) => dayOf(one.occurredAt) === day),
        balances: [...this.balances.values()].filter((one) => one.day === day && plan.uncovered.includes(day)),
      })
    }
    this.state = correction.close()
    for (const [name, { after }] of changes) {
      if (after) this.recorded.set(name, after)
      else this.recorded.delete(name)
    }
  }

  #newestAfter(changes: ReadonlyMap<string, TransactionChange>): number | null {
    const days = [
      ...[...this.recorded].filter(([name]) => !changes.has(name)).map(([, one]) => dayOf(one.occurredAt)),
      ...[...changes.values()].flatMap(({ after }) => (after ? [dayOf(after.occurredAt)] : [])),
      ...[...this.balances.values()].map(({ day }) => day),
    ]
    return days.length === 0 ? null : Math.max(...days)
  }

  fromScratch(): CashflowState {
    return addToCashflow(emptyState().cashflow, {
      transactions: [...this.recorded.values()],
      balances: [...this.balances.values()],
    })
  }
}

function nameOf({ account = '', externalId }: TransactionFact): string {
  return `${account} ${externalId}`
}

const START = Date.UTC(2024, 0, 1)
const DAY_MS = 86_400_000
/** Few days, so that they meet; two far apart, so that the window moves both ways. */
const days = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 900 }), fc.constantFrom(5, 450, 860))
const instants = fc
  .record({ day: days, hour: fc.constantFrom(0, 8, 8, 23) })
  .map(({ day, hour }) => new Date(START + day * DAY_MS + hour * 3_600_000).toISOString())
const amounts = fc.oneof(
  fc.integer({ min: 1, max: 400_000 }).map((cents) => cents / 100),
  fc.constantFrom(100, 250, 900),
)
const content: fc.Arbitrary<Content> = fc.record(
  {
    occurredAt: instants,
    amount: amounts,
    currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'CZK'),
    direction: fc.constantFrom('credit', 'debit'),
    balanceAfter: fc.integer({ min: -50_000, max: 500_000 }).map((cents) => cents / 100),
    category: fc.constantFrom('own_transfer', 'loan_proceeds', 'loan_repayment', 'refund', 'returned_payment', 'rent'),
    counterparty: fc.constantFrom('Acme', 'Zenith'),
  },
  { requiredKeys: ['occurredAt', 'amount', 'currency', 'direction'] },
)
const accountKey = fc.constantFrom(undefined, undefined, 'a', 'b')
const transaction: fc.Arbitrary<TransactionFact> = fc
  .record({ account: accountKey, externalId: fc.integer({ min: 0, max: 60 }).map(String), content })
  .map(({ account, externalId, content: rest }) => ({ ...(account && { account }), externalId, ...rest }))
const statement: fc.Arbitrary<StatementBalanceFact> = fc
  .record({
    account: accountKey,
    currency: fc.constantFrom('EUR', 'CZK'),
    day: days.map((day) => START / DAY_MS + day),
    kind: fc.constantFrom('opening', 'closing'),
    units: fc.integer({ min: -1_000_000, max: 100_000_000 }),
  })
  .map(({ account, ...rest }) => ({ ...(account && { account }), ...rest }))
const batch: fc.Arbitrary<Batch> = fc.record({
  transactions: fc.uniqueArray(transaction, { selector: nameOf, maxLength: 12 }),
  balances: fc.array(statement, { maxLength: 2 }),
  corrections: fc.array(fc.record({ choice: fc.nat(), content: fc.option(content, { freq: 2 }) }), { maxLength: 5 }),
})

describe('a corrected cash flow', () => {
  it('equals one derived from scratch, after any batches, corrections and voids', () => {
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 8 }), (batches) => {
        const ledger = new Ledger()
        for (const one of batches) {
          ledger.add(one)
          assert.equal(canonicalJson(ledger.state), canonicalJson(ledger.fromScratch()))
        }
      }),
      { numRuns: 1000 },
    )
  })

  const at = (day: number, over: Partial<TransactionFact> = {}): TransactionFact => ({
    externalId: `${day}`,
    occurredAt: new Date(START + day * DAY_MS).toISOString(),
    amount: 10,
    currency: 'EUR',
    direction: 'debit',
    balanceAfter: 1000 + day,
    ...over,
  })
  const ledgerOf = (transactions: TransactionFact[]) => {
    const ledger = new Ledger()
    ledger.add({ transactions, balances: [], corrections: [] })
    return ledger
  }
  const change = (before: TransactionFact, after: TransactionFact | null) =>
    new Map([[nameOf(before), { before, after }]])
  const dayNumber = (day: number) => START / DAY_MS + day

  it('needs the touched days alone', () => {
    const all = Array.from({ length: 300 }, (_, day) => at(day))
    const ledger = ledgerOf(all)
    ledger.correct(change(all[100]!, at(120, { externalId: '100', amount: 5 })))
    assert.deepEqual(ledger.daysRead.toSorted(), [dayNumber(100), dayNumber(120)])
    ledger.correct(change(all[200]!, null))
    assert.deepEqual(ledger.daysRead, [dayNumber(200)])
    assert.equal(canonicalJson(ledger.state), canonicalJson(ledger.fromScratch()))
  })

  it('needs the day with the next balance if the last one goes', () => {
    const all = [at(10), at(20), at(30)]
    const { balanceAfter: _, ...silent } = at(25)
    const ledger = ledgerOf([...all, silent, at(31, { account: 'b' })])
    ledger.correct(change(all[2]!, null))
    assert.deepEqual(ledger.daysRead.toSorted(), [dayNumber(20), dayNumber(30)])
    assert.equal(ledger.state.currencies.EUR!.accounts['']!.lastBalance!.units, 10_200_000)
  })

  it('needs what comes back into the window if the newest transaction goes', () => {
    const all = [at(0), at(1), at(399), at(401)]
    const ledger = ledgerOf(all)
    assert.equal(ledger.state.currencies.EUR!.accounts['']!.days.length, 2)
    ledger.correct(change(all[3]!, null))
    assert.deepEqual(ledger.daysRead.toSorted(), [0, 1, 399, 401].map(dayNumber))
    assert.equal(ledger.state.currencies.EUR!.accounts['']!.days.length, 3)
  })

  it('asks for the newest day of all that is recorded if none that is kept has a transaction left', () => {
    const all = [at(0), at(800)]
    const ledger = ledgerOf(all)
    assert.equal(planCorrection(ledger.state, [{ before: all[1]!, after: null }]), undefined)
    ledger.correct(change(all[1]!, null))
    assert.deepEqual([ledger.state.newestDay, ledger.daysRead], [dayNumber(0), ledger.daysRead])
    ledger.correct(change(all[0]!, null))
    assert.deepEqual(ledger.state, emptyState().cashflow)
  })
})
