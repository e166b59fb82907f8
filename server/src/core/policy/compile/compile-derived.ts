import { findFeature, isMeasured } from '../../facts/feature-catalogue.ts'
import type { PolicyProblem } from '../check/policy-problem.ts'
import { compileExpression } from '../expression/compile-expression.ts'
import type { PolicyDocument } from '../policy-document.ts'
import type { CompiledDerived, ComputedSlot } from './compiled-policy.ts'
import type { PolicySlots } from './policy-slots.ts'

/** Compiles the derived features in their order; each can read only those above it, so there are no cycles. */
export function compileDerived(
  { derived = [], inputs, scorecard }: PolicyDocument,
  { slots, problems }: { slots: PolicySlots; problems: PolicyProblem[] },
): CompiledDerived[] {
  return derived.flatMap(({ feature, type, value }, index) => {
    const slot = inputs.length + index
    const compiled = compileExpression(value, slotsAbove(slots, slot))
    const isProbability = feature === scorecard.external_probability
    if ('evaluate' in compiled)
      return [{ feature, type, slot, isProbability, evaluate: compiled.evaluate, reads: compiled.reads }]
    problems.push(derivedProblem(feature, { index, ...compiled }))
    return []
  })
}

/** Derived features by document, for checks that ask for them once for each rule. */
const derivedByDocument = new WeakMap<PolicyDocument, CompiledDerived[]>()

/** The derived features that compile, whatever is wrong with others. */
export function derivedIn(document: PolicyDocument, slots: PolicySlots): readonly CompiledDerived[] {
  const compiled = derivedByDocument.get(document) ?? compileDerived(document, { slots, problems: [] })
  derivedByDocument.set(document, compiled)
  return compiled
}

/** What a derived feature can read: the inputs and the derived features above it. */
export function slotsAbove({ before, asides }: PolicySlots, slot: number): ReadonlyMap<string, number> {
  const tooLate = new Set(asides.filter(({ of }) => of >= slot).map((aside) => aside.slot))
  return new Map([...before].filter(([name, at]) => !tooLate.has(at) && (at < slot || !name.startsWith('derived.'))))
}

/** The problem of the expression of a derived feature, with its column. */
export function derivedProblem(
  feature: string,
  { index, offset, message }: { index: number; offset: number; message: string },
): PolicyProblem {
  return { path: ['derived', index, 'value'], offset, message: `${feature}, column ${offset + 1}: ${message}` }
}

/** The order in which slots are computed: causes and ages of a feature as soon as the feature itself is known. */
export function computedSlots(derived: readonly CompiledDerived[], { asides }: PolicySlots): ComputedSlot[] {
  const slotsOfDerived = new Set(derived.map(({ slot }) => slot))
  return [
    ...asides.filter(({ of }) => !slotsOfDerived.has(of)),
    ...derived.flatMap((one): ComputedSlot[] => [
      { kind: 'derived', ...one },
      ...asides.filter(({ of }) => of === one.slot),
    ]),
  ]
}

/** The slots that depend on the requested amount: what is measured from it, and what is computed from that. */
export function slotsFromAmount({ inputs }: PolicyDocument, derived: readonly CompiledDerived[]): Set<number> {
  const slots = new Set(
    [...inputs.keys()].filter((slot) => {
      const { feature } = inputs[slot]!
      return isMeasured(feature) || feature === 'request.amount'
    }),
  )
  for (const { slot, reads } of derived) if (reads.some((read) => slots.has(read))) slots.add(slot)
  return slots
}

/**
 * The half-lives of features by slot: of the policy, of the catalogue, or the shortest of what a derived feature reads. One
 * pass is enough, because each derived feature reads only those above it.
 */
export function halfLives(
  { inputs, derived = [] }: PolicyDocument,
  compiled: readonly CompiledDerived[],
): ReadonlyMap<number, number | null> {
  const found = new Map<number, number | null>(
    inputs.map(({ feature, half_life_days }, slot) => [
      slot,
      half_life_days ?? findFeature(feature)?.half_life_days ?? null,
    ]),
  )
  for (const { slot, reads } of compiled) {
    const ofReads = reads.flatMap((read) => found.get(read) ?? [])
    const shortest = ofReads.length === 0 ? null : Math.min(...ofReads)
    found.set(slot, derived[slot - inputs.length]?.half_life_days ?? shortest)
  }
  return found
}
