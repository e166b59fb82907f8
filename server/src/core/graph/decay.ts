import { HALF_LIFE_STEPS_PPM, HALVINGS_MAX } from '../half-life.ts'

/** One whole in parts per million: strengths and shares of the graph are integers of this unit, the same on every machine. */
export const PPM = 1_000_000

/** The product of two shares, rounded down. */
export function timesPpm(one: number, other: number): number {
  return Math.floor((one * other) / PPM)
}

/** The UTC day an instant falls on, counted from 1970. Ages are whole days, so that one day has one set of strengths. */
export function dayOf(instant: string): number {
  return Math.floor(Date.parse(instant) / 86_400_000)
}

// Between two steps of the table a straight line is off by less than 15 ppm.
const STEPS = 64

/** What is left after an age, of something that halves with each half-life: 2^(−age / half-life), in ppm. */
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
