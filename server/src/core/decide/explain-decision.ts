import type { Facts, FactValue, MissingBecause } from '../facts/facts.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile/compiled-policy.ts'
import { type DecidingThreshold, decidingThresholds } from '../policy/deciding-thresholds.ts'
import { rowId, ruleOfRow } from '../policy/table-conditions.ts'
import type { Assessment } from './assess.ts'
import { type BetterAmount, betterAmount } from './better-amount.ts'
import { type Judgement, judge } from './decide.ts'
import type { CreditTerms, NoTerms, RuleTrace, ScorecardLine } from './evaluation.ts'
import { pricedTerms } from './limit-bounds.ts'
import { type OfferFigures, offerFigures } from './offer-figures.ts'
import { scorecardLines } from './score.ts'
import { NO_TERMS, termsUsed } from './terms-used.ts'

/** A value that a rule looked at, or why there was none. */
export interface SeenValue {
  feature: string
  value: FactValue | null
  age_days?: number
  missing?: MissingBecause
}

/** The trace of a rule with its text, the values that it looked at, and the numbers on which it turns. */
export interface ExplainedRule extends RuleTrace {
  code: string
  label: string
  explanation: string
  when: string
  values: SeenValue[]
  thresholds: DecidingThreshold[]
}

/** A line of the scorecard with the name of its characteristic. */
export interface ExplainedLine extends ScorecardLine {
  label: string
}

type ProductPrice = CreditTerms & { annuity_factor: number }

/** The product of a decision, and the terms that it used. */
export type UsedProduct = {
  requested: string | null
  applied: string
  /** Whether the policy does not list the requested product, so that the terms of another applied. */
  is_fallback: boolean
} & (ProductPrice | NoTerms<ProductPrice>)

/** What explains a decision besides its trace. */
export interface Explanation {
  product: UsedProduct
  rules: ExplainedRule[]
  scorecard: ExplainedLine[]
  /** The inputs of the policy without a value, and why each has none. */
  missing_features: { feature: string; missing: MissingBecause }[]
  better_amount: BetterAmount | null
  /** The figures of a counter-offer beside those of the request. */
  counter_offer: OfferFigures | null
}

/**
 * Explains a decision. Like `decide` it is a pure function of the policy and the facts, so an explanation is computed when
 * it is asked for and not recorded.
 */
export function explainDecision(whole: CompiledPolicy, facts: Facts): Explanation {
  const judgement = judge(whole, facts)
  const { policy, asked } = judgement
  return {
    product: usedProduct(judgement),
    rules: explainRules(policy, asked),
    scorecard: scorecardLines(policy, asked).map((line, index) => ({
      ...line,
      label: policy.characteristics[index]!.label,
    })),
    missing_features: asked.reading.gaps.map((slot) => ({
      feature: policy.inputs[slot]!.feature,
      missing: asked.reading.missing[slot]!,
    })),
    better_amount: betterAmount(policy, judgement),
    counter_offer: offerFigures(judgement, facts),
  }
}

function usedProduct(judgement: Judgement): UsedProduct {
  const { figures, tier } = judgement.offer.offered
  const { product, requested_product: requested, ...terms } = termsUsed(judgement)
  const named = { requested, applied: product, is_fallback: requested !== product }
  const { term_months, annual_rate, fee_rate, fee_amount, instalment } = terms
  if (term_months === null) return { ...named, ...NO_TERMS, annuity_factor: null }
  const { annuityFactor: annuity_factor } = pricedTerms(figures, tier)
  return { ...named, term_months, annual_rate, annuity_factor, fee_rate, fee_amount, instalment }
}

function explainRules(policy: CompiledPolicy, asked: Assessment): ExplainedRule[] {
  const { rules, after_score = [] } = policy.document
  const written = [...rules, ...after_score]
  const ofRules = [...policy.rules, ...policy.afterScore].map((rule, index) =>
    explained(policy, asked, { rule, ...written.find(({ id }) => id === rule.id)!, trace: asked.ruleTraces[index]! }),
  )
  return [...ofRules, ...explainTables(policy, asked)]
}

/** Each table by the row that holds the values; by its columns if none does. */
function explainTables(policy: CompiledPolicy, asked: Assessment): ExplainedRule[] {
  const { tables = [] } = policy.document
  return policy.tables.map((compiled, index) => {
    const table = tables[index]!
    const trace = asked.ruleTraces[asked.ruleTraces.length - policy.tables.length + index]!
    const row = table.rows.find(({ row }) => row === trace.row)
    const rule = row && compiled.rows.find(({ id }) => id === rowId(table, row))
    if (row && rule) return explained(policy, asked, { rule, ...ruleOfRow(table, row), trace })
    const reads = new Set(compiled.rows.flatMap(({ reads }) => reads))
    return {
      ...trace,
      code: table.table,
      label: table.label,
      explanation: table.label,
      when: table.columns.map(({ value }) => value).join(', '),
      values: [...reads].map((slot) => seenAt(policy, asked, slot)),
      thresholds: [],
    }
  })
}

function explained(
  policy: CompiledPolicy,
  asked: Assessment,
  { rule, when, explanation, trace }: { rule: CompiledRule; when: string; explanation: string; trace: RuleTrace },
): ExplainedRule {
  return {
    ...trace,
    code: rule.reason.code,
    label: rule.reason.label,
    explanation,
    when,
    values: rule.reads.map((slot) => seenAt(policy, asked, slot)),
    thresholds: decidingThresholds(rule, asked.reading.values),
  }
}

function seenAt(policy: CompiledPolicy, { reading }: Assessment, slot: number): SeenValue {
  const feature = policy.slots.names[slot]!
  const value = reading.values[slot]
  // What follows from the judged amount has no cause of its own: the request does not raise it, or a figure lacks.
  if (value === undefined) return { feature, value: null, missing: reading.missing[slot] ?? 'not_requested' }
  const age_days = reading.ages[slot]
  return age_days === undefined ? { feature, value } : { feature, value, age_days }
}
