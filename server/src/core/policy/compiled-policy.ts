import type { FactValue } from '../facts/facts.ts'
import type { Condition } from './compile-expression.ts'
import type { PolicyCharacteristic, PolicyDocument, PolicyInput, PolicyRule } from './policy-document.ts'

/** A policy ready to decide: the document, its checksum, and everything that can be worked out beforehand. */
export interface CompiledPolicy {
  document: PolicyDocument
  checksum: string
  inputs: readonly CompiledInput[]
  /** How old a feature may be to be looked at, for those that may grow too old. */
  maxAgeDays: ReadonlyMap<string, number>
  rules: readonly CompiledRule[]
  characteristics: readonly CompiledCharacteristic[]
  /** The characteristics, by index, that share a group; groups in the order of their first member. */
  groups: readonly (readonly number[])[]
  normal: readonly TableRow[]
  probability: readonly TableRow[]
  products: ReadonlyMap<string, ProductTerms>
  defaultProduct: ProductTerms
  currencies: ReadonlyMap<string, CurrencyTerms>
}

/** An input with the ages that apply to it. */
export interface CompiledInput {
  definition: PolicyInput
  halfLifeDays: number | null
  maxAgeDays: number | undefined
  /** Whether it is measured from the request, and not among the facts. */
  isMeasured: boolean
}

/** A reason for a decision, pointing at the node of the trace it came from. */
export interface Reason {
  code: string
  label: string
  impact: 'positive' | 'negative'
  node: string
}

/** A rule whose condition can be asked, and what to say when it holds. */
export interface CompiledRule {
  definition: PolicyRule
  reason: Reason
  holds: Condition
  reads: readonly number[]
}

/** A characteristic with its bins in the form they are searched in. */
export interface CompiledCharacteristic {
  definition: PolicyCharacteristic
  slot: number
  shortfall: Reason
  strength: Reason
  missing: Reason
  /** What to say instead of `missing` where consent was taken back or has expired. */
  withheld: Reason
  /** What to say instead of `missing` where there is data in another currency only. */
  otherCurrency: Reason
  bins: readonly CompiledBin[]
}

/** A bin with the words the trace shows for it. */
export interface CompiledBin {
  label: string
  points: number
  holds: (value: FactValue) => boolean
}

/** A row of a table that is read in straight lines between its rows. */
export interface TableRow {
  at: number
  value: number
}

/** The terms of a product and what one unit of monthly instalment repays under them. */
export interface ProductTerms {
  product: string
  termMonths: number
  annuityFactor: number
}

/** How amounts of a currency compare to the reference currency, and how they are rounded. */
export interface CurrencyTerms {
  perReference: number
  step: number
}
