import { PPM } from './decay.ts'
import {
  adverseWeight,
  type Exposure,
  negativeExposure,
  negativeExposureWithoutPayments,
  noisyOr,
  positiveSupport,
} from './exposure.ts'
import { compareText, type LinkType } from './link.ts'
import { usesPayments } from './reach.ts'
import type { TrackRecord } from './track-record.ts'

/** The trust of an entity, as the API returns it. */
export interface Trust {
  score: number
  negative_exposure: number
  positive_support: number
  evidence_count: number
  as_of: string
}

/** One of the paths that contribute most to an exposure. */
export interface ExposurePath {
  entityId: string
  edges: LinkType[]
  strength: number
  /** Its share in the sum of all contributions. */
  share: number
  usesPayments: boolean
}

/** The part of an exposure that decisions use, small enough for the entity's state. */
export interface ExposureSummary {
  negativeExposure: number
  /** The part that rests on links of identity and relationship alone; only this part may count towards a decline. */
  negativeExposureWithoutPayments: number
  positiveSupport: number
  evidenceCount: number
  /** When it was computed; absent in the state of an entity whose exposure was never computed. */
  asOf?: string
  paths: ExposurePath[]
}

const PATHS_EXPLAINED_MAX = 3

/** Computes the trust of an entity from its own track record and its exposure; 0.5 where neither has any outcomes. */
export function describeTrust(exposure: Exposure, own: TrackRecord): Trust {
  const negative = noisyOr([negativeExposure(exposure), own.adversePpm / PPM])
  const positive = noisyOr([positiveSupport(exposure), own.favourablePpm / PPM])
  const hasOwn = own.adversePpm > 0 || own.favourablePpm > 0
  return {
    // A product, so that no amount of support outweighs a negative exposure of 1.
    score: rounded(((1 - negative) * (1 + positive)) / 2),
    negative_exposure: rounded(negative),
    positive_support: rounded(positive),
    evidence_count: exposure.contributions.length + (hasOwn ? 1 : 0),
    as_of: exposure.asOf,
  }
}

/** The trust of an entity whose exposure has not been computed yet. */
export function neutralTrust(asOf: string): Trust {
  return { score: 0.5, negative_exposure: 0, positive_support: 0, evidence_count: 0, as_of: asOf }
}

/** The figures of an exposure, and the paths that explain them. */
export function summarizeExposure(exposure: Exposure): ExposureSummary {
  return {
    negativeExposure: rounded(negativeExposure(exposure)),
    negativeExposureWithoutPayments: rounded(negativeExposureWithoutPayments(exposure)),
    positiveSupport: rounded(positiveSupport(exposure)),
    evidenceCount: exposure.contributions.length,
    asOf: exposure.asOf,
    paths: explainExposure(exposure),
  }
}

/** The three paths with the largest share in the negative exposure. */
export function explainExposure({ contributions }: Exposure): ExposurePath[] {
  const weighed = contributions.map((contribution) => ({ ...contribution, weight: adverseWeight(contribution) }))
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0)
  return weighed
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || compareText(a.entityId, b.entityId))
    .slice(0, PATHS_EXPLAINED_MAX)
    .map(({ entityId, path, weight }) => ({
      entityId,
      edges: path.steps.map(({ type }) => type),
      strength: path.strengthPpm / PPM,
      share: rounded(weight / total),
      usesPayments: usesPayments(path),
    }))
}

/** Rounds to six decimals: finer than any policy needs, coarser than the last bits of a double. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
