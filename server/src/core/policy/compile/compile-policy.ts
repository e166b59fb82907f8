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
import { compileLastReasons, compileMeanings, reasonGroups } from './compile-meanings.ts'
import { compileProducts, isPricedByAmount } from './compile-products.ts'
import { BY_SCORE, compiledBound, compileRules } from './compile-rules.ts'
import { compileCharacteristics, compileGapReasons } from './compile-scorecard.ts'
import { compileTables } from './compile-tables.ts'
import {
  type CompiledInput,
  type CompiledLimitTerm,
  type CompiledPolicy,
  type CompiledRule,
  type CompiledSegment,
  type CompiledTier,
  type Reason,
  reasonAt,
  type TableRow,
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
  const { scorecard } = document
  const { external_probability } = scorecard
  const inputs = document.inputs.map((input, slot) => compileInput(input, { slot, external_probability }))
  const derived = compileDerived(document, { slots, problems })
  const amountSlots = slotsFromAmount(document, derived)
  const rules = compileRules(document, { list: 'rules', slots, amountSlots, problems })
  const afterScore = compileRules(document, { list: 'after_score', slots, amountSlots, problems })
  const tables = compileTables(document, { slots, amountSlots, problems })
  const computed = computedSlots(derived, slots)
  const computedFromAmount = computed.filter((one) => amountSlots.has(one.kind === 'derived' ? one.slot : one.of))
  const limitTerms = compileLimitTerms(document, { slots, amountSlots, problems })
  const probabilitySlot = external_probability === undefined ? undefined : slots.before.get(external_probability)
  const rowsOfTables = tables.flatMap(({ rows }) => rows)
  const isReadOtherwise = expressionsRead([...rules, ...afterScore, ...rowsOfTables], limitTerms).some((slot) =>
    amountSlots.has(slot),
  )
  const products = compileProducts(document.products)
  return {
    document,
    checksum,
    inputs,
    inputsByName: inputs.filter((input) => !input.isMeasured).sort((a, b) => (a.feature < b.feature ? -1 : 1)),
    weight: inputs.reduce((sum, { weight }) => sum + weight, 0),
    maxAgeDays: Object.fromEntries(
      document.inputs.flatMap(({ feature, max_age_days }) =>
        max_age_days === undefined ? [] : [[feature, max_age_days]],
      ),
    ),
    measuredSlots: inputs.filter((input) => input.isMeasured).map(({ slot }) => slot),
    readsLowestBalance: inputs.some(({ feature }) => feature === 'request.lowest_balance_to_instalment'),
    amountSlot: slots.before.get('request.amount'),
    slots,
    computed,
    computedFromAmount,
    derived,
    segment,
    segments: [],
    rules,
    afterScore,
    tables,
    hasPointsRules: rules.some(({ action }) => action === 'points'),
    hasRulesOnAmount: rules.some(({ dependsOnAmount }) => dependsOnAmount),
    readsAmountByBinsOnly:
      computedFromAmount.length === 0 &&
      !amountSlots.has(probabilitySlot ?? -1) &&
      !isReadOtherwise &&
      !isPricedByAmount(document.products),
    isScored: scorecard.characteristics.length > 0,
    characteristics: compileCharacteristics(document, { slots, derived, amountSlots }),
    tiers: compileTiers(document),
    groups: groupsOf(document),
    normal: scorecard.normal.map(({ z, ppm }) => ({ at: z * z, value: ppm })),
    probability: probabilityTable(scorecard),
    probabilitySlot,
    products,
    defaultProduct: products.get('default')!,
    currencies: compileCurrencies(document),
    limitTerms,
    ...compileReasons(document, { slots, problems, rules: [...rules, ...afterScore, ...rowsOfTables] }),
  }
}

function compileCurrencies({ limit }: PolicyDocument): CompiledPolicy['currencies'] {
  return new Map(
    limit.currencies.map(({ currency, per_reference, step }) => [currency, { perReference: per_reference, step }]),
  )
}

function compileTiers({ tiers }: PolicyDocument): CompiledTier[] {
  return tiers.map(({ tier, from, balance_multiple, cap }) => ({
    tier,
    from: from ?? Number.NEGATIVE_INFINITY,
    balanceMultiple: balance_multiple,
    cap,
  }))
}

/** What reasons are given from, besides rules and the scorecard. */
function compileReasons(
  document: PolicyDocument,
  { rules, ...context }: { slots: PolicySlots; problems: PolicyProblem[]; rules: readonly CompiledRule[] },
) {
  return {
    limitReasons: compileLimitReasons(document, rules),
    meanings: compileMeanings(document, context),
    reasonGroups: reasonGroups(document),
    gapReasons: compileGapReasons(document),
    ...compileLastReasons(document),
  }
}

/** The table by score. A score with its calibration points is read where the score itself would be in the moved table. */
function probabilityTable({ probability, calibration_points = 0 }: PolicyDocument['scorecard']): TableRow[] | null {
  return probability?.map(({ score, bad_ppm }) => ({ at: score - calibration_points, value: bad_ppm })) ?? null
}

/** The slots that rules and the bounds of the limit read. */
function expressionsRead(rules: readonly CompiledRule[], terms: readonly CompiledLimitTerm[]): number[] {
  const caps = rules.flatMap(({ cap }) => cap ?? [])
  return [...rules, ...caps, ...terms].flatMap(({ reads }) => reads)
}

function compileInput(
  { feature, type, weight, max_age_days }: PolicyInput,
  { slot, external_probability }: { slot: number; external_probability: string | undefined },
): CompiledInput {
  return {
    slot,
    // V8 keeps one copy of each name of a member, and compares such copies without looking at their characters.
    feature: Object.keys({ [feature]: slot })[0]!,
    type,
    weight,
    // A measured feature is as old as the cash flow it is measured against, whose age is checked there.
    maxAgeDays: isMeasured(feature) ? undefined : max_age_days,
    isMeasured: isMeasured(feature),
    isProbability: feature === external_probability,
  }
}

function compileLimitTerms(
  document: PolicyDocument,
  { slots, amountSlots, problems }: { slots: PolicySlots; amountSlots: ReadonlySet<number>; problems: PolicyProblem[] },
): CompiledLimitTerm[] {
  // What has no name is a cause or an age, perhaps of a feature that is computed from the amount.
  const follows = (slot: number) =>
    amountSlots.has(slot) || slots.names[slot] === '' || BY_SCORE.test(slots.names[slot]!)
  return document.limit.terms.flatMap((definition, index) => {
    const { term } = definition
    const { source, field } = limitExpression(definition)
    const compiled = compileExpression(source, slots.terms)
    if ('evaluate' in compiled) {
      const followsAmount = compiled.reads.some(follows)
      return [{ term, isInstalment: field === 'instalment', followsAmount, ...compiledBound(compiled, slots) }]
    }
    problems.push(limitProblem(definition, { ...compiled, index }))
    return []
  })
}

function compileLimitReasons(
  { limit }: PolicyDocument,
  rules: readonly CompiledRule[],
): CompiledPolicy['limitReasons'] {
  const { terms, risk, unknown, unlisted_currency, over_maximum, under_minimum } = limit
  const ofTerms = terms.map(({ term, reason }) => [term, reasonAt(`limit/${term}`, reason, 'negative')] as const)
  const ofRules = rules.filter(({ action }) => action === 'cap').map(({ id, reason }): [string, Reason] => [id, reason])
  return new Map([
    ...ofTerms,
    ...ofRules,
    ['risk', reasonAt('limit', risk, 'negative')],
    ['unknown', reasonAt('limit', unknown, 'negative')],
    ...(unlisted_currency ? [['unlisted_currency', reasonAt('limit', unlisted_currency, 'negative')] as const] : []),
    ...(over_maximum ? [['maximum', reasonAt('limit', over_maximum, 'negative')] as const] : []),
    ...(under_minimum ? [['minimum', reasonAt('limit', under_minimum, 'negative')] as const] : []),
  ])
}

function groupsOf({ scorecard: { characteristics } }: PolicyDocument): number[][] {
  return [...Map.groupBy(characteristics.keys(), (index) => characteristics[index]!.group).values()]
}
