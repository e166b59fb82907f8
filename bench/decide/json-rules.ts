/**
 * The sandbox policy in json-rules-engine: one rule per policy rule, and one per bin that carries its points.
 *
 * Set up in its favour: one engine is built once and reused; facts are plain constants by flat name, so no path has to be
 * resolved; missing features are null, so undefined facts need not be allowed; the features of the request and the
 * arithmetic of rules, which this engine has none of, are already computed; the points are added up from the events, without handlers. Its trace cannot be switched off: its results
 * always carry every condition.
 */
import type { NestedCondition, RuleProperties, TopLevelCondition } from 'json-rules-engine'
import type { PolicyCharacteristic, PolicyDocument } from '../../server/src/core/policy/policy-document.ts'
import type { PeerPackage } from '../peers.ts'
import type { Answer } from './answer.ts'
import { appliesInput, type DecisionCase } from './decision-case.ts'
import { type Comparator, portableRules, type RuleCondition, writtenOperand } from './rule-condition.ts'

const OPERATORS: Record<Exclude<Comparator, '!='>, string> = {
  '==': 'equal',
  '<': 'lessThan',
  '<=': 'lessThanInclusive',
  '>': 'greaterThan',
  '>=': 'greaterThanInclusive',
  in: 'in',
}

/** Builds the engine once and returns the function that decides one case. */
export function jsonRulesEngine(
  { Engine }: PeerPackage<'json-rules-engine'>,
  document: PolicyDocument,
): (one: DecisionCase) => Promise<Answer> {
  const { base, characteristics } = document.scorecard
  const rules = portableRules(document).map(
    ({ id, condition }): RuleProperties => ({
      name: id,
      conditions: atTop(conditionOf(condition)),
      event: { type: 'rule', params: { id } },
    }),
  )
  const engine = new Engine([...rules, ...characteristics.flatMap(binRules)])
  return async ({ flat }) => {
    const { events } = await engine.run(flat)
    const hits: string[] = []
    let total = base
    for (const { type, params } of events) {
      if (type === 'rule') hits.push(params?.id)
      else total += params?.points
    }
    return { hits, total }
  }
}

function conditionOf(condition: RuleCondition): NestedCondition {
  switch (condition.kind) {
    case 'all':
      return { all: condition.parts.map(conditionOf) }
    case 'any':
      return { any: condition.parts.map(conditionOf) }
    case 'missing':
      return { fact: condition.feature, operator: 'equal', value: null }
    case 'known':
      return { fact: condition.feature, operator: 'notIn', value: [null] }
    case 'compare':
      return comparisonOf(condition)
  }
}

function comparisonOf({ one, comparator, other }: RuleCondition & { kind: 'compare' }): NestedCondition {
  const fact = writtenOperand(one)
  const value = other.kind === 'constant' ? other.value : { fact: writtenOperand(other) }
  // In this engine null is unequal to everything; in the policy, no rule holds on a missing value.
  if (comparator === '!=') return { fact, operator: 'notIn', value: [value, null] }
  const compared: NestedCondition = { fact, operator: OPERATORS[comparator], value }
  if (other.kind === 'constant') return compared
  return { all: [{ fact: writtenOperand(other), operator: 'notIn', value: [null] }, compared] }
}

function atTop(condition: NestedCondition): TopLevelCondition {
  return 'fact' in condition ? { all: [condition] } : condition
}

function binRules({ id, feature, bins, missing, reference }: PolicyCharacteristic): RuleProperties[] {
  const is = (operator: string, value: number | boolean | null, fact = feature) => ({ fact, operator, value })
  const rule = (bin: string | number, all: NestedCondition[], points: number): RuleProperties => ({
    name: `${id} ${bin}`,
    conditions: { all },
    event: { type: 'points', params: { characteristic: id, bin, points } },
  })
  const applies = (isApplicable: boolean) => is('equal', isApplicable, appliesInput(id))
  const ranges = bins.map(({ below, points }, index) => {
    const from = bins[index - 1]?.below
    // In this engine comparisons with null are false, so a missing value is in no range.
    return rule(
      index,
      [
        ...(from === undefined ? [] : [is('greaterThanInclusive', from)]),
        ...(below === undefined ? [] : [is('lessThan', below)]),
      ],
      points,
    )
  })
  return [
    rule('not applicable', [applies(false)], reference),
    rule('missing', [applies(true), is('equal', null)], missing),
    ...ranges,
  ]
}
