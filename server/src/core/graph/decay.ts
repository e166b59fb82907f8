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

// 2^(−k/64) in ppm. Written out because `Math.pow` may differ between engine versions; between two steps a straight
// line is off by less than 15 ppm.
// biome-ignore format: a table reads best in rows
const HALF_LIFE_STEPS = [
  1_000_000, 989_228, 978_572, 968_031, 957_603, 947_288, 937_084, 926_990,
  917_004, 907_126, 897_355, 887_688, 878_126, 868_667, 859_310, 850_053,
  840_896, 831_838, 822_878, 814_014, 805_245, 796_571, 787_990, 779_502,
  771_105, 762_799, 754_582, 746_454, 738_413, 730_459, 722_590, 714_807,
  707_107, 699_490, 691_955, 684_501, 677_128, 669_834, 662_618, 655_481,
  648_420, 641_435, 634_525, 627_690, 620_929, 614_240, 607_624, 601_078,
  594_604, 588_198, 581_862, 575_595, 569_394, 563_261, 557_193, 551_191,
  545_254, 539_380, 533_570, 527_823, 522_137, 516_512, 510_949, 505_445,
  500_000,
]
const STEPS = 64

// After 20 halvings less than one part per million is left.
const HALVINGS_MAX = 20

/** What is left after an age, of something that halves with each half-life: 2^(−age / half-life), in ppm. */
export function decayPpm(ageDays: number, halfLifeDays: number): number {
  const age = Math.max(0, ageDays)
  const halvings = Math.floor(age / halfLifeDays)
  if (halvings >= HALVINGS_MAX) return 0
  const position = (age - halvings * halfLifeDays) * STEPS
  const step = Math.floor(position / halfLifeDays)
  const [from, to] = [HALF_LIFE_STEPS[step]!, HALF_LIFE_STEPS[step + 1]!]
  const beyondStep = position - step * halfLifeDays
  const left = from - Math.floor(((from - to) * beyondStep) / halfLifeDays)
  return Math.floor(left / (1 << halvings))
}
