import type { EntryAbout } from '../store/environment/audit-records.ts'
import { dataOf } from '../store/write-path/entry-data.ts'

/** A time in which an actor had no power to act, and why. */
export interface PowerlessTime {
  fromMs: number
  untilMs: number
  /** What the actor was, such as `revoked`. */
  was: string
}

/** The entries that end the power of an actor, at once or at the time that they name. */
const ENDS: Record<string, { was: string; atOf?: (data: Record<string, unknown>) => unknown }> = {
  'api_key.created': { was: 'to expire', atOf: ({ expires_at }) => expires_at },
  'api_key.rotated': { was: 'to retire', atOf: ({ retires_at }) => retires_at },
  'api_key.disabled': { was: 'disabled' },
  'api_key.revoked': { was: 'revoked' },
  'operator.removed': { was: 'removed' },
}

/** The entries that give power back, each with the end that it undoes, and what it has to say for that. */
const RESUMES: Record<string, { was: string; isSaid?: (data: Record<string, unknown>) => boolean }> = {
  'api_key.enabled': { was: 'disabled' },
  'access.restored': { was: 'removed', isSaid: ({ is_removed }) => is_removed === false },
}

/** The types of entries that `powerlessTimes` reads. */
export const POWER_ENTRIES = [...Object.keys(ENDS), ...Object.keys(RESUMES)]

/** The times in which an actor had no power to act, by the entries about the actor, oldest first. */
export function powerlessTimes(entries: readonly EntryAbout[]): PowerlessTime[] {
  const times: PowerlessTime[] = []
  for (const entry of entries) {
    const resumed = RESUMES[entry.type]
    const resumes = resumed && (resumed.isSaid?.(dataOf(entry)) ?? true)
    for (const time of times)
      if (resumes && time.was === resumed.was) time.untilMs = Math.min(time.untilMs, Date.parse(entry.occurred_at))
    const end = ENDS[entry.type]
    if (!end) continue
    const at = end.atOf ? end.atOf(dataOf(entry)) : entry.occurred_at
    if (typeof at === 'string') times.push({ fromMs: Date.parse(at), untilMs: Number.POSITIVE_INFINITY, was: end.was })
  }
  return times
}
