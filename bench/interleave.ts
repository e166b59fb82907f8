import type { Effort, Series } from './bench.ts'

/** One side of a comparison: does all its operations once. */
export interface Contender {
  name: string
  /** How many operations one pass does. */
  operations: number
  pass(): Promise<unknown> | unknown
}

/** The share of a turn that runs before the clock starts. */
const LEAD_IN = 0.2

/**
 * Lets contenders take turns and returns the microseconds per operation of each in each round.
 *
 * The machine may slow down for seconds at a time; taking turns makes that hit everyone alike. Each round starts with
 * another contender, and each turn has a lead-in that is not timed, so that nobody pays for the one before. (Forcing a
 * garbage collection there instead was tried: it throws compiled code away and made fast contenders twice as slow.)
 */
export async function interleave(contenders: readonly Contender[], effort: Effort): Promise<Record<string, Series>> {
  const passes = new Map<string, number>()
  for (const contender of contenders) {
    effort.say(`  warming up ${contender.name}`)
    passes.set(contender.name, await passesWithin(contender, effort.roundMs))
  }
  const rounds = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < effort.rounds; round++) {
    effort.say(`  round ${round + 1} of ${effort.rounds}`)
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(round + turn) % contenders.length]!
      const count = passes.get(contender.name)!
      await timed(contender, Math.ceil(count * LEAD_IN))
      const elapsedMs = await timed(contender, count)
      rounds.get(contender.name)!.push((elapsedMs * 1000) / (count * contender.operations))
    }
  }
  const series = [...rounds].map(([name, values]): [string, Series] => [
    name,
    { unit: 'µs', better: 'lower', rounds: values },
  ])
  return Object.fromEntries(series)
}

/** Warms a contender up for a round's time and says how many passes fill one. */
async function passesWithin(contender: Contender, roundMs: number): Promise<number> {
  let count = 1
  for (let warmedUpMs = 0; warmedUpMs < roundMs; ) {
    const elapsedMs = await timed(contender, count)
    warmedUpMs += elapsedMs
    if (elapsedMs < roundMs / 4) count *= 2
  }
  const elapsedMs = await timed(contender, count)
  return Math.max(1, Math.round((count * roundMs) / elapsedMs))
}

async function timed({ pass }: Contender, count: number): Promise<number> {
  const start = performance.now()
  for (let index = 0; index < count; index++) {
    const pending = pass()
    // A pass that is already done must not pay for a turn of the event loop.
    if (pending instanceof Promise) await pending
  }
  return performance.now() - start
}
