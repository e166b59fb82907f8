import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { PolicyInput } from '../policy-document.ts'
import { checkExpression } from './check-expression.ts'
import {
  type CompiledExpression,
  compileExpression,
  type ExpressionProblem,
  problemOf,
  type Slots,
} from './compile-expression.ts'
import { boundedEnvironment } from './expression-functions.ts'

const INPUTS: PolicyInput[] = [
  { feature: 'cashflow.a', type: 'number', weight: 0 },
  { feature: 'cashflow.b', type: 'number', weight: 0 },
  { feature: 'request.text', type: 'string', weight: 0 },
  { feature: 'request.flag', type: 'boolean', weight: 0 },
]
const slotOf = new Map(INPUTS.map(({ feature }, slot) => [feature, slot]))
const types = new Map(INPUTS.map(({ feature, type }) => [feature, type]))
const compile = (source: string) => checkExpression(source, { slotOf, types }) ?? compileExpression(source, slotOf)

function compiled(source: string): CompiledExpression {
  const result = compile(source)
  assert.ok('holds' in result, `${source}: ${JSON.stringify(result)}`)
  return result
}

function problem(source: string): ExpressionProblem {
  const result = compile(source)
  assert.ok('message' in result, source)
  return result
}

// Maps instead of declared types, because the library recognises a declared type by its constructor. Policies compare
// numbers with whole ones, which the library itself refuses for `==`.
const untyped = boundedEnvironment()
  .registerOperator('double == int', (left: number, right: bigint) => left === Number(right))
  .registerVariable('cashflow', 'map')
  .registerVariable('request', 'map')

/** The result of the CEL library itself; undefined if a feature is missing. */
function oracle(source: string, [a, b, text, flag]: Slots): unknown {
  const given = (fields: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  try {
    return untyped.parse(source)({ cashflow: given({ a, b }), request: given({ text, flag }) })
  } catch (error) {
    assert.match(String(error), /No such key/)
    return undefined
  }
}

const slots: fc.Arbitrary<Slots> = fc.tuple(
  fc.option(fc.constantFrom(-1, 0, 0.5, 1, 2, 3), { nil: undefined }),
  fc.option(fc.constantFrom(-1, 0, 0.5, 1, 2, 3), { nil: undefined }),
  fc.option(fc.constantFrom('', 'EUR', 'USD', 'EURO'), { nil: undefined }),
  fc.option(fc.boolean(), { nil: undefined }),
)

const { condition } = fc.letrec<{ number: string; condition: string }>((tie) => ({
  number: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('cashflow.a', 'cashflow.b', '0.5', '2.0'),
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*'), tie('number'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie('number').map((operand) => `-(${operand})`),
  ),
  condition: fc.oneof(
    { depthSize: 'small' },
    fc
      .tuple(
        tie('number'),
        fc.constantFrom('<', '<=', '>', '>=', '==', '!='),
        fc.oneof(tie('number'), fc.constantFrom('0', '1')),
      )
      .map(([left, operator, right]) => `${left} ${operator} ${right}`),
    fc.constantFrom('has(cashflow.a)', 'has(request.text)', 'request.flag', 'request.text in ["EUR", "USD"]'),
    fc.constantFrom('request.text == "EUR"', 'request.text.startsWith("EU")', 'request.text.contains("UR")'),
    fc
      .tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition'))
      .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
    tie('condition').map((operand) => `!(${operand})`),
    fc
      .tuple(tie('condition'), tie('condition'), tie('condition'))
      .map(([test, yes, no]) => `(${test}) ? (${yes}) : (${no})`),
  ),
}))

describe('conditions', () => {
  it('give the same result as the CEL library, also with missing features', () => {
    fc.assert(
      fc.property(condition, slots, (source, values) => {
        const expression = compile(source)
        // A condition that the library's own checker refuses, such as very deep nesting, has no result to compare.
        fc.pre('holds' in expression)
        assert.equal((expression as CompiledExpression).holds(values), oracle(source, values))
      }),
      { numRuns: 500 },
    )
  })

  it('list the features that they read', () => {
    assert.deepEqual(compiled('cashflow.b > 1 && has(request.text)').reads, [1, 2])
  })

  it('are unknown if and only if they depend on a missing feature', () => {
    const missing: Slots = [undefined, 5, undefined, undefined]
    assert.equal(compiled('cashflow.a > 1').holds(missing), undefined)
    assert.equal(compiled('cashflow.a > 1 || cashflow.b > 1').holds(missing), true)
    assert.equal(compiled('cashflow.a > 1 && cashflow.b < 1').holds(missing), false)
    assert.equal(compiled('!has(cashflow.a) || cashflow.a == 0').holds(missing), true)
  })

  it('never read a missing number as zero', () => {
    for (const source of ['cashflow.a == 0', 'cashflow.a <= 0', 'cashflow.a >= 0', 'cashflow.a + 1 == 1']) {
      assert.equal(compiled(source).holds([undefined, 1, '', true]), undefined, source)
    }
  })

  it('name the column of a mistake', () => {
    assert.deepEqual(problem('cashflow.b > 1 && cashflow.c > 1'), {
      offset: 18,
      message: 'cashflow.c is not among the inputs of this policy; add it there, or correct the name',
    })
    assert.equal(problem('cashflow.b > 1 && has(cashflow.c)').offset, 22)
    assert.equal(problem('limit.sum > 1').message, 'there is no limit.sum; write one of limit.amount')
    assert.equal(problem('cashflow.a > ').offset, 13)
    assert.deepEqual(problem('request.text > 1'), { offset: 0, message: 'no such overload: string > double' })
  })

  it('say how many operands a call takes', () => {
    assert.equal(problem('has(cashflow.a, cashflow.b)').message, 'has takes one feature')
    assert.equal(problem('has()').message, 'has takes one feature')
    assert.equal(problem('abs(cashflow.a, cashflow.b) > 1').message, 'abs takes 1 operands')
    assert.equal(compiled('min(cashflow.a, cashflow.b) == 2').holds([3, 2, '', true]), true)
  })

  it('name a valid feature if a name is not one', () => {
    assert.deepEqual(problem('cashflow.b > 1 && income > 1'), {
      offset: 18,
      message: "'income' is not a feature; name one, such as cashflow.monthly_income",
    })
    assert.match(problem('cashflow["a"] > 1').message, /'\[ \]' is not available/)
  })

  it('allow a list only to the right of in', () => {
    assert.deepEqual(problem('[1] == [1]'), { offset: 0, message: "a list can only stand to the right of 'in'" })
    for (const source of ['cashflow.a > 1 || [1] != [2]', '[1] in [1]', 'request.flag ? [1] == [1] : true'])
      assert.match(problem(source).message, /a list can only stand/, source)
    assert.equal(compiled('request.text in ["EUR", "USD"]').holds([1, 1, 'USD', true]), true)
  })

  it('do not divide whole numbers, because CEL truncates the result', () => {
    assert.deepEqual(problem('cashflow.a > 1 / 2').offset, 13)
    for (const whole of ['-1', '(1 + 1)', '(2 - 1)', '(2 * 3)', 'size(request.text)'])
      assert.match(problem(`cashflow.a > ${whole} / 2`).message, /^whole numbers divide/, whole)
    assert.equal(compiled('cashflow.a >= 1 / 2.0').holds([0.5, 1, '', true]), true)
    for (const decimal of ['cashflow.b', '-cashflow.b', '(cashflow.b + 1)', '(2 * cashflow.b)', 'abs(cashflow.b)'])
      compiled(`cashflow.a > ${decimal} / 2`)
  })

  it('must be true or false', () => {
    assert.equal(problem('cashflow.a + 1').message, 'must be true or false, but is a number')
  })

  it('allow no call with a cost beyond their length, and none that reads a clock', () => {
    for (const source of [
      '[1, 2].exists(x, x > 1)',
      'timestamp("2026-01-01T00:00:00Z") < timestamp("2027-01-01T00:00:00Z")',
      'request.text.replace("a", "b") == "c"',
      'cashflow["a"] > 1',
    ]) {
      assert.match(problem(source).message, /not available|only numbers|name a feature|overload/, source)
    }
  })

  it('cannot be made long enough to slow a decision down: 200 parts, in 28 parentheses', () => {
    const isShort = (source: string) => 'holds' in compile(source)
    const ofParts = (count: number) =>
      `cashflow.a in [${Array(count - 4)
        .fill('1')
        .join(', ')}]`
    assert.deepEqual([isShort(ofParts(200)), isShort(ofParts(201))], [true, false])
    const nested = (depth: number) => `${'('.repeat(depth)}request.flag${')'.repeat(depth)}`
    assert.deepEqual([isShort(nested(28)), isShort(nested(29))], [true, false])
  })
})

describe('an error of the CEL library', () => {
  it('is reported where it is, or at the start', () => {
    assert.deepEqual(problemOf({ summary: 'wrong', range: { start: 7 } }), { offset: 7, message: 'wrong' })
    assert.deepEqual(problemOf({ summary: 'wrong' }), { offset: 0, message: 'wrong' })
  })

  it('is told apart from a defect, which is thrown on', () => {
    assert.throws(() => problemOf(new RangeError('a defect')), /a defect/)
  })
})
