import { canonicalSha256, sha256 } from '../canonical-json.ts'
import { findFeature, isMeasured } from '../facts/feature-catalogue.ts'
import { readerOf } from '../facts/read-feature.ts'
import { LIMIT_BOUNDS } from '../vocabularies.ts'
import { checkPolicy } from './check-policy.ts'
import { expressionProblem } from './check-rules.ts'
import { checkRunnable } from './check-runnable.ts'
import { compileBins } from './compile-bins.ts'
import { compileExpression } from './compile-expression.ts'
import type {
  CompiledCharacteristic,
  CompiledInput,
  CompiledPolicy,
  CompiledRule,
  ProductTerms,
  Reason,
} from './compiled-policy.ts'
import type { PolicyDocument, PolicyInput, PolicyProduct, PolicyRule } from './policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** A compiled policy, or all problems that prevent compiling it. */
export type CompileResult = { policy: CompiledPolicy } | { problems: PolicyProblem[] }

/** Checks a new policy document in full and compiles it. */
export function compilePolicy(document: PolicyDocument): CompileResult {
  const problems = checkPolicy(document)
  return problems.length > 0 ? { problems } : prepare(document, canonicalSha256(document))
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
  const slotOf = new Map(document.inputs.map(({ feature }, slot) => [feature, slot]))
  const problems = checkRunnable(document)
  const rules = compileRules(document, { slotOf, problems })
  if (problems.length > 0) return { problems }
  const products = new Map(document.products.map((product) => [product.product, productTerms(product)]))
  return {
    policy: {
      document,
      checksum,
      inputs: document.inputs.map(compileInput),
      weight: document.inputs.reduce((sum, { weight }) => sum + weight, 0),
      maxAgeDays: Object.fromEntries(
        document.inputs.flatMap(({ feature, max_age_days }) =>
          max_age_days === undefined ? [] : [[feature, max_age_days]],
        ),
      ),
      rules,
      characteristics: compileCharacteristics(document, slotOf),
      tiers: document.tiers.map(({ tier, from, balance_multiple, cap }) => ({
        tier,
        from: from ?? Number.NEGATIVE_INFINITY,
        balanceMultiple: balance_multiple,
        cap,
      })),
      groups: groupsOf(document),
      normal: document.scorecard.normal.map(({ z, ppm }) => ({ at: z * z, value: ppm })),
      probability: document.scorecard.probability.map(({ score, bad_ppm }) => ({ at: score, value: bad_ppm })),
      products,
      defaultProduct: products.get('default')!,
      currencies: new Map(
        document.limit.currencies.map(({ currency, per_reference, step }) => [
          currency,
          { perReference: per_reference, step },
        ]),
      ),
      limitReasons: compileLimitReasons(document),
    },
  }
}

function compileInput({ feature, type, weight, max_age_days }: PolicyInput): CompiledInput {
  // A measured feature is as old as the cash flow it is measured against, whose age is checked there.
  const maxAgeDays = isMeasured(feature) ? undefined : max_age_days
  return { feature, type, weight, maxAgeDays, isMeasured: isMeasured(feature), read: readerOf(feature) }
}

function compileRules(
  { rules }: PolicyDocument,
  { slotOf, problems }: { slotOf: ReadonlyMap<string, number>; problems: PolicyProblem[] },
): CompiledRule[] {
  return rules.flatMap((definition, index) => {
    const compiled = compileExpression(definition.when, slotOf)
    if ('holds' in compiled) return [{ ...preparedRule(definition), ...compiled }]
    problems.push(expressionProblem(definition, { ...compiled, index }))
    return []
  })
}

function preparedRule({ id, then: action, reason, condition, covers }: PolicyRule) {
  return {
    id,
    action,
    reason: reasonAt(`rule_trace/${id}`, reason, reason.impact),
    condition,
    covers,
  }
}

function compileCharacteristics(
  { scorecard, inputs, missing_reasons }: PolicyDocument,
  slotOf: ReadonlyMap<string, number>,
): CompiledCharacteristic[] {
  return scorecard.characteristics.map((definition) => {
    const slot = slotOf.get(definition.feature) ?? -1
    const node = `scorecard/${definition.id}`
    const reasonFor = (...codes: (string | undefined)[]): Reason => {
      const code = codes.find((one) => one !== undefined)
      const reason = missing_reasons.find((one) => one.code === code) ?? definition.shortfall
      return reasonAt(node, reason, 'negative')
    }
    const { missing, withheld, other_currency, half_life_days } = inputs[slot] ?? {}
    const { id, feature, group, reference, spread } = definition
    return {
      id,
      feature,
      group,
      slot,
      reference,
      missingPoints: definition.missing,
      variance: spread * spread,
      halfLifeDays: half_life_days ?? findFeature(feature)?.half_life_days ?? null,
      bins: compileBins(definition.bins),
      shortfall: reasonAt(node, definition.shortfall, 'negative'),
      strength: reasonAt(node, definition.strength, 'positive'),
      missing: reasonFor(missing),
      withheld: reasonFor(withheld, missing),
      otherCurrency: reasonFor(other_currency, missing),
    }
  })
}

/** Spreads each reason, because a stored policy may be older than the schema's reason for a bound and lack it. */
function compileLimitReasons({ limit: { reasons } }: PolicyDocument): CompiledPolicy['limitReasons'] {
  const bounds = LIMIT_BOUNDS.map((bound) => [bound, reasonAt(`limit/${bound}`, { ...reasons[bound] }, 'negative')])
  return { ...Object.fromEntries(bounds), unknown: reasonAt('limit', { ...reasons.unknown }, 'negative') }
}

function reasonAt(node: string, { code, label }: { code: string; label: string }, impact: Reason['impact']): Reason {
  return { code, impact, label, node }
}

function groupsOf({ scorecard: { characteristics } }: PolicyDocument): number[][] {
  return [...Map.groupBy(characteristics.keys(), (index) => characteristics[index]!.group).values()]
}

/** The terms of a product with the credit that one unit of monthly instalment repays: its instalments, discounted. */
function productTerms({ product, term_months, annual_rate }: PolicyProduct): ProductTerms {
  const discount = 1 / (1 + annual_rate / 12)
  let annuityFactor = 0
  let present = 1
  for (let month = 1; month <= term_months; month++) {
    present *= discount
    annuityFactor += present
  }
  return { product, term_months, annual_rate, annuityFactor }
}
