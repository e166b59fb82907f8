import { ENVIRONMENTS } from '../config.ts'
import type { Installation } from './installation.ts'

const EVERY_MS = 60_000

/** Clears away what is past its time, a little every minute. Returns the function that stops it. */
export function startUpkeep(
  { stores, nowMs }: Pick<Installation, 'stores' | 'nowMs'>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const round = async () => {
    for (const environment of ENVIRONMENTS) {
      while ((await stores[environment].purgeKeptAnswers(new Date(nowMs()).toISOString())) > 0) {}
    }
  }
  let running = Promise.resolve()
  const timer = setInterval(() => {
    running = round().catch(onError)
  }, EVERY_MS).unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
