import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bureauPolicy, documentedPart } from '../../../tests/documented-policy.ts'
import { doing } from '../../../tests/edited-policy.ts'
import { canonicalJson, orderedJson } from '../canonical-json.ts'
import type { FactValue } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { describeProblem } from '../policy/check/policy-problem.ts'
import { reasonGroups } from '../policy/compile/compile-meanings.ts'
import { compilePolicy } from '../policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { PolicyDocument, PolicyTable } from '../policy/policy-document.ts'
import { decide } from './decide.ts'
import { explainDecision } from './explain-decision.ts'

const { document } = bureauPolicy()
const GOOD = document.tests[0]!.facts

function withTables(tables: PolicyTable[], parts: Partial<PolicyDocument> = {}): CompiledPolicy {
  const result = compilePolicy({ ...document, tests: [], tables, ...parts })
  if ('policy' in result) return result.policy
  throw new Error(result.problems.map(describeProblem).join('\n'))
}

const documented = withTables(documentedPart('tables'))
const ask = (values: Record<string, FactValue>, policy = documented) =>
  decide(policy, factsFrom({ ...GOOD, ...values }))
const found = (values: Record<string, FactValue>, policy = documented) => ask(values, policy).trace.rule_trace.at(-1)

describe('a decision table', () => {
  it('of the documentation compiles without a warning', () => {
    const result = compilePolicy({ ...document, tests: [], tables: documentedPart('tables') })
    assert.deepEqual('warnings' in result ? result.warnings : result.problems, [])
  })

  it('finds the row that holds the values, and its trace is one line', () => {
    assert.deepEqual(found({}), { action: 'none', holds: true, row: 'strong', rule: 'score_by_debt' })
    const { rule_trace } = ask({}).trace
    assert.equal(rule_trace.filter(({ rule }) => rule.startsWith('score_by_debt')).length, 1)
    assert.equal(orderedJson(ask({}).trace), canonicalJson(ask({}).trace))
  })

  it('does what the row says, with the reason of the row', () => {
    const [table] = documentedPart('tables')
    const rows = table!.rows.map((row) =>
      row.row === 'strong' ? doing({ ...table!.rows[3]!, ...row }, 'manual_review') : row,
    )
    const reviewed = ask({}, withTables([{ ...table!, rows }]))
    assert.equal(reviewed.trace.rule_trace.at(-1)?.row, 'strong')
    assert.equal(reviewed.trace.settled_by, 'review_rule')
    assert.ok(reviewed.reasons.some(({ code, node }) => code === 'debt_heavy' && node === 'rule_trace/score_by_debt'))
    assert.ok(!ask({}).reasons.some(({ code }) => code === 'score_by_debt'), 'a row that does nothing has no reason')
  })

  it('holds a bound itself, and not what is below it', () => {
    const { total } = ask({}).trace.score
    const debt = (below: number): PolicyTable[] => [
      {
        table: 'by_score',
        label: 'By score',
        columns: [{ column: 'score', value: 'score.total' }],
        rows: [
          doing({ row: 'low', when: { score: { below } } }, 'none'),
          doing({ row: 'high', when: { score: { from: below } } }, 'none'),
        ],
      },
    ]
    assert.equal(found({}, withTables(debt(total)))?.row, 'high')
    assert.equal(found({}, withTables(debt(total + 1)))?.row, 'low')
  })

  it('has a row for a missing value only where it says so', () => {
    const without = Object.fromEntries(
      Object.entries(GOOD).filter(([name]) => name !== 'snapshot.application.monthly_income'),
    )
    const [table] = documentedPart('tables')
    const policy = withTables([{ ...table!, rows: table!.rows.filter(({ row }) => row !== 'no_income') }])
    const last = (under: CompiledPolicy) => decide(under, factsFrom(without)).trace.rule_trace.at(-1)
    assert.equal(last(documented)?.row, 'no_income')
    assert.deepEqual(last(policy), {
      action: 'none',
      holds: null,
      missing: ['derived.debt_to_income'],
      rule: 'score_by_debt',
    })
  })

  it('that caps the limit names its row as what binds, and gives the reason of the row', () => {
    const [table] = documentedPart('tables')
    const rows = table!.rows.map((row) => (row.row === 'strong' ? doing({ ...table!.rows[2]!, ...row }, 'cap') : row))
    const capped = ask({}, withTables([{ ...table!, rows }]))
    assert.equal(capped.trace.limit?.binding, 'score_by_debt/strong')
    assert.equal(capped.limit, 3000)
    assert.ok(capped.reasons.some(({ code }) => code === 'debt_for_record'))
  })

  it('is evaluated for every amount that is tried, so that a row which declines leaves a counter-offer', () => {
    const [table] = documentedPart('tables')
    const rows = table!.rows.map((row) => (row.row === 'heavy' ? doing(row, 'decline') : row))
    const policy = withTables([{ ...table!, rows }])
    const answer = ask({ 'request.amount': 25_000, 'snapshot.bureau.monthly_payments': 900 }, policy)
    assert.equal(answer.trace.rule_trace.at(-1)?.row, 'heavy')
    assert.equal(answer.verdict, 'approve_with_conditions')
    assert.ok(answer.limit! > 0 && answer.limit! < 25_000)
    const smaller = ask({ 'request.amount': answer.limit!, 'snapshot.bureau.monthly_payments': 900 }, policy)
    assert.equal(smaller.trace.rule_trace.at(-1)?.row, 'strong')
  })

  it("with 'first' takes the first of the rows that hold the values", () => {
    const rows: PolicyTable['rows'] = [
      doing({ row: 'heavy', when: { debt: { from: 0.4 } } }, 'none'),
      doing({ row: 'others', when: {} }, 'none'),
    ]
    const columns = [{ column: 'debt', value: 'derived.debt_to_income' }]
    const policy = withTables([{ table: 'debts', label: 'Debts', hit: 'first', columns, rows }])
    assert.equal(found({}, policy)?.row, 'others')
    assert.equal(found({ 'snapshot.bureau.monthly_payments': 1300 }, policy)?.row, 'heavy')
  })

  it("with 'first' leaves a counter-offer also where the row that declines reads nothing itself", () => {
    const heavy = documentedPart('tables')[0]!.rows.find(({ row }) => row === 'heavy')!
    const rows: PolicyTable['rows'] = [
      doing({ row: 'modest', when: { debt: { below: 0.4 } } }, 'none'),
      doing({ ...heavy, row: 'others', when: {} }, 'decline'),
    ]
    const columns = [{ column: 'debt', value: 'derived.debt_to_income' }]
    const policy = withTables([{ table: 'debts', label: 'Debts', hit: 'first', columns, rows }])
    const answer = ask({ 'request.amount': 25_000, 'snapshot.bureau.monthly_payments': 900 }, policy)
    assert.deepEqual([answer.verdict, answer.trace.rule_trace.at(-1)?.row], ['approve_with_conditions', 'others'])
    assert.ok(answer.limit! > 0 && answer.limit! < 25_000)
  })

  it('speaks about what its row covers, so that no praise of the same stands beside its reason', () => {
    const [table] = documentedPart('tables')
    const heavy = table!.rows.find(({ row }) => row === 'heavy')!
    const rows = table!.rows.map((row) => (row === heavy ? { ...row, covers: 'repayments' } : row))
    const groupsOf = (tables: PolicyTable[]) => reasonGroups({ ...document, tables }).get(heavy.reason!.code) ?? []
    assert.ok(groupsOf([{ ...table!, rows }]).includes('repayments'))
    assert.ok(!groupsOf([table!]).includes('repayments'))
  })

  it('does not apply to access without credit if a column is the score', () => {
    const { 'request.amount': _, 'request.currency': __, ...access } = GOOD
    const products = document.products.map((product) =>
      product.product === 'default' ? product : { product: product.product, kind: 'access' as const },
    )
    const segments = document.segments!.map(({ products: _products, ...segment }) => segment)
    const [table] = documentedPart('tables')
    const rows = table!.rows.filter(({ row }) => row !== 'no_income')
    const policy = withTables([{ ...table!, rows }], { products, segments })
    const { rule_trace } = decide(policy, factsFrom(access)).trace
    assert.equal(rule_trace.at(-1)?.holds, null)
  })

  it('is explained by the row: its condition in CEL, the values, and how far they are from the next row', () => {
    const explained = explainDecision(documented, factsFrom(GOOD)).rules.at(-1)!
    assert.deepEqual([explained.rule, explained.row, explained.code], ['score_by_debt', 'strong', 'score_by_debt'])
    assert.equal(explained.when, 'score.total >= 600 && derived.debt_to_income < 0.45')
    const { total } = ask({}).trace.score
    assert.deepEqual(
      explained.thresholds.map(({ feature, threshold, distance }) => [
        feature,
        threshold,
        Math.round(distance * 1e6) / 1e6,
      ]),
      [
        ['score.total', 600, total - 600],
        ['derived.debt_to_income', 0.45, Math.round((0.45 - Number(explained.values[1]!.value)) * 1e6) / 1e6],
      ],
    )
  })
})
