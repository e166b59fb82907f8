import { ownProperty } from '../stored-json.ts'

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

/** The number of features that an entity may have: a policy reads a few dozen, and the state has to stay bounded. */
export const FEATURES_MAX = 512

/** Adds a feature snapshot: for each feature the later `asOf` wins, and at the same `asOf` the one sent later. */
export function addFeatureSnapshot(
  state: SnapshotState,
  { source, asOf, features }: FeatureSnapshotFact,
): SnapshotState {
  const newer = Object.entries(features)
    .filter(([name]) => (ownProperty(state, name)?.asOf ?? '') <= asOf)
    .map(([name, value]) => [name, { value, asOf, source }] as const)
  return { ...state, ...Object.fromEntries(newer) }
}

/** How many features an entity has once those of a snapshot are added. */
export function countFeatures(state: SnapshotState, features: FeatureSnapshotFact['features']): number {
  const names = Object.keys(features).filter((name) => ownProperty(state, name) === undefined)
  return Object.keys(state).length + names.length
}
