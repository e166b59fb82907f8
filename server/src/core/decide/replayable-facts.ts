import type { Fact, Facts } from '../facts/facts.ts'
import { isObject } from '../stored-json.ts'

/**
 * Stored facts, if they still have the form that `decide` relies on; otherwise pointers to the unreadable parts. Stored
 * facts may have been altered in any way since they were written.
 */
export function replayableFacts(stored: unknown): { facts: Facts } | { unreadable: string[] } {
  if (!isObject(stored) || stored.format !== 1 || !isObject(stored.features)) return { unreadable: [''] }
  const unreadable = Object.entries(stored.features)
    .filter(([, fact]) => !isFact(fact))
    .map(([feature]) => `/features/${feature.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  return unreadable.length > 0 ? { unreadable } : { facts: stored as unknown as Facts }
}

function isFact(stored: unknown): stored is Fact {
  if (!isObject(stored)) return false
  const { value, missing, age_days } = stored
  if (!Object.hasOwn(stored, 'value')) return typeof missing === 'string'
  const isValue = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  return isValue && (age_days === undefined || Number.isFinite(age_days))
}
