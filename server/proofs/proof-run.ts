/** What a proof takes from `npm run prove`: its seed, its share of the trials, and a place for its figures. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

/** The seed of this run; `npm run prove -- --seed N` repeats one. */
export const seed = Number(process.env.PROVE_SEED ?? 1)

/** How long the soak takes; a release is soaked with `--soak-minutes 30`. */
export const soakMinutes = Number(process.env.PROVE_SOAK_MINUTES ?? 0.5)

/** Whether proofs that take hours are asked for: `npm run prove -- --only failover --long`. */
export const isLongRun = process.env.PROVE_LONG === '1'

/** The faults of failover that the long run is to have, by their names; undefined for all. */
export const chosenFaults = process.env.PROVE_FAULTS?.split(',')

/** How many trials a proof makes of its usual number: all by default, fewer where `--share` asks for a shorter run. */
export function trials(usual: number, atLeast = 1): number {
  return Math.max(atLeast, Math.round(usual * Number(process.env.PROVE_SHARE ?? 1)))
}

const POLL_MS = 5
const PATIENCE_MS = 60_000

/** Waits for a condition; fails after a minute, so that a broken promise does not look like a slow one. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, `waited a minute in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** A generator of numbers in [0, 1) that depends only on the seed (mulberry32). */
export function seededRandom(from: number = seed): () => number {
  let state = from >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Adds figures to the line of this proof's promise, such as "50 kills, 4,012 acknowledged writes, 0 lost". */
export function reportFigures(context: TestContext, figures: string): void {
  context.diagnostic(`figures: ${figures}`)
}

/**
 * Asserts a limit on time. Where neighbours take processor time away (`--report-times`), exceeding it proves nothing about
 * the service: it is then reported instead.
 */
export function assertTime(context: TestContext, isWithinLimit: boolean, otherwise: string): void {
  if (process.env.PROVE_TIMES !== 'report') assert.ok(isWithinLimit, otherwise)
  else if (!isWithinLimit) reportFigures(context, `OVER A TIME LIMIT: ${otherwise}`)
}
