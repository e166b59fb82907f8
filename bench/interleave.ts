import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Effort, Series } from './bench.ts'

/** One side of a comparison. */
export interface Contender {
  name: string
  /** How many operations one call of `runAll` performs. */
  operations: number
  /** Performs every operation once. */
  runAll(): Promise<unknown> | unknown
}

/** The share of a turn that runs before the clock starts. */
const LEAD_IN = 0.2

/**
 * Measures contenders in interleaved passes and returns the microseconds per operation of each contender in each pass.
 *
 * A pass gives every contender one turn. The machine may slow down for seconds at a time; interleaving spreads that over
 * all contenders. Each pass starts with another contender, and each turn has an untimed lead-in, so that no contender
 * pays for what ran before it. (Forcing a garbage collection there instead was tried: it discards
 * compiled code and made fast contenders twice as slow.)
 */
export async function interleave(contenders: readonly Contender[], effort: Effort): Promise<Record<string, Series>> {
  const repetitions = new Map<string, number>()
  for (const contender of contenders) {
    effort.say(`  warming up ${contender.name}`)
    repetitions.set(contender.name, await repetitionsWithin(contender, effort.turnMs))
  }
  const measured = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  for (let pass = 0; pass < effort.passes; pass++) {
    effort.say(`  pass ${pass + 1} of ${effort.passes}`)
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(pass + turn) % contenders.length]!
      const count = repetitions.get(contender.name)!
      // A contender that computes gives a signal no chance to be handled; it is handled here, outside the measured time.
      await nextTurn()
      await timed(contender, Math.ceil(count * LEAD_IN))
      const elapsedMs = await timed(contender, count)
      measured.get(contender.name)!.push((elapsedMs * 1000) / (count * contender.operations))
    }
  }
  const series = [...measured].map(([name, values]): [string, Series] => [
    name,
    { unit: 'µs', better: 'lower', values },
  ])
  return Object.fromEntries(series)
}

/** Warms a contender up for the length of a turn and returns how many repetitions fill one. */
async function repetitionsWithin(contender: Contender, turnMs: number): Promise<number> {
  let count = 1
  for (let warmedUpMs = 0; warmedUpMs < turnMs; ) {
    await nextTurn()
    const elapsedMs = await timed(contender, count)
    warmedUpMs += elapsedMs
    if (elapsedMs < turnMs / 4) count *= 2
  }
  const elapsedMs = await timed(contender, count)
  return Math.max(1, Math.round((count * turnMs) / elapsedMs))
}

async function timed({ runAll }: Contender, repetitions: number): Promise<number> {
  const start = performance.now()
  for (let index = 0; index < repetitions; index++) {
    const pending = runAll()
    // A synchronous contender must not pay for a turn of the event loop.
    if (pending instanceof Promise) await pending
  }
  return performance.now() - start
}
