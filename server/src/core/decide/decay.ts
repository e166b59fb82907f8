import { HALF_LIFE_STEPS_PPM, HALVINGS_MAX } from '../half-life.ts'

/** 2^(−k/16) in parts per million. The finer steps that the trust graph reads would change recorded decisions. */
const SIXTEENTHS_PPM = HALF_LIFE_STEPS_PPM.filter((_, step) => step % 4 === 0)

/** The share of a value that is left after some days, in parts per million: half of it after each half-life. */
export function remainingPpm(ageDays: number, halfLifeDays: number): number {
  const halvings = Math.floor(ageDays / halfLifeDays)
  if (halvings >= HALVINGS_MAX) return 0
  const sixteenths = ((ageDays - halvings * halfLifeDays) * 16) / halfLifeDays
  const step = Math.floor(sixteenths)
  const from = SIXTEENTHS_PPM[step]!
  const to = SIXTEENTHS_PPM[step + 1] ?? from
  let remaining = from + (to - from) * (sixteenths - step)
  for (let halving = 0; halving < halvings; halving++) remaining /= 2
  return Math.floor(remaining)
}
