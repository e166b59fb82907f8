import type { Config } from '../config.ts'
import { createNewId, lowestIdAt, type NewId } from '../ids/new-id.ts'
import { deleteExpired, EXPIRING_TABLES } from '../store/control/expired-rows.ts'
import type { Database } from '../store/database/database.ts'
import { checkpoint, tablesToVacuum, vacuum } from '../store/database/vacuum.ts'
import { packSmallSegments } from '../store/documents/pack-segments.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { deleteExpiredLeases } from '../store/leases/lease.ts'
import { deleteOldBacktests } from './delete-old-backtests.ts'
import { eraseApproved, eraseExpiredDecisions } from './erase-entities.ts'
import type { UpkeepTask } from './upkeep.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ROWS_PER_BATCH = 1_000
const ENTITIES_PER_BATCH = 200
/** Statements that are this old have ended, so that packed segments seldom leave one out. */
const PACKED_AFTER_MS = 60_000
/** Events are kept a day longer than they can be sent again, so that no event disappears under a redelivery. */
const EVENTS_KEPT_LONGER_MS = DAY_MS

/** The tasks of upkeep in one environment; docs/operating.md ("What is kept for how long?") lists what bounds each table. */
export function upkeepTasks({
  store,
  database,
  newId,
  keepDays,
  isEmbedded,
}: {
  store: Pick<EnvironmentStore, 'commit'> & {
    backtests: Pick<EnvironmentStore['backtests'], 'superseded'>
    idempotencyKeys: Pick<EnvironmentStore['idempotencyKeys'], 'purge'>
    webhooks: Pick<EnvironmentStore['webhooks'], 'purgeEvents' | 'purgeRemoved' | 'purgeCounts'>
    deliveries: Pick<EnvironmentStore['deliveries'], 'endRemoved' | 'purge'>
    usage: Pick<EnvironmentStore['usage'], 'compact' | 'compactByKey' | 'purge'>
    latencies: Pick<EnvironmentStore['latencies'], 'compact' | 'purge'>
    entities: Pick<EnvironmentStore['entities'], 'purgeTrustHistory'>
    erasures: Pick<EnvironmentStore['erasures'], 'pending' | 'withDecisions'>
  }
  database: Database
  newId: NewId
  keepDays: Config['keepDays']
  isEmbedded: boolean
}): UpkeepTask[] {
  const keepMs = keepDays.webhooks * DAY_MS
  const firstDayOfUsage = (nowMs: number) => dayOf(nowMs - keepDays.usage * DAY_MS)
  return [
    async (nowMs) => (await store.idempotencyKeys.purge(isoTime(nowMs))) > 0,
    async (nowMs) => (await store.deliveries.purge(isoTime(nowMs - keepMs), ROWS_PER_BATCH)) === ROWS_PER_BATCH,
    // A removal ends what waits, unless a crash interrupts it.
    async (nowMs) => (await store.deliveries.endRemoved(isoTime(nowMs), ROWS_PER_BATCH)) === ROWS_PER_BATCH,
    async () => {
      await store.webhooks.purgeRemoved()
      return false
    },
    async (nowMs) => (await store.webhooks.purgeCounts(isoTime(nowMs - keepMs), ROWS_PER_BATCH)) === ROWS_PER_BATCH,
    purgeEvents(store, keepMs + EVENTS_KEPT_LONGER_MS),
    // A node may still write the usage of yesterday, when its last flush failed.
    async (nowMs) => (await store.usage.compact(yesterday(nowMs))) > 0,
    async (nowMs) => (await store.usage.compactByKey(yesterday(nowMs))) > 0,
    async (nowMs) => (await store.latencies.compact(yesterday(nowMs))) > 0,
    daily((nowMs) => store.usage.purge(firstDayOfUsage(nowMs), ROWS_PER_BATCH)),
    daily((nowMs) => store.latencies.purge(firstDayOfUsage(nowMs), ROWS_PER_BATCH)),
    purgeTrustHistory(store, keepDays.trustHistory * DAY_MS),
    daily((nowMs) => deleteOldBacktests({ store, newId, nowMs }, nowMs - keepDays.backtests * DAY_MS)),
    eraseApproved({ store, database, newId }),
    daily(eraseExpiredDecisions({ store, database, newId }, keepDays.erasedDecisions * DAY_MS)),
    (nowMs) => packSmallSegments(database, lowestIdAt('dec', nowMs - PACKED_AFTER_MS)),
    async () => {
      await deleteExpiredLeases(database)
      return false
    },
    ...(isEmbedded ? [vacuumHourly(database), checkpointOnce(database)] : []),
  ]
}

/** The tasks of upkeep in the control database; they run under the lease of production. */
export function controlUpkeepTasks({ control, isEmbedded }: { control: Database; isEmbedded: boolean }): UpkeepTask[] {
  return [
    ...EXPIRING_TABLES.map((table): UpkeepTask => {
      return async (nowMs) => (await deleteExpired(control, table, { nowMs, limit: ROWS_PER_BATCH })) === ROWS_PER_BATCH
    }),
    ...(isEmbedded ? [vacuumHourly(control)] : []),
  ]
}

/** Runs a task to its end once a day: what it deletes gets old by days. */
function daily(task: UpkeepTask): UpkeepTask {
  let doneOn = ''
  return async (nowMs) => {
    if (doneOn === dayOf(nowMs)) return false
    const isMore = await task(nowMs)
    if (!isMore) doneOn = dayOf(nowMs)
    return isMore
  }
}

/**
 * Deletes old events that no delivery refers to. It goes through the events by id and remembers where it was, because
 * events that are held by the pending deliveries of a disabled webhook endpoint would be found again and again. Once a
 * day it starts again from the oldest.
 */
function purgeEvents(
  store: { webhooks: Pick<EnvironmentStore['webhooks'], 'purgeEvents'> },
  keepMs: number,
): UpkeepTask {
  let afterId = ''
  let startedMs = 0
  return async (nowMs) => {
    if (nowMs - startedMs >= DAY_MS) {
      afterId = ''
      startedMs = nowMs
    }
    const beforeId = createNewId(() => nowMs - keepMs)('evt')
    const lastId = await store.webhooks.purgeEvents({ afterId, beforeId, limit: ROWS_PER_BATCH })
    if (lastId === undefined) return false
    afterId = lastId
    return true
  }
}

/** Goes through all entities once a day and deletes the trust scores that they had before. */
function purgeTrustHistory(
  { entities }: { entities: Pick<EnvironmentStore['entities'], 'purgeTrustHistory'> },
  keepMs: number,
): UpkeepTask {
  const first = { org_id: '', entity_id: '' }
  let after = first
  return daily(async (nowMs) => {
    const last = await entities.purgeTrustHistory({ after, day: dayOf(nowMs - keepMs), limit: ENTITIES_PER_BATCH })
    after = last ?? first
    return last !== undefined
  })
}

/** Vacuums the tables one after another, once an hour, so that other statements run in between. */
function vacuumHourly(database: Database): UpkeepTask {
  let startedMs = 0
  let tables: string[] = []
  return async (nowMs) => {
    if (tables.length === 0) {
      if (nowMs - startedMs < HOUR_MS) return false
      startedMs = nowMs
      tables = await tablesToVacuum(database)
    }
    await vacuum(database, tables.shift()!)
    return tables.length > 0
  }
}

function checkpointOnce(database: Database): UpkeepTask {
  return async () => {
    await checkpoint(database)
    return false
  }
}

function yesterday(nowMs: number): string {
  return dayOf(nowMs - DAY_MS)
}

function dayOf(ms: number): string {
  return isoTime(ms).slice(0, 10)
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
