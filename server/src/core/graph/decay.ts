import { HALF_LIFE_STEPS_PPM, HALVINGS_MAX } from '../half-life.ts'

/** One whole, in parts per million. Strengths and shares in the graph are integers of this unit, so every machine computes the same. */
export const PPM = 1_000_000

/** The product of two shares, rounded down. */
export function timesPpm(one: number, other: number): number {
  return Math.floor((one * other) / PPM)
}

/** The UTC day of an instant, counted from 1970. Ages are whole days, so strengths stay the same within a day. */
export function dayOf(instant: string): number {
  return Math.floor(Date.parse(instant) / 86_400_000)
}

// Linear interpolation between two entries of the table is off by less than 15 ppm.
const STEPS = 64

/** The share of a weight that is left at an age: 2^(−age / half-life), in ppm. A negative age counts as zero. */
export function decayPpm(ageDays: number, halfLifeDays: number): number {
  const age = Math.max(0, ageDays)
  const halvings = Math.floor(age / halfLifeDays)
  if (halvings >= HALVINGS_MAX) return 0
  const position = (age - halvings * halfLifeDays) * STEPS
  const step = Math.floor(position / halfLifeDays)
  const [from, to] = [HALF_LIFE_STEPS_PPM[step]!, HALF_LIFE_STEPS_PPM[step + 1]!]
  const beyondStep = position - step * halfLifeDays
  const left = from - Math.floor(((from - to) * beyondStep) / halfLifeDays)
  return Math.floor(left / (1 << halvings))
}
