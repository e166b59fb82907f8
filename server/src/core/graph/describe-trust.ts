import { compareText } from '../plain-spelling.ts'
import { PPM } from './decay.ts'
import {
  adverseWeight,
  type Exposure,
  HEAVIEST,
  negativeExposure,
  negativeExposureWithoutPayments,
  noisyOr,
  positiveSupport,
} from './exposure.ts'
import type { LinkType } from './link.ts'
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
  /** Its share in the sum of the contributions that make the exposure. */
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

/** Computes the trust of an entity from its own track record and its exposure; 0.5 where neither has any outcomes. */
export function describeTrust(exposure: Exposure, own: TrackRecord): Trust {
  const [exposed, supported] = [negativeExposure(exposure), positiveSupport(exposure)]
  const [adverse, favourable] = [own.adversePpm / PPM, own.favourablePpm / PPM]
  // The log-odds of own history and of the neighbours add up, so their odds multiply, which needs no logarithm: q⁻ = b/(b + g/4
  // + 1) and q⁺ = (g/4)/(b + g/4 + 1) make (1 − q⁻)/(1 − q⁺) the odds (g/4 + 1)/(b + 1). Own bad outcomes count twice and
  // those of neighbours three times, the whole numbers that predict ratings on Bitcoin-OTC best (studies/bitcoin-otc.ts).
  const good = squared(1 - adverse) * squared(1 - exposed) * (1 - exposed)
  const bad = (1 - favourable) * (1 - supported)
  const hasOwn = own.adversePpm > 0 || own.favourablePpm > 0
  return {
    score: rounded(good / (good + bad)),
    negative_exposure: rounded(noisyOr([exposed, adverse])),
    positive_support: rounded(noisyOr([supported, favourable])),
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

/** The paths that make the negative exposure, the heaviest first. */
export function explainExposure({ contributions }: Exposure): ExposurePath[] {
  const heaviest = contributions
    .map((contribution) => ({ ...contribution, weight: adverseWeight(contribution) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || compareText(a.entityId, b.entityId))
    .slice(0, HEAVIEST)
  const total = heaviest.reduce((sum, { weight }) => sum + weight, 0)
  return heaviest.map(({ entityId, path, weight }) => ({
    entityId,
    edges: path.steps.map(({ type }) => type),
    strength: path.strengthPpm / PPM,
    share: rounded(weight / total),
    usesPayments: usesPayments(path),
  }))
}

function squared(value: number): number {
  return value * value
}

/** Rounds to six decimals: finer than any policy needs, coarser than the last bits of a double. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
