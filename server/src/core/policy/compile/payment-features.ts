import type { FeatureName } from '../../facts/feature-catalogue.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { derivedIn } from './compile-derived.ts'
import type { PolicySlots } from './policy-slots.ts'

const WITH_PAYMENTS: readonly string[] = [
  'graph.negative_exposure',
  'graph.evidence_count',
] satisfies readonly FeatureName[]

/**
 * Why values may not count towards a decline; undefined if they may. Part of these features rests on payments alone: a
 * payment between two entities may justify a review or a condition, but never a decline. A derived feature includes
 * payments if what it is computed from does.
 */
export function paymentsIn(document: PolicyDocument, reads: readonly number[], slots: PolicySlots): string | undefined {
  const feature = firstRead(WITH_PAYMENTS, { document, reads, slots })
  if (feature === undefined) return undefined
  return `${feature} includes payments and may not count towards a decline; use graph.negative_exposure_without_payments`
}

/** Why values may not count against an applicant: chance is no reason. Undefined if none of them is `request.hash`. */
export function chanceIn(document: PolicyDocument, reads: readonly number[], slots: PolicySlots): string | undefined {
  if (firstRead(['request.hash'], { document, reads, slots }) === undefined) return undefined
  return 'request.hash may not count against an applicant, which would have no reason that is true; use manual_review, or a segment with parts of its own'
}

/** The first of some inputs that values are computed from, also by way of derived features. */
function firstRead(
  names: readonly string[],
  { document, reads, slots }: { document: PolicyDocument; reads: readonly number[]; slots: PolicySlots },
): string | undefined {
  const found = new Map<number, string>()
  const firstOf = (read: readonly number[]) => read.map((slot) => found.get(slot)).find((name) => name !== undefined)
  for (const [slot, { feature }] of document.inputs.entries()) if (names.includes(feature)) found.set(slot, feature)
  // Each derived feature reads only those above it, so one pass in their order sees every path.
  for (const { slot, reads: behind } of derivedIn(document, slots)) {
    const name = firstOf(behind)
    if (name !== undefined) found.set(slot, name)
  }
  return firstOf(reads)
}
