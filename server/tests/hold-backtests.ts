import type { EnvironmentStore } from '../src/store/environment/environment-store.ts'

/** Holds every backtest of a service before its first page of decisions, until the function that it returns is called. */
export function holdBacktests(store: EnvironmentStore): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { recordedCases } = store.backtests
  store.backtests.recordedCases = async (...bounds) => {
    await promise
    return recordedCases(...bounds)
  }
  return () => {
    store.backtests.recordedCases = recordedCases
    resolve()
  }
}
