import type { PlannedEntity } from './plan-entities.ts'
import { type Random, randomOf } from './random.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How many days the history goes back. */
export const HISTORY_DAYS = 90

/** The time of the nightly job, which brings new customers, statements and outcomes: two o'clock UTC. */
export const NIGHTLY_MS = 2 * HOUR_MS

/** How busy each day of the week is, from Sunday. */
const WEEKDAYS = [0.22, 1, 1.06, 1.1, 1.04, 0.94, 0.34] as const
/** How busy each hour of the day is, in UTC: office hours of Europe, and an evening. */
const HOURS = [1, 1, 1, 1, 1, 3, 8, 18, 30, 34, 32, 26, 28, 33, 31, 27, 22, 17, 15, 14, 11, 7, 4, 2] as const
/** The share of entities that were customers before the history begins. */
const FIRST_SHARE = 0.35

/** One application: who applies, when, and for how much. */
export interface Application {
  at: number
  entity: PlannedEntity
  number: number
  amount: number | undefined
}

/** When an entity is created, and everything it applies for. */
export interface Plan {
  entities: { at: number; entity: PlannedEntity }[]
  applications: Application[]
}

/** Spreads applications over the days up to `now`: more on weekdays, in office hours and towards the end. */
export function planApplications(
  seed: number,
  { entities, count, now }: { entities: readonly PlannedEntity[]; count: number; now: number },
): Plan {
  const random = randomOf('applications', seed)
  const times = applicationTimes(random, { count, now })
  const start = now - HISTORY_DAYS * DAY_MS
  const firstCount = Math.max(1, Math.round(entities.length * FIRST_SHARE))
  const plan: Plan = { entities: [], applications: [] }
  for (const [index, entity] of entities.slice(0, firstCount).entries())
    plan.entities.push({ at: start - DAY_MS + index * MINUTE_MS, entity })
  const ready = entities.slice(0, firstCount)
  for (const [number, at] of times.entries()) {
    const due = firstCount + ((number + 1) / times.length) * (entities.length - firstCount)
    const isNew = ready.length < Math.floor(due)
    const entity = isNew
      ? entities[ready.length]!
      : random.weighted(ready, ({ persona, scale }) => persona.returns * scale)
    if (isNew) {
      // One after another, because an entity may be related to one before it.
      plan.entities.push({ at: Math.max(nightBefore(at), plan.entities.at(-1)!.at + MINUTE_MS), entity })
      ready.push(entity)
    }
    plan.applications.push({ at, entity, number, amount: amountOf(entity, random) })
  }
  return plan
}

/** When the nightly job of the last night before a moment began, if it had ended by then. */
function nightBefore(at: number): number {
  return Math.floor((at - NIGHTLY_MS - HOUR_MS) / DAY_MS) * DAY_MS + NIGHTLY_MS
}

function amountOf({ persona, scale, country }: PlannedEntity, random: Random): number | undefined {
  if (!persona.amount) return undefined
  const [from, to] = persona.amount
  // Small amounts are asked for more often than large ones.
  const euro = (from + (to - from) * random.next() ** 2) * scale
  return Math.max(100, Math.round((euro * country.perEuro) / 100) * 100)
}

function applicationTimes(random: Random, { count, now }: { count: number; now: number }): number[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const days = Array.from({ length: HISTORY_DAYS }, (_, index) => today - (HISTORY_DAYS - 1 - index) * DAY_MS)
  const weights = days.map((day, index) => {
    const growth = 0.75 + (0.5 * index) / HISTORY_DAYS
    return WEEKDAYS[new Date(day).getUTCDay()]! * growth * (0.88 + 0.24 * random.next())
  })
  const perWeight = count / weights.reduce((sum, weight) => sum + weight, 0)
  // Rounds the sum up to each day, not each day, so that a small sample has its number as well.
  const sums: number[] = []
  for (const weight of weights) sums.push((sums.at(-1) ?? 0) + weight * perWeight)
  const countOn = (index: number) => Math.round(sums[index]!) - Math.round(sums[index - 1] ?? 0)
  const hours = HOURS.map((weight, hour) => ({ hour, weight }))
  return days
    .flatMap((day, index) =>
      Array.from({ length: countOn(index) }, () => {
        const { hour } = random.weighted(hours, ({ weight }) => weight)
        return day + hour * 60 * MINUTE_MS + Math.floor(random.next() * 60 * MINUTE_MS)
      }),
    )
    .filter((at) => at < now - 10 * MINUTE_MS)
    .sort((a, b) => a - b)
}
