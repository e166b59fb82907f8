import type { FactValue } from '../facts/facts.ts'
import type { FeatureName } from '../facts/feature-catalogue.ts'
import type { ReadFeature } from '../facts/read-feature.ts'
import type { Impact } from '../vocabularies.ts'
import type { Condition } from './compile-expression.ts'
import type { PolicyDocument, PolicyInput, PolicyProduct, PolicyRule } from './policy-document.ts'

/**
 * A policy ready to decide: the document, its checksum, and everything that can be worked out beforehand.
 *
 * What is compiled repeats some of the document, with every member always there: objects of one shape are read several
 * times as fast as objects that have a member or do not.
 */
export interface CompiledPolicy {
  document: PolicyDocument
  checksum: string
  inputs: readonly CompiledInput[]
  /** That of all inputs together. */
  weight: number
  /** How old a feature may be to be looked at, for those that may grow too old. */
  maxAgeDays: Readonly<Partial<Record<FeatureName, number>>>
  rules: readonly CompiledRule[]
  characteristics: readonly CompiledCharacteristic[]
  tiers: readonly CompiledTier[]
  /** The characteristics, by index, that share a group; groups in the order of their first member. */
  groups: readonly (readonly number[])[]
  normal: readonly TableRow[]
  probability: readonly TableRow[]
  products: ReadonlyMap<string, ProductTerms>
  defaultProduct: ProductTerms
  currencies: ReadonlyMap<string, CurrencyTerms>
  limitReasons: Readonly<Record<keyof PolicyDocument['limit']['reasons'], Reason>>
}

/** An input with the ages that apply to it. */
export interface CompiledInput {
  feature: string
  type: PolicyInput['type']
  weight: number
  maxAgeDays: number | undefined
  /** Whether it is measured from the request, and not among the facts. */
  isMeasured: boolean
  read: ReadFeature
}

/** A reason for a decision, pointing at the node of the trace it came from. */
export interface Reason {
  code: string
  label: string
  impact: Impact
  node: string
}

/** What one rule said; null when that hangs on the features listed as missing. */
export interface RuleTrace {
  action: PolicyRule['then']
  holds: boolean | null
  missing?: string[]
  rule: string
}

/** A rule whose condition can be asked, what the trace says of it either way, and what to say when it holds. */
export interface CompiledRule {
  id: string
  action: PolicyRule['then']
  reason: Reason
  condition: PolicyRule['condition']
  covers: string | undefined
  holds: Condition
  reads: readonly number[]
  /** Shared by the traces of all decisions. */
  whenHeld: Readonly<RuleTrace>
  whenNot: Readonly<RuleTrace>
}

/** A characteristic with its bins in the form they are searched in. */
export interface CompiledCharacteristic {
  id: string
  feature: string
  group: string
  slot: number
  reference: number
  missingPoints: number
  /** The square of its spread: what it adds to the variance of the score while it is not known. */
  variance: number
  halfLifeDays: number | null
  bins: readonly CompiledBin[]
  shortfall: Reason
  strength: Reason
  missing: Reason
  /** What to say instead of `missing` where consent was taken back or has expired. */
  withheld: Reason
  /** What to say instead of `missing` where there is data in another currency only. */
  otherCurrency: Reason
}

/** A bin with the words the trace shows for it: it holds one value, or the numbers below a bound, or all the rest. */
export interface CompiledBin {
  label: string
  points: number
  equals: FactValue | undefined
  below: number | undefined
}

/** A tier and the lowest score that reaches it. */
export interface CompiledTier {
  tier: string
  from: number
  balanceMultiple: number
  cap: number
}

/** A row of a table that is read in straight lines between its rows. */
export interface TableRow {
  at: number
  value: number
}

/** The terms of a product and what one unit of monthly instalment repays under them. */
export interface ProductTerms extends PolicyProduct {
  annuityFactor: number
}

/** How amounts of a currency compare to the reference currency, and how they are rounded. */
export interface CurrencyTerms {
  perReference: number
  step: number
}
