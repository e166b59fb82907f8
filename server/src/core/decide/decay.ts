/** 2^(−k/16) in millionths. Written down, because engines may differ in the last digit of a power. */
const SIXTEENTHS = [
  1_000_000, 957_603, 917_004, 878_126, 840_896, 805_245, 771_105, 738_413, 707_107, 677_128, 648_420, 620_929, 594_604,
  569_394, 545_254, 522_137, 500_000,
] as const

/** What is left of a value's worth after some days, in millionths: half of it after each half-life. */
export function remainingPpm(ageDays: number, halfLifeDays: number): number {
  const halvings = Math.floor(ageDays / halfLifeDays)
  // After 20 halvings less than a millionth is left.
  if (halvings >= 20) return 0
  const sixteenths = ((ageDays - halvings * halfLifeDays) * 16) / halfLifeDays
  const step = Math.floor(sixteenths)
  const from = SIXTEENTHS[step] ?? 0
  const to = SIXTEENTHS[step + 1] ?? from
  let remaining = from + (to - from) * (sixteenths - step)
  for (let halving = 0; halving < halvings; halving++) remaining /= 2
  return Math.floor(remaining)
}
