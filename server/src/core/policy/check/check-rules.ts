import { capSlots, type RuleList, ruleProblem } from '../compile/compile-rules.ts'
import { chanceIn, paymentsIn } from '../compile/payment-features.ts'
import { type PolicySlots, policySlots } from '../compile/policy-slots.ts'
import { checkExpression } from '../expression/check-expression.ts'
import { compileExpression } from '../expression/compile-expression.ts'
import { matchesIn } from '../expression/matches-in.ts'
import { FIXED_BINDINGS } from '../limit-bindings.ts'
import type { PolicyDocument, PolicyRule } from '../policy-document.ts'
import { dependsOnAmount, refusedAsBound } from './check-limit.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds rules that do not compile, name something undefined, or decline by a feature that may not decline. */
export function checkRules(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  return (['rules', 'after_score'] as const).flatMap((list) =>
    (document[list] ?? []).flatMap((rule, index) => {
      const at = { list, index, slots }
      return [
        ...conditionProblems(rule, at),
        ...questionProblems(rule, at),
        ...coverProblems(document, rule, at),
        ...impactProblems(rule, at),
        ...pointsProblems(rule, at),
        ...whenProblems(document, rule, at),
      ]
    }),
  )
}

/** Finds caps of rules that do not compile, depend on the amount, or read a number that a tier lacks. */
export function checkCaps(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  return (['rules', 'after_score'] as const).flatMap((list) =>
    (document[list] ?? []).flatMap((rule, index) => capProblems(document, rule, { list, index, slots })),
  )
}

interface RulePlace {
  list: RuleList
  index: number
  slots: PolicySlots
}

function whenProblems(document: PolicyDocument, rule: PolicyRule, { list, index, slots }: RulePlace): PolicyProblem[] {
  const slotOf = list === 'rules' ? slots.before : slots.all
  const wrong = checkExpression(rule.when, { slotOf, types: slots.types })
  if (wrong) return [ruleProblem(rule, { list, index, field: 'when', ...wrong })]
  const compiled = compileExpression(rule.when, slots.all)
  const reads = 'reads' in compiled ? compiled.reads : []
  const message =
    refusedForCost(document, rule, { list, slots }) ?? refusedForDecline(document, { action: rule.then, reads }, slots)
  return message === undefined ? [] : [{ path: [list, index, 'when'], message: `rule '${rule.id}': ${message}` }]
}

/** Why a rule may not call `matches`: it would run for each amount that the search for a counter-offer tries. */
function refusedForCost(
  document: PolicyDocument,
  { when }: PolicyRule,
  { list, slots }: Pick<RulePlace, 'list' | 'slots'>,
): string | undefined {
  if (matchesIn(when).length === 0) return undefined
  if (list === 'after_score') return 'rules after the score run for each amount; put matches into a derived feature'
  const compiled = compileExpression(when, slots.before)
  const reads = 'reads' in compiled ? compiled.reads : []
  if (dependsOnAmount(document, reads, slots) === undefined) return undefined
  return 'a rule that depends on the amount runs for each amount; put matches into a derived feature'
}

/** Why a rule may not decline by what it reads. Points for some applicants are points against all others. */
export function refusedForDecline(
  document: PolicyDocument,
  { action, reads }: { action: PolicyRule['then']; reads: readonly number[] },
  slots: PolicySlots,
): string | undefined {
  if (action !== 'decline' && action !== 'cap' && action !== 'points') return undefined
  return chanceIn(document, reads, slots) ?? paymentsIn(document, reads, slots)
}

/** A rule that sets a condition says which, and no other rule does. */
export function conditionProblems({ id, then, condition }: PolicyRule, { list, index }: RulePlace): PolicyProblem[] {
  const needsCondition = then === 'condition'
  if (needsCondition === (condition !== undefined)) return []
  const message = needsCondition
    ? `rule '${id}' sets a condition; say which, as 'condition'`
    : `rule '${id}' does not set a condition; remove 'condition'`
  return [{ path: [list, index], message }]
}

/** Only a review questions the data. */
export function questionProblems(
  { id, then, questions_data }: PolicyRule,
  { list, index }: RulePlace,
): PolicyProblem[] {
  if (questions_data !== true || then === 'manual_review') return []
  const message = `rule '${id}' does not ask for a review; remove 'questions_data'`
  return [{ path: [list, index, 'questions_data'], message }]
}

/** What a rule covers is a group of the scorecard. */
export function coverProblems(
  { scorecard, segments = [] }: PolicyDocument,
  { id, then, covers }: PolicyRule,
  { list, index }: RulePlace,
): PolicyProblem[] {
  if (covers === undefined) return []
  if (then === 'cap' || then === 'points') {
    const instead = `rule '${id}' ranks with the ${then === 'cap' ? 'limit terms' : 'scorecard'}, and covers nothing`
    return [{ path: [list, index, 'covers'], message: `${instead}; remove 'covers'` }]
  }
  const cards = [scorecard, ...segments.flatMap((segment) => segment.scorecard ?? [])]
  const groups = new Set(cards.flatMap(({ characteristics }) => characteristics.map(({ group }) => group)))
  if (groups.has(covers)) return []
  const message = `there is no group '${covers}' in the scorecard; write one of ${[...groups].join(', ')}`
  return [{ path: [list, index, 'covers'], message }]
}

/** A rule against the applicant has a reason against them: a decline or a review may not be without one. */
export function impactProblems({ id, then, reason }: PolicyRule, { list, index }: RulePlace): PolicyProblem[] {
  if (then === 'points' || then === 'condition' || reason.impact === 'negative') return []
  const message = `rule '${id}' counts against the applicant (${then}), so the impact of its reason is negative`
  return [{ path: [list, index, 'reason', 'impact'], message }]
}

function pointsProblems({ id, then, points, reason }: PolicyRule, { list, index }: RulePlace): PolicyProblem[] {
  if (then !== 'points') {
    if (points === undefined) return []
    return [
      { path: [list, index, 'points'], message: `rule '${id}' adds no points; remove 'points', or write then: points` },
    ]
  }
  if (list === 'after_score')
    return [{ path: [list, index], message: `rule '${id}' adds points, which comes too late here; move it to rules` }]
  if (points === undefined || points === 0)
    return [{ path: [list, index], message: `rule '${id}' adds points; say how many, as 'points'` }]
  const impact = points > 0 ? 'positive' : 'negative'
  if (reason.impact === impact) return []
  const message = `rule '${id}' adds ${points} points, so the impact of its reason is ${impact}`
  return [{ path: [list, index, 'reason', 'impact'], message }]
}

/** What `binding` of a limit, or the key of a reason for it, says besides terms and rules. */
const RESERVED = [...Object.keys(FIXED_BINDINGS), 'unknown']

/** A rule that caps the limit says at which amount, and no other rule does. */
export function capProblems(
  document: PolicyDocument,
  rule: PolicyRule,
  { list, index, slots }: RulePlace,
): PolicyProblem[] {
  const { id, then, cap } = rule
  if ((then === 'cap') !== (cap !== undefined)) {
    const message =
      then === 'cap'
        ? `rule '${id}' caps the limit; say at which amount, as 'cap'`
        : `rule '${id}' does not cap the limit; remove 'cap', or write then: cap`
    return [{ path: [list, index], message }]
  }
  if (cap === undefined) return []
  const wrong =
    checkExpression(cap, { slotOf: capSlots(slots, list), types: slots.types, type: 'number' }) ??
    refusedAsBound(document, cap, slots)
  if (wrong) return [ruleProblem(rule, { list, index, field: 'cap', ...wrong })]
  if (RESERVED.includes(id))
    return [
      { path: [list, index, 'id'], message: `'${id}' stands for something else in a limit; give the rule another id` },
    ]
  const terms = [document.limit, ...(document.segments ?? []).flatMap(({ limit }) => limit ?? [])]
  const isTaken = terms.some((limit) => limit.terms.some(({ term }) => term === id))
  if (!isTaken) return []
  return [{ path: [list, index, 'id'], message: `a limit term is named '${id}' too; give the rule another id` }]
}
