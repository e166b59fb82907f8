import { canonicalSha256, sha256 } from '../../canonical-json.ts'
import { isMeasured } from '../../facts/feature-catalogue.ts'
import { checkPolicy } from '../check/check-policy.ts'
import { checkRunnable } from '../check/check-runnable.ts'
import { isWarning, type PolicyProblem } from '../check/policy-problem.ts'
import { segmentProblem } from '../check/segment-problem.ts'
import { compileExpression } from '../expression/compile-expression.ts'
import { limitExpression, limitProblem } from '../expression/limit-expression.ts'
import type { PolicyDocument, PolicyInput } from '../policy-document.ts'
import { segmentDocument } from '../segment-document.ts'
import { compileDerived, computedSlots, slotsFromAmount } from './compile-derived.ts'
import { compileProducts } from './compile-products.ts'
import { compileRules } from './compile-rules.ts'
import { compileCharacteristics } from './compile-scorecard.ts'
import {
  type CompiledInput,
  type CompiledLimitTerm,
  type CompiledPolicy,
  type CompiledSegment,
  type Reason,
  reasonAt,
} from './compiled-policy.ts'
import { type PolicySlots, policySlots } from './policy-slots.ts'

/** A compiled policy, or all problems that prevent compiling it. */
export type CompileResult = { policy: CompiledPolicy } | { problems: PolicyProblem[] }

/** The same for a new policy, with what its author should know about it. */
export type CheckedResult = { policy: CompiledPolicy; warnings: PolicyProblem[] } | { problems: PolicyProblem[] }

/** Checks a new policy document in full and compiles it. */
export function compilePolicy(document: PolicyDocument): CheckedResult {
  const found = checkPolicy(document)
  const problems = found.filter((problem) => !isWarning(problem))
  if (problems.length > 0) return { problems: found }
  const result = prepare(document, canonicalSha256(document))
  return 'policy' in result ? { ...result, warnings: found } : result
}

/**
 * Compiles a stored policy, checking only what deciding needs: a check that a later version adds for new policies must
 * not stop one that was approved before. `altered` means that the text no longer has the checksum.
 */
export function compileStoredPolicy({
  document,
  checksum,
}: {
  document: string
  checksum: string
}): CompileResult | { altered: true } {
  if (sha256(document) !== checksum) return { altered: true }
  try {
    return prepare(JSON.parse(document) as PolicyDocument, checksum)
  } catch (error) {
    const message = `the stored document is not a policy that this version can run (${error})`
    return { problems: [{ path: [], message }] }
  }
}

/** `checksum` is that of the canonical document, so it covers everything in the policy except comments and layout. */
function prepare(document: PolicyDocument, checksum: string): CompileResult {
  const problems = checkRunnable(document)
  const slots = policySlots(document)
  const policy = compileParts(document, { checksum, slots, segment: null, problems })
  const segments = (document.segments ?? []).flatMap((segment, index): CompiledSegment[] => {
    const when = compileExpression(segment.when, slots.before)
    if ('message' in when) {
      problems.push(segmentProblem(segment, { index, ...when }))
      return []
    }
    const own: PolicyProblem[] = []
    const parts = { checksum, slots, segment: segment.name, problems: own }
    const compiled = compileParts(segmentDocument(document, segment), parts)
    // What is not the segment's own was compiled above already.
    const ofLimit = segment.limit === undefined ? [] : own.filter(({ path }) => path[0] === 'limit')
    problems.push(...ofLimit.map((problem) => ({ ...problem, path: ['segments', index, ...problem.path] })))
    return [{ name: segment.name, holds: when.holds, policy: compiled }]
  })
  return problems.length > 0 ? { problems } : { policy: { ...policy, segments } }
}

function compileParts(
  document: PolicyDocument,
  {
    checksum,
    slots,
    segment,
    problems,
  }: { checksum: string; slots: PolicySlots; segment: string | null; problems: PolicyProblem[] },
): CompiledPolicy {
  const { inputs, scorecard } = document
  const derived = compileDerived(document, { slots, problems })
  const amountSlots = slotsFromAmount(document, derived)
  const rules = compileRules(document, { list: 'rules', slots, amountSlots, problems })
  const afterScore = compileRules(document, { list: 'after_score', slots, amountSlots, problems })
  const computed = computedSlots(derived, slots)
  const products = compileProducts(document.products)
  const { external_probability } = scorecard
  return {
    document,
    checksum,
    inputs: inputs.map((input) => compileInput(input, input.feature === external_probability)),
    weight: inputs.reduce((sum, { weight }) => sum + weight, 0),
    maxAgeDays: Object.fromEntries(
      inputs.flatMap(({ feature, max_age_days }) => (max_age_days === undefined ? [] : [[feature, max_age_days]])),
    ),
    measuredSlots: [...inputs.keys()].filter((slot) => isMeasured(inputs[slot]!.feature)),
    amountSlot: slots.before.get('request.amount'),
    slots,
    computed,
    computedFromAmount: computed.filter((one) => amountSlots.has(one.kind === 'derived' ? one.slot : one.of)),
    derived,
    segment,
    segments: [],
    rules,
    afterScore,
    hasPointsRules: rules.some(({ action }) => action === 'points'),
    hasRulesOnAmount: rules.some(({ dependsOnAmount }) => dependsOnAmount),
    characteristics: compileCharacteristics(document, { slots, derived, amountSlots }),
    tiers: document.tiers.map(({ tier, from, balance_multiple, cap }) => ({
      tier,
      from: from ?? Number.NEGATIVE_INFINITY,
      balanceMultiple: balance_multiple,
      cap,
    })),
    groups: groupsOf(document),
    normal: scorecard.normal.map(({ z, ppm }) => ({ at: z * z, value: ppm })),
    probability: scorecard.probability?.map(({ score, bad_ppm }) => ({ at: score, value: bad_ppm })) ?? null,
    probabilitySlot: external_probability === undefined ? undefined : slots.before.get(external_probability),
    products,
    defaultProduct: products.get('default')!,
    currencies: new Map(
      document.limit.currencies.map(({ currency, per_reference, step }) => [
        currency,
        { perReference: per_reference, step },
      ]),
    ),
    limitTerms: compileLimitTerms(document, slots, problems),
    limitReasons: compileLimitReasons(document),
  }
}

function compileInput({ feature, type, weight, max_age_days }: PolicyInput, isProbability: boolean): CompiledInput {
  // A measured feature is as old as the cash flow it is measured against, whose age is checked there.
  const maxAgeDays = isMeasured(feature) ? undefined : max_age_days
  return { feature, type, weight, maxAgeDays, isMeasured: isMeasured(feature), isProbability }
}

function compileLimitTerms(
  document: PolicyDocument,
  slots: PolicySlots,
  problems: PolicyProblem[],
): CompiledLimitTerm[] {
  return document.limit.terms.flatMap((definition, index) => {
    const { term } = definition
    const { source, field } = limitExpression(definition)
    const compiled = compileExpression(source, slots.terms)
    if ('evaluate' in compiled) {
      const { evaluate, reads } = compiled
      return [{ term, isInstalment: field === 'instalment', evaluate, reads }]
    }
    problems.push(limitProblem(definition, { ...compiled, index }))
    return []
  })
}

function compileLimitReasons({ limit, rules, after_score = [] }: PolicyDocument): CompiledPolicy['limitReasons'] {
  const { terms, risk, unknown, over_maximum, under_minimum } = limit
  const ofTerms = terms.map(({ term, reason }) => [term, reasonAt(`limit/${term}`, reason, 'negative')] as const)
  const ofRules = [...rules, ...after_score]
    .filter(({ then }) => then === 'cap')
    .map(({ id, reason }): [string, Reason] => [id, reasonAt(`rule_trace/${id}`, reason, reason.impact)])
  return new Map([
    ...ofTerms,
    ...ofRules,
    ['risk', reasonAt('limit', risk, 'negative')],
    ['unknown', reasonAt('limit', unknown, 'negative')],
    ...(over_maximum ? [['maximum', reasonAt('limit', over_maximum, 'negative')] as const] : []),
    ...(under_minimum ? [['minimum', reasonAt('limit', under_minimum, 'negative')] as const] : []),
  ])
}

function groupsOf({ scorecard: { characteristics } }: PolicyDocument): number[][] {
  return [...Map.groupBy(characteristics.keys(), (index) => characteristics[index]!.group).values()]
}
