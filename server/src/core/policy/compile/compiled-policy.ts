import type { FactValue } from '../../facts/facts.ts'
import type { FeatureName } from '../../facts/feature-catalogue.ts'
import type { Impact, ProductKind } from '../../vocabularies.ts'
import type { Comparison, Condition, Evaluate } from '../expression/compile-expression.ts'
import type { PolicyDocument, PolicyInput, PolicyRule } from '../policy-document.ts'
import type { Aside, PolicySlots } from './policy-slots.ts'

/**
 * A policy ready to decide: the document, its checksum, and everything that can be computed in advance.
 *
 * Compiled objects repeat parts of the document with every member always present: V8 reads objects of one shape several
 * times as fast as objects with optional members.
 */
export interface CompiledPolicy {
  document: PolicyDocument
  checksum: string
  /** By slot. */
  inputs: readonly CompiledInput[]
  /** Those that are read from the facts, in the order of their names. */
  inputsByName: readonly CompiledInput[]
  /** The sum of the weights of all inputs. */
  weight: number
  /** The greatest accepted age of a feature, for inputs that set one. */
  maxAgeDays: Readonly<Partial<Record<FeatureName, number>>>
  /** The slots of the inputs that are measured from the requested amount. */
  measuredSlots: readonly number[]
  /** Whether one of them is measured from the lowest balance. */
  readsLowestBalance: boolean
  /** The slot of `request.amount`; undefined if the policy does not read it. */
  amountSlot: number | undefined
  slots: PolicySlots
  /** What is computed from the inputs, in this order: derived features, and causes and ages of features. */
  computed: readonly ComputedSlot[]
  /** Those of `computed` that depend on the requested amount. */
  computedFromAmount: readonly ComputedSlot[]
  derived: readonly CompiledDerived[]
  /** The name of the segment that this policy is of; null for the document itself. */
  segment: string | null
  /** The policy of each segment: the document with the parts of the segment. */
  segments: readonly CompiledSegment[]
  rules: readonly CompiledRule[]
  /** Rules that read the score, the tier, the probability or the limit. */
  afterScore: readonly CompiledRule[]
  /** Decision tables, evaluated after the rules after the score. */
  tables: readonly CompiledTable[]
  hasPointsRules: boolean
  /** Whether a rule reads what depends on the requested amount. */
  hasRulesOnAmount: boolean
  /** Whether only the scorecard reads what depends on the requested amount: no rule, no bound and no derived feature does. */
  readsAmountByBinsOnly: boolean
  /** Whether it has a scorecard; without one nothing is decided by a score. */
  isScored: boolean
  characteristics: readonly CompiledCharacteristic[]
  tiers: readonly CompiledTier[]
  /** The indices of the characteristics of each group; groups in the order of their first member. */
  groups: readonly (readonly number[])[]
  normal: readonly TableRow[]
  /** Null if the policy has only an external probability. */
  probability: readonly TableRow[] | null
  /** The slot of the external probability of repayment; undefined if the table counts. */
  probabilitySlot: number | undefined
  products: ReadonlyMap<string, ProductTerms>
  defaultProduct: ProductTerms
  currencies: ReadonlyMap<string, CurrencyTerms>
  limitTerms: readonly CompiledLimitTerm[]
  /**
   * The reason for each term of the limit, for each rule that caps it, and for `risk`, `unknown`, `unlisted_currency`, `minimum`
   * and `maximum`.
   */
  limitReasons: ReadonlyMap<string, Reason>
  /** What the reasons say, by code. */
  meanings: ReadonlyMap<string, CompiledMeaning>
  /** What each reason speaks about, by code. */
  reasonGroups: ReadonlyMap<string, readonly string[]>
  /** The reasons for the inputs that count for completeness and are not scored, by slot. */
  gapReasons: ReadonlyMap<number, ReasonsWithoutValue>
  fewStrengths: Reason
  nothingAgainst: Reason
}

/** What a reason means, compiled. */
export interface CompiledMeaning {
  holds: Condition
  instead: readonly { holds: Condition; reason: Pick<Reason, 'code' | 'label'> }[]
}

/** The reasons for a value that is missing, by cause. */
export interface ReasonsWithoutValue {
  missing: Reason
  withheld: Reason
  otherCurrency: Reason
}

/** An input with its greatest accepted age. */
export interface CompiledInput {
  slot: number
  feature: string
  type: PolicyInput['type']
  weight: number
  maxAgeDays: number | undefined
  /** Whether `measureRequest` computes it; otherwise it is among the facts. */
  isMeasured: boolean
  isProbability: boolean
}

/** A derived feature with its compiled expression. */
export interface CompiledDerived {
  feature: string
  type: PolicyInput['type']
  slot: number
  /** Whether it is the external probability, which is from 0 to 1. */
  isProbability: boolean
  evaluate: Evaluate
  reads: readonly number[]
}

/** A slot that is computed from others: a derived feature, or the cause or age of a feature. */
export type ComputedSlot = ({ kind: 'derived' } & CompiledDerived) | Aside

/** A segment with its compiled condition, and the policy that decides on its applicants. */
export interface CompiledSegment {
  name: string
  holds: Condition
  policy: CompiledPolicy
}

/** A reason for a decision, with the node of the trace that it comes from. */
export interface Reason {
  code: string
  label: string
  impact: Impact
  node: string
}

/** A reason and the points behind it, by which reasons of one kind are ranked. */
export interface RankedReason {
  size: number
  reason: Reason
}

/** What a rule or a row of a table does. */
export type RuleAction = PolicyRule['then'] | 'none'

/**
 * How one rule or table was evaluated; `holds` is null if the features in `missing` would have decided it. Of a table, `row` is
 * the row that holds the values, and `action` what that row does.
 */
export interface RuleTrace {
  action: RuleAction
  holds: boolean | null
  missing?: string[]
  /** What a rule that holds adds to the score. */
  points?: number
  row?: string
  rule: string
}

/** A rule with its compiled condition, and the reason to give when it holds. */
export interface CompiledRule {
  id: string
  action: RuleAction
  reason: Reason
  /** Its traces when it holds, when it does not and when all that it reads is missing, shared by all decisions. */
  heldTrace: RuleTrace
  notHeldTrace: RuleTrace
  allMissingTrace: RuleTrace & { missing: readonly string[] }
  condition: PolicyRule['condition']
  questionsData: boolean
  covers: string | undefined
  holds: Condition
  reads: readonly number[]
  /** What `holds` compares, for explanations: to parse 200 long rules once more would take 200 ms. */
  comparisons: readonly Comparison[]
  /** The bound of a rule that caps the limit. */
  cap: CompiledBound | undefined
  /** What a rule adds to the score; zero for other actions. */
  points: number
  /** Its reason, ranked by its points with those of the scorecard. */
  rankedReason: RankedReason
  /** Whether another amount may make the rule hold or not. */
  dependsOnAmount: boolean
  /** Whether the rule reads the score, the tier or the probability. */
  readsScore: boolean
  readsLimit: boolean
  /** For a rule that asks whether values are known: the inputs that it does so of. */
  asksFor: readonly number[]
}

/** A decision table, whose rows are rules: the first one that holds counts. */
export interface CompiledTable {
  id: string
  rows: readonly CompiledRule[]
  /** Its trace if no row holds the values. */
  noRowTrace: RuleTrace
}

/** The compiled expression of an upper bound, and the slots it reads. */
export interface CompiledBound {
  evaluate: Evaluate
  reads: readonly number[]
  /** Those of `reads` that the limit names if it is unknown; `request.currency` and the external probability stand for others. */
  namedReads: readonly { slot: number; feature: string }[]
}

/** A characteristic with its bins and reasons compiled. */
export interface CompiledCharacteristic {
  id: string
  label: string
  feature: string
  group: string
  slot: number
  dependsOnAmount: boolean
  reference: number
  bestPoints: number
  /** The square of its spread: its part of the score's variance while the feature is unknown. */
  variance: number
  halfLifeDays: number | null
  bins: readonly CompiledBin[]
  /** What it scores if the feature is missing. */
  missingBin: ScoredBin
  /** The same if consent was revoked or has expired, and if there is data only in another currency: with other reasons. */
  withheldBin: ScoredBin
  otherCurrencyBin: ScoredBin
  /** What it scores if it does not apply to the request: as its reference, so that nothing is gained or lost. */
  notApplicableBin: ScoredBin
}

/** What a characteristic scores, with the label for the trace; `shortfall` is what is missing to its reference. */
export interface ScoredBin {
  label: string
  points: number
  shortfall: number
  /** What it gives as a reason if it falls short. */
  lack: RankedReason
  /** What it gives as a reason if it exceeds its reference; undefined if the value is missing. */
  strength: RankedReason | undefined
}

/** A bin for known values: it holds one value, a set, the numbers below a bound, or all other values. */
export interface CompiledBin extends ScoredBin {
  strength: RankedReason
  equals: FactValue | undefined
  in: ReadonlySet<FactValue> | undefined
  below: number | undefined
}

/** A term of the limit with its compiled expression, which is a monthly instalment or an amount. */
export interface CompiledLimitTerm extends CompiledBound {
  term: string
  isInstalment: boolean
  /** Whether another amount may change it under the same product terms: it reads the amount, the score or the tier. */
  followsAmount: boolean
}

/** A tier with the lowest score that reaches it. */
export interface CompiledTier {
  tier: string
  from: number
  balanceMultiple: number | undefined
  cap: number | undefined
}

/** A row of a table that is interpolated linearly. */
export interface TableRow {
  at: number
  value: number
}

/**
 * The terms of a product, and the credit that one unit of monthly instalment repays under them. All terms of access are
 * zero: its requests have no amount to apply them to.
 */
export interface ProductTerms {
  product: string
  kind: ProductKind
  term_months: number
  annual_rate: number
  annuityFactor: number
  feeRate: number
  /** In the reference currency, as the two bounds. */
  feeAmount: number
  minimum: number
  maximum: number | undefined
  /** The terms by tier, where a tier has a price of its own: those from an amount on, ascending. */
  byTier: ReadonlyMap<string, readonly AmountPrice[]> | undefined
  /** The terms by the term that an applicant may choose; of the terms of such a term undefined. */
  byTerm: ReadonlyMap<number, ProductTerms> | undefined
}

/** The terms of amounts from one on, in the reference currency. */
export interface AmountPrice {
  from: number
  terms: ProductTerms
}

/** The exchange rate of a currency against the reference currency, and the step that limits are rounded to. */
export interface CurrencyTerms {
  perReference: number
  step: number
}

/** The ids of all rules and rows of tables: of the document in the order in which they are evaluated, then those of its segments. */
export function ruleIdsOf({ rules, afterScore, tables, segments }: CompiledPolicy): string[] {
  const own = [...rules, ...afterScore, ...tables.flatMap(({ rows }) => rows)].map(({ id }) => id)
  return [...new Set([...own, ...segments.flatMap(({ policy }) => ruleIdsOf(policy))])]
}

/** A reason of the document, with the node of the trace that it comes from. */
export function reasonAt(
  node: string,
  { code, label }: { code: string; label: string },
  impact: Reason['impact'],
): Reason {
  return { code, impact, label, node }
}
