import { newestOf } from './newest-of.ts'
import { ownProperty } from './own-property.ts'

/** The value that a caller sends for one feature; null means that the caller looked and found nothing. */
export type FeatureValue = number | string | boolean | null

/** Features that a caller measured itself, all at one instant. */
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

// A policy reads a few dozen features. Beyond this number the oldest are evicted, so that the state stays bounded.
const FEATURES_KEPT = 512

/** Adds a feature snapshot: for each feature the later `asOf` wins, and at the same `asOf` the one sent later. */
export function addFeatureSnapshot(
  state: SnapshotState,
  { source, asOf, features }: FeatureSnapshotFact,
): SnapshotState {
  const newer = Object.entries(features)
    .filter(([name]) => (ownProperty(state, name)?.asOf ?? '') <= asOf)
    .map(([name, value]) => [name, { value, asOf, source }] as const)
  return newestOf({ ...state, ...Object.fromEntries(newer) }, FEATURES_KEPT, (feature) => feature.asOf)
}
