import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { WAITING_BANDS_HOURS, WAITING_COUNTED_MAX } from '../../store/environment/overview.ts'

/** The decisions that wait for a person. */
export interface WaitingFigures {
  count: number
  /** Whether there are more than were counted. */
  is_more: boolean
  oldest_since: string | null
  /** How many have waited for how long, in hours; the last band has no end. */
  bands: { from_hours: number; to_hours: number | null; count: number }[]
}

/** Counts the decisions that wait for a person, by how long they have waited. */
export async function waitingFigures(
  store: EnvironmentStore,
  organizationId: string,
  now: string,
): Promise<WaitingFigures> {
  const found = await store.overview.waitingReviews(organizationId, now)
  const count = found.reduce((sum, band) => sum + band.count, 0)
  return {
    count,
    is_more: count === WAITING_COUNTED_MAX,
    oldest_since: found.map(({ oldest }) => oldest).sort()[0] ?? null,
    bands: [0, ...WAITING_BANDS_HOURS].map((fromHours, index) => ({
      from_hours: fromHours,
      to_hours: WAITING_BANDS_HOURS[index] ?? null,
      count: found.find(({ band }) => band === index)?.count ?? 0,
    })),
  }
}
