import type { EntityState } from './entity-state.ts'
import { newestOf } from './newest-of.ts'
import { ownProperty } from './own-property.ts'

/** What a caller can say about one feature; null says that the caller looked and found nothing. */
export type FeatureValue = number | string | boolean | null

/** Features a caller has measured itself, all at one instant. */
export interface FeatureSnapshotFact {
  source: string
  asOf: string
  features: Readonly<Record<string, FeatureValue>>
}

/** The latest value of one feature, with its origin. */
export interface SnapshotFeature {
  value: FeatureValue
  asOf: string
  source: string
}

/** The latest value of every feature, by name. */
export type SnapshotState = Record<string, SnapshotFeature>

// A policy names a few dozen features; beyond this the oldest give way so that deciding stays flat.
const FEATURES_KEPT = 512

/** Takes a feature snapshot in: per feature the later `asOf` wins, and on the same `asOf` the correction sent later. */
export function applyFeatureSnapshot(state: EntityState, { source, asOf, features }: FeatureSnapshotFact): EntityState {
  const news = Object.entries(features)
    .filter(([name]) => (ownProperty(state.snapshot, name)?.asOf ?? '') <= asOf)
    .map(([name, value]) => [name, { value, asOf, source }] as const)
  const snapshot = { ...state.snapshot, ...Object.fromEntries(news) }
  return { ...state, snapshot: newestOf(snapshot, FEATURES_KEPT, (feature) => feature.asOf) }
}
