import type { FactValue } from '../facts/facts.ts'
import type { FeatureName } from '../facts/feature-catalogue.ts'
import type { ReadFeature } from '../facts/read-feature.ts'
import type { Impact } from '../vocabularies.ts'
import type { Condition } from './compile-expression.ts'
import type { PolicyDocument, PolicyInput, PolicyProduct, PolicyRule } from './policy-document.ts'

/**
 * A policy ready to decide: the document, its checksum, and everything that can be computed in advance.
 *
 * Compiled objects repeat parts of the document with every member always present: V8 reads objects of one shape several
 * times as fast as objects with optional members.
 */
export interface CompiledPolicy {
  document: PolicyDocument
  checksum: string
  inputs: readonly CompiledInput[]
  /** The sum of the weights of all inputs. */
  weight: number
  /** The greatest accepted age of a feature, for inputs that set one. */
  maxAgeDays: Readonly<Partial<Record<FeatureName, number>>>
  rules: readonly CompiledRule[]
  characteristics: readonly CompiledCharacteristic[]
  tiers: readonly CompiledTier[]
  /** The indices of the characteristics of each group; groups in the order of their first member. */
  groups: readonly (readonly number[])[]
  normal: readonly TableRow[]
  probability: readonly TableRow[]
  products: ReadonlyMap<string, ProductTerms>
  defaultProduct: ProductTerms
  currencies: ReadonlyMap<string, CurrencyTerms>
  limitReasons: Readonly<Record<keyof PolicyDocument['limit']['reasons'], Reason>>
}

/** An input with its greatest accepted age. */
export interface CompiledInput {
  feature: string
  type: PolicyInput['type']
  weight: number
  maxAgeDays: number | undefined
  /** Whether `measureRequest` computes it; otherwise it is among the facts. */
  isMeasured: boolean
  read: ReadFeature
}

/** A reason for a decision, with the node of the trace that it comes from. */
export interface Reason {
  code: string
  label: string
  impact: Impact
  node: string
}

/** How one rule was evaluated; `holds` is null if the features in `missing` would have decided it. */
export interface RuleTrace {
  action: PolicyRule['then']
  holds: boolean | null
  missing?: string[]
  rule: string
}

/** A rule with its compiled condition, and the reason to give when it holds. */
export interface CompiledRule {
  id: string
  action: PolicyRule['then']
  reason: Reason
  condition: PolicyRule['condition']
  covers: string | undefined
  holds: Condition
  reads: readonly number[]
}

/** A characteristic with its bins and reasons compiled. */
export interface CompiledCharacteristic {
  id: string
  feature: string
  group: string
  slot: number
  reference: number
  missingPoints: number
  /** The square of its spread: its part of the score's variance while the feature is unknown. */
  variance: number
  halfLifeDays: number | null
  bins: readonly CompiledBin[]
  shortfall: Reason
  strength: Reason
  missing: Reason
  /** The reason instead of `missing` if consent was revoked or has expired. */
  withheld: Reason
  /** The reason instead of `missing` if there is data only in another currency. */
  otherCurrency: Reason
}

/** A bin with its label for the trace: it holds one value, or the numbers below a bound, or all other values. */
export interface CompiledBin {
  label: string
  points: number
  equals: FactValue | undefined
  below: number | undefined
}

/** A tier with the lowest score that reaches it. */
export interface CompiledTier {
  tier: string
  from: number
  balanceMultiple: number
  cap: number
}

/** A row of a table that is interpolated linearly. */
export interface TableRow {
  at: number
  value: number
}

/** The terms of a product, and the credit that one unit of monthly instalment repays under them. */
export interface ProductTerms extends PolicyProduct {
  annuityFactor: number
}

/** The exchange rate of a currency against the reference currency, and the step that limits are rounded to. */
export interface CurrencyTerms {
  perReference: number
  step: number
}
