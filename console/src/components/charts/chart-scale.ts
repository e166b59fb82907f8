/** Round values from the start of an axis to at or above `max`, about `count` steps apart: 0, 25, 50, 75, 100. */
export function niceTicks(max: number, { min = 0, count = 4 }: { min?: number; count?: number } = {}): number[] {
  const span = Math.max(max - min, Number.EPSILON)
  const rough = span / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999)!
  const start = Math.floor(min / step) * step
  const ticks: number[] = []
  for (let tick = start; ticks.length === 0 || ticks.at(-1)! < max - step * 1e-9; tick += step)
    ticks.push(Math.round(tick * 1e9) / 1e9)
  return ticks.length > 1 ? ticks : [start, start + step]
}

/** The indexes whose labels fit: the last, and every n-th before it. */
export function labelledIndexes(count: number, labelsMax: number): Set<number> {
  const every = Math.max(1, Math.ceil(count / labelsMax))
  return new Set(
    Array.from({ length: count }, (_, index) => index).filter((index) => (count - 1 - index) % every === 0),
  )
}
