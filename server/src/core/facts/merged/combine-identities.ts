import type { IdentifierType } from '../../vocabularies.ts'
import { IDENTIFIERS_KEPT, type IdentifierSummary, type IdentityState } from '../identity-state.ts'
import { newestOf } from '../newest-of.ts'

/** Combines identity summaries: the latest check of each identifier decides, and at the same instant a failed one. */
export function combineIdentities(states: readonly IdentityState[]): IdentityState {
  const combined: IdentityState = {}
  for (const state of states) {
    for (const [type, summary] of Object.entries(state) as [IdentifierType, IdentifierSummary][])
      combined[type] = combined[type] ? combineSummaries(combined[type], summary) : summary
  }
  return combined
}

function combineSummaries(one: IdentifierSummary, other: IdentifierSummary): IdentifierSummary {
  const checks = new Map<string, { at: string; isFailed: boolean }>()
  const note = (at: string, hash: string, isFailed: boolean) => {
    const known = checks.get(hash)
    if (!known || at > known.at || (at === known.at && isFailed)) checks.set(hash, { at, isFailed })
  }
  for (const { verified, failed } of [one, other]) {
    for (const [hash, at] of Object.entries(verified)) note(at, hash, false)
    for (const [hash, at] of Object.entries(failed)) note(at, hash, true)
  }
  const kept = newestOf(Object.fromEntries(checks), IDENTIFIERS_KEPT, ({ at }) => at)
  const ofStatus = (isFailed: boolean) =>
    Object.fromEntries(
      Object.entries(kept).flatMap(([hash, check]) => (check.isFailed === isFailed ? [[hash, check.at]] : [])),
    )
  const named = Object.entries({ ...one.issuers, ...other.issuers }).filter(([hash]) => Object.hasOwn(kept, hash))
  const overflowed = one.overflowed || other.overflowed || checks.size > IDENTIFIERS_KEPT
  return {
    links: one.links + other.links,
    verified: ofStatus(false),
    failed: ofStatus(true),
    ...(named.length > 0 && { issuers: Object.fromEntries(named) }),
    ...(overflowed && { overflowed: true }),
  }
}
