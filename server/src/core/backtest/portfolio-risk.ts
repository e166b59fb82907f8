import { Z } from './bad-share.ts'

/** Cases to which the policy gives nearly the same probability of a bad outcome. */
export interface RiskGroup {
  cases: number
  /** The sum of their probabilities, in millionths: whole numbers, which add up to the same in every order. */
  expectedPpm: number
  /** How many ended badly; 0 where outcomes are not known. */
  bad: number
}

/**
 * How the probabilities of a policy fit a portfolio. The log-odds of a bad outcome are `centre + offset + slope · (x − centre)`,
 * where `x` are those that the policy gives; a policy that fits has the offset 0 and the slope 1.
 */
export interface PortfolioRisk {
  centre: number
  offset: number
  slope: number
  /** Of offset and slope. */
  covariance: Symmetric
}

/** A symmetric matrix of two rows: both diagonal elements, then the other one. */
type Symmetric = readonly [number, number, number]

/**
 * What is believed of a policy before any outcome is known: that it fits up to a factor of 2.7 in the odds, and that its slope
 * is right up to a half (standard deviations). Measured slopes of scorecards on portfolios other than their own are 0.7 to 1.7.
 */
const OFFSET_SD = 1
const SLOPE_SD = 0.5

const NEWTON_STEPS = 30
/** A step of Newton's method that is longer may overshoot. */
const STEP_MAX = 1
const SMALLEST_PROBABILITY = 1e-6

/**
 * Fits offset and slope to known outcomes by maximum posterior likelihood. `independent` is the number of independent cases
 * among the known ones, by which the outcomes weigh. Without outcomes the policy is believed, with the width of the prior.
 */
export function fitRisk(
  known: readonly RiskGroup[],
  { independent, centre }: { independent: number; centre: number },
): PortfolioRisk {
  const cases = sumOf(known, 'cases')
  const weight = cases === 0 ? 0 : independent / cases
  const groups = known.map((group) => ({ ...group, x: logOddsOf(group) - centre }))
  const prior = [1 / OFFSET_SD ** 2, 1 / SLOPE_SD ** 2] as const
  let [offset, slope] = [0, 1]
  let covariance: Symmetric = [OFFSET_SD ** 2, SLOPE_SD ** 2, 0]
  for (let step = 0; step < NEWTON_STEPS && cases > 0; step++) {
    let [g0, g1] = [-prior[0] * offset, -prior[1] * (slope - 1)]
    let [h00, h11, h01]: [number, number, number] = [prior[0], prior[1], 0]
    for (const { cases: count, bad, x } of groups) {
      const p = probabilityAt(centre + offset + slope * x)
      const [error, information] = [weight * (bad - count * p), weight * count * p * (1 - p)]
      g0 += error
      g1 += error * x
      h00 += information
      h11 += information * x * x
      h01 += information * x
    }
    covariance = inverse([h00, h11, h01])
    const [toOffset, toSlope] = times(covariance, [g0, g1])
    const shortened = Math.min(1, STEP_MAX / Math.max(Math.abs(toOffset), Math.abs(toSlope), 1e-12))
    offset += shortened * toOffset
    slope += shortened * toSlope
  }
  return { centre, offset, slope, covariance }
}

/** The mean log-odds of cases, where the fit of a line through them is known best. */
export function centreOf(groups: readonly RiskGroup[]): number {
  const cases = sumOf(groups, 'cases')
  return cases === 0 ? 0 : groups.reduce((sum, group) => sum + group.cases * logOddsOf(group), 0) / cases
}

/** The bad rate that cases will show, and how its error goes with offset and slope. */
export interface ExpectedShare {
  estimate: { share: number; low: number; high: number }
  gradient: readonly [number, number]
  sd: number
}

/**
 * The bad rate that cases will show: its interval holds what is not known of the portfolio, and the chance of so few cases.
 * Null without cases.
 */
export function expectedShare(
  { centre, offset, slope, covariance }: PortfolioRisk,
  groups: readonly RiskGroup[],
  independent: number,
): ExpectedShare | null {
  const cases = sumOf(groups, 'cases')
  if (cases === 0) return null
  let [share, chance, byOffset, bySlope] = [0, 0, 0, 0]
  for (const group of groups) {
    const x = logOddsOf(group) - centre
    const p = probabilityAt(centre + offset + slope * x)
    const spread = (group.cases / cases) * p * (1 - p)
    share += (group.cases / cases) * p
    chance += spread
    byOffset += spread
    bySlope += spread * x
  }
  const gradient = [byOffset, bySlope] as const
  const [c0, c1] = times(covariance, gradient)
  const variance = byOffset * c0 + bySlope * c1
  const estimate = withChance(intervalOf(share, Math.sqrt(variance)), Z * Math.sqrt(chance / independent))
  return { estimate, gradient, sd: Math.sqrt(variance + chance / independent) }
}

/**
 * The correlation of an expected share with the share that was observed of some of the cases to which the risk was fitted: a
 * portfolio that is worse than expected shows it in both.
 */
export function correlationWith(
  risk: PortfolioRisk,
  { gradient, sd }: ExpectedShare,
  observed: readonly RiskGroup[],
  independent: number,
): number {
  const cases = sumOf(observed, 'cases')
  if (cases === 0 || sd === 0) return 0
  let [chance, byOffset, bySlope] = [0, 0, 0]
  for (const group of observed) {
    const x = logOddsOf(group) - risk.centre
    const p = probabilityAt(risk.centre + risk.offset + risk.slope * x)
    const spread = (group.cases / cases) * p * (1 - p)
    chance += spread
    byOffset += spread
    bySlope += spread * x
  }
  const [c0, c1] = times(risk.covariance, [byOffset, bySlope])
  const covariance = gradient[0] * c0 + gradient[1] * c1
  const product = sd * Math.sqrt(chance / independent)
  return product === 0 ? 0 : Math.max(-1, Math.min(1, covariance / product))
}

/** An interval of the rate of many such cases, widened for the chance of so few. The rate of few cases may well be 0. */
function withChance({ share, low, high }: ExpectedShare['estimate'], reach: number): ExpectedShare['estimate'] {
  return {
    share,
    low: Math.max(0, share - Math.hypot(share - low, reach)),
    high: Math.min(1, share + Math.hypot(high - share, reach)),
  }
}

/** The interval of a share with a standard deviation; symmetric in log-odds, so that it stays within 0 and 1. */
function intervalOf(share: number, sd: number): ExpectedShare['estimate'] {
  const odds = Math.log(share / (1 - share))
  const reach = (Z * sd) / (share * (1 - share))
  return { share, low: probabilityAt(odds - reach), high: probabilityAt(odds + reach) }
}

function logOddsOf({ cases, expectedPpm }: RiskGroup): number {
  const p = Math.min(1 - SMALLEST_PROBABILITY, Math.max(SMALLEST_PROBABILITY, expectedPpm / cases / 1_000_000))
  return Math.log(p / (1 - p))
}

function probabilityAt(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}

function inverse([a, b, c]: Symmetric): Symmetric {
  const determinant = a * b - c * c
  return [b / determinant, a / determinant, -c / determinant]
}

function times([a, b, c]: Symmetric, [x, y]: readonly [number, number]): [number, number] {
  return [a * x + c * y, c * x + b * y]
}

function sumOf(groups: readonly RiskGroup[], name: keyof RiskGroup): number {
  return groups.reduce((sum, group) => sum + group[name], 0)
}
