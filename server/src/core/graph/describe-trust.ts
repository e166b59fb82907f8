import { PPM } from './decay.ts'
import {
  adverseWeight,
  type Exposure,
  negativeExposure,
  negativeExposureWithoutPayments,
  positiveSupport,
} from './exposure.ts'
import { compareText, type LinkType } from './link.ts'
import { usesPayments } from './reach.ts'
import type { TrackRecord } from './track-record.ts'

/** What the API says about the trust of an entity. */
export interface Trust {
  score: number
  negative_exposure: number
  positive_support: number
  evidence_count: number
  as_of: string
}

/** One of the paths on which the exposure rests most. */
export interface ExposurePath {
  entityId: string
  edges: LinkType[]
  strength: number
  /** Its part of what all paths bring. */
  share: number
  usesPayments: boolean
}

/** What a decision needs to know of an exposure, small enough for the entity's state. */
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

const PATHS_TOLD = 3

/** The trust of an entity: its own outcomes and those that reach it. One of whom nobody near has any history stands in the middle. */
export function describeTrust(exposure: Exposure, own: TrackRecord): Trust {
  const negative = either(negativeExposure(exposure), own.adversePpm / PPM)
  const positive = either(positiveSupport(exposure), own.favourablePpm / PPM)
  const hasOwn = own.adversePpm > 0 || own.favourablePpm > 0
  return {
    // A product, so that no amount of support makes up for certain harm.
    score: rounded(((1 - negative) * (1 + positive)) / 2),
    negative_exposure: rounded(negative),
    positive_support: rounded(positive),
    evidence_count: exposure.contributions.length + (hasOwn ? 1 : 0),
    as_of: exposure.asOf,
  }
}

/** The trust of an entity about which the graph has said nothing yet. */
export function neutralTrust(asOf: string): Trust {
  return { score: 0.5, negative_exposure: 0, positive_support: 0, evidence_count: 0, as_of: asOf }
}

function either(one: number, other: number): number {
  return 1 - (1 - one) * (1 - other)
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
    .slice(0, PATHS_TOLD)
    .map(({ entityId, path, weight }) => ({
      entityId,
      edges: path.steps.map(({ type }) => type),
      strength: path.strengthPpm / PPM,
      share: rounded(weight / total),
      usesPayments: usesPayments(path),
    }))
}

/** To six decimals: finer than anyone decides by, coarser than the last bits of a double. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
