import { compareText } from '../../plain-spelling.ts'
import { ownProperty } from '../../stored-json.ts'
import type { EntityState } from '../entity-state.ts'
import { type HistoryState, largerOf, type OpenCredits } from '../history-state.ts'
import { laterOf } from '../newest-of.ts'
import type { SnapshotState } from '../snapshot-state.ts'
import { combineCashflows } from './combine-cashflows.ts'
import { combineConsents } from './combine-consents.ts'
import { combineIdentities } from './combine-identities.ts'

/**
 * Combines the states of entities that were merged into the state of one.
 *
 * INVARIANT: the result does not depend on the order of the states, and what two of them report of the same account, identifier
 * or feature counts once. Of one state it is that state, unchanged. Combined states are not combined again.
 */
export function combineStates(states: readonly EntityState[]): EntityState {
  const [first] = states
  if (first && states.length === 1) return first
  return {
    format: 1,
    identity: combineIdentities(states.map(({ identity }) => identity)),
    consents: combineConsents(states.map(({ consents }) => consents)),
    cashflow: combineCashflows(states.map(({ cashflow }) => cashflow)),
    snapshot: combineSnapshots(states.map(({ snapshot }) => snapshot)),
    history: states.map(({ history }) => history).reduce(combineHistories),
    graph: states.map(({ graph }) => graph).reduce((one, other) => (compareGraphs(one, other) <= 0 ? one : other)),
  }
}

/** Adds the histories up, and keeps the worst and the best: a decision is about one entity, so no outcome is in two of them. */
function combineHistories(one: HistoryState, other: HistoryState): HistoryState {
  const outcomes = { ...one.outcomes }
  for (const [type, count] of Object.entries(other.outcomes) as [keyof typeof outcomes, number][])
    outcomes[type] = (outcomes[type] ?? 0) + count
  const openCredits: Record<string, OpenCredits> = { ...one.openCredits }
  for (const [currency, added] of Object.entries(other.openCredits)) {
    const known = ownProperty(openCredits, currency) ?? { credits: 0, units: '0' }
    const units = (BigInt(known.units) + BigInt(added.units)).toString()
    openCredits[currency] = { credits: known.credits + added.credits, units }
  }
  const lastDefaultAt = [one, other].flatMap((history) => history.lastDefaultAt ?? []).reduce(laterOf, undefined)
  const repaid = Object.entries(other.largestRepaid ?? {}).map(
    ([currency, units]) => [currency, BigInt(units)] as const,
  )
  const largestRepaid = largerOf(one.largestRepaid, new Map(repaid))
  return {
    outcomes,
    openCredits,
    worstDaysPastDue: Math.max(one.worstDaysPastDue, other.worstDaysPastDue),
    ...(lastDefaultAt !== undefined && { lastDefaultAt }),
    ...(largestRepaid && { largestRepaid }),
  }
}

/** The newest value of each feature; of two at one instant the first in the order of their texts. */
function combineSnapshots(snapshots: readonly SnapshotState[]): SnapshotState {
  const combined: SnapshotState = {}
  for (const snapshot of snapshots) {
    for (const [name, feature] of Object.entries(snapshot)) {
      const known = ownProperty(combined, name)
      const order = known && (compareText(feature.asOf, known.asOf) || compareText(textOf(known), textOf(feature)))
      if (order === undefined || order > 0) combined[name] = feature
    }
  }
  return combined
}

function textOf({ value, source }: SnapshotState[string]): string {
  return JSON.stringify([value, source])
}

/**
 * Orders exposures, the one that counts first. The exposure of merged entities is computed for all of them together, and until
 * that is done the worse of their own counts.
 */
function compareGraphs(one: EntityState['graph'], other: EntityState['graph']): number {
  return (
    Number(one.asOf === undefined) - Number(other.asOf === undefined) ||
    other.negativeExposure - one.negativeExposure ||
    other.negativeExposureWithoutPayments - one.negativeExposureWithoutPayments ||
    one.positiveSupport - other.positiveSupport ||
    compareText(other.asOf ?? '', one.asOf ?? '') ||
    compareText(JSON.stringify(one), JSON.stringify(other))
  )
}
