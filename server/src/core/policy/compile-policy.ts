import { canonicalSha256 } from '../canonical-json.ts'
import { findFeature } from '../facts/feature-catalogue.ts'
import { checkPolicy } from './check-policy.ts'
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
import { expressionEnvironment } from './expression-environment.ts'
import { refusedForPayments } from './payment-features.ts'
import type { PolicyDocument, PolicyInput } from './policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** A policy that can decide, or everything that keeps it from deciding. */
export type CompileResult = { policy: CompiledPolicy } | { problems: PolicyProblem[] }

/** Checks a policy document against the catalogue and prepares it for deciding. */
export function compilePolicy(document: PolicyDocument): CompileResult {
  const slotOf = new Map(document.inputs.map(({ feature }, slot) => [feature, slot]))
  const problems = checkPolicy(document)
  const rules = compileRules(document, { slotOf, problems })
  if (problems.length > 0) return { problems }
  const products = new Map(document.products.map((product) => [product.product, productTerms(product)]))
  return {
    policy: {
      document,
      checksum: policyChecksum(document),
      inputs: document.inputs.map(compileInput),
      ageLimits: document.inputs.flatMap(({ feature, max_age_days }) =>
        max_age_days === undefined ? [] : [{ feature, maxAgeDays: max_age_days }],
      ),
      rules,
      characteristics: compileCharacteristics(document, slotOf),
      groups: groupsOf(document),
      normal: document.scorecard.normal.map(({ z, ppm }) => ({ at: z * z, value: ppm })),
      probability: document.scorecard.probability.map(({ score, bad_ppm }) => ({ at: score, value: bad_ppm })),
      products,
      defaultProduct: products.get('default') as ProductTerms,
      currencies: new Map(
        document.limit.currencies.map(({ currency, per_reference, step }) => [
          currency,
          { perReference: per_reference, step },
        ]),
      ),
    },
  }
}

/** The fingerprint that ties a decision to every character of the policy that carries meaning. */
function policyChecksum(document: PolicyDocument): string {
  return canonicalSha256(document)
}

function compileInput(input: PolicyInput): CompiledInput {
  return { definition: input, halfLifeDays: input.half_life_days ?? findFeature(input.feature)?.half_life_days ?? null }
}

function compileRules(
  document: PolicyDocument,
  { slotOf, problems }: { slotOf: ReadonlyMap<string, number>; problems: PolicyProblem[] },
): CompiledRule[] {
  const environment = expressionEnvironment(document.inputs)
  return document.rules.flatMap((definition, index) => {
    const compiled = compileExpression(definition.when, { environment, slotOf })
    const reason = { ...definition.reason, node: `rule_trace/${definition.id}` }
    if ('holds' in compiled) {
      problems.push(...paymentProblems(document, definition, { index, reads: compiled.reads }))
      return [{ definition, reason, ...compiled }]
    }
    const { offset, message } = compiled
    const where = `rule '${definition.id}', column ${offset + 1}`
    problems.push({ path: ['rules', index, 'when'], offset, message: `${where}: ${message}` })
    return []
  })
}

function paymentProblems(
  { inputs }: PolicyDocument,
  { id, then }: PolicyDocument['rules'][number],
  { index, reads }: { index: number; reads: readonly number[] },
): PolicyProblem[] {
  if (then !== 'decline') return []
  return reads.flatMap((slot) => {
    const refusal = refusedForPayments(inputs[slot]!.feature)
    return refusal === undefined ? [] : [{ path: ['rules', index, 'when'], message: `rule '${id}': ${refusal}` }]
  })
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
      const told = missing_reasons.find((reason) => reason.code === code) ?? definition.shortfall
      return { ...told, impact: 'negative', node }
    }
    const { missing, withheld, other_currency } = inputs[slot] ?? {}
    return {
      definition,
      slot,
      shortfall: { ...definition.shortfall, impact: 'negative', node },
      strength: { ...definition.strength, impact: 'positive', node },
      missing: reasonFor(missing),
      withheld: reasonFor(withheld, missing),
      otherCurrency: reasonFor(other_currency, missing),
      bins: compileBins(definition.bins),
    }
  })
}

function groupsOf({ scorecard: { characteristics } }: PolicyDocument): number[][] {
  const groups = new Map<string, number[]>()
  for (const [index, { group }] of characteristics.entries()) groups.set(group, [...(groups.get(group) ?? []), index])
  return [...groups.values()]
}

/** What one unit a month repays: the sum of its discounted instalments, by multiplication only. */
function productTerms({ product, term_months, annual_rate }: PolicyDocument['products'][number]): ProductTerms {
  const discount = 1 / (1 + annual_rate / 12)
  let annuityFactor = 0
  let present = 1
  for (let month = 1; month <= term_months; month++) {
    present *= discount
    annuityFactor += present
  }
  return { product, termMonths: term_months, annuityFactor }
}
