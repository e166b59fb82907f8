import type { Fact, Facts } from '../facts/facts.ts'
import { isObject } from '../stored-json.ts'

/**
 * Stored facts, if they still have the form that `decide` relies on; otherwise pointers to the unreadable parts. Stored
 * facts may have been altered in any way since they were written.
 */
export function replayableFacts(stored: unknown): { facts: Facts } | { unreadable: string[] } {
  if (!isObject(stored) || stored.format !== 1 || !isObject(stored.features)) return { unreadable: [''] }
  // A backtest reads the facts of 100,000 decisions, nearly all of them unaltered: names are looked at only if one is not.
  if (Object.values(stored.features).every(isFact)) return { facts: stored as unknown as Facts }
  const unreadable = Object.entries(stored.features).filter(([, fact]) => !isFact(fact))
  return {
    unreadable: unreadable.map(([feature]) => `/features/${feature.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  }
}

function isFact(stored: unknown): stored is Fact {
  if (!isObject(stored)) return false
  if (!('value' in stored)) return typeof stored.missing === 'string'
  const { value, age_days } = stored
  const isValue = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  return isValue && (age_days === undefined || Number.isFinite(age_days))
}
