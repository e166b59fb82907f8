import { EVENT_TYPES } from '../../core/webhooks/event-types.ts'
import type { Database, Row } from '../database/database.ts'
import { Params } from '../schema/tables.ts'
import { ENTRY_COLUMNS, type ListedAuditEntry } from './audit-trail.ts'
import { entriesAbout, LEAF, SEALED_FLUSH } from './stored-entry.ts'

/** Which entries of a log are wanted. */
export interface AuditLogFilter {
  /** The id of the actor: an operator, an API key, a user of the operating system or a background job. */
  actor?: string | undefined
  type?: string | undefined
  /** The id of an entity, for everything on its trail; or of any other subject. */
  target?: string | undefined
  /** Ids, which sort by time. */
  fromId?: string | undefined
  beforeId?: string | undefined
}

/** One page of a log: the entries found, newest first, and where the next page begins. */
export interface AuditLogPage {
  entries: ListedAuditEntry[]
  next: AuditLogPosition | null
  /** The search ended at `next` because it had looked at as many entries as one call may, not because the page was full. */
  is_cut_short: boolean
}

/** A position in a log: an id, or a number on a trail where the filter names an entity. */
export type AuditLogPosition = { id: string } | { seq: number }

/** The most entries that one call looks at, for filters without an index: about 30 ms of a PostgreSQL server. */
export const ENTRIES_SEARCHED_MAX = 20_000

interface Search {
  /** The table, or a query in its place. */
  source: string
  where: string
  /** The column by which it reads, newest first. */
  order: 'id' | 'seq'
}

/** Reads of a whole log, as the console lists it. */
export function auditLogQueries(database: Database) {
  return {
    /**
     * Lists entries newest first. It reads along one index, and looks at `ENTRIES_SEARCHED_MAX` entries at most: what
     * API keys did has no index by actor or type, because that would cost every decision.
     */
    async page(
      organizationId: string,
      filter: AuditLogFilter,
      { after, limit }: { after: AuditLogPosition | undefined; limit: number },
    ): Promise<AuditLogPage> {
      const params = new Params()
      const { source, where, order } = searchOf(organizationId, { filter, after, params })
      const matches = matchesOf(filter, params)
      const entries = await database.query<ListedAuditEntry & Row>(
        `SELECT ${ENTRY_COLUMNS}, entry.seq, ${LEAF} FROM (
           SELECT * FROM (
             SELECT * FROM ${source} WHERE ${where} ORDER BY ${order} DESC LIMIT ${ENTRIES_SEARCHED_MAX}
           ) AS searched WHERE ${matches} ORDER BY ${order} DESC LIMIT ${params.add(limit + 1, 'bigint')}
         ) AS entry
         LEFT JOIN LATERAL (
           SELECT first_leaf, leaf_hashes FROM audit_flushes WHERE org_id = entry.org_id AND flush = entry.flush LIMIT 1
         ) AS flush ON true
         ORDER BY entry.${order} DESC`,
        params.values,
      )
      const page = entries.slice(0, limit)
      if (entries.length > limit) return { entries: page, next: positionOf(page.at(-1)!, order), is_cut_short: false }
      const last = await this.lastSearched(organizationId, filter, after)
      return { entries: page, next: last ? positionOf(last, order) : null, is_cut_short: last !== undefined }
    },

    /** The entry at which a search has to be cut short; undefined if it comes to the end of the log before. */
    async lastSearched(
      organizationId: string,
      filter: AuditLogFilter,
      after: AuditLogPosition | undefined,
    ): Promise<{ id: string; seq: number } | undefined> {
      const params = new Params()
      const { source, where, order } = searchOf(organizationId, { filter, after, params })
      const [last] = await database.query<{ id: string; seq: number }>(
        `SELECT id, seq FROM ${source} WHERE ${where} ORDER BY ${order} DESC LIMIT 1 OFFSET ${ENTRIES_SEARCHED_MAX - 1}`,
        params.values,
      )
      return last
    },

    /** One entry of a log, with its leaf. */
    async entry(organizationId: string, id: string): Promise<ListedAuditEntry | undefined> {
      const [entry] = await database.query<ListedAuditEntry & Row>(
        `SELECT ${ENTRY_COLUMNS}, entry.seq, ${LEAF} FROM audit_entries AS entry
         ${SEALED_FLUSH}
         WHERE entry.org_id = $1 AND entry.id = $2`,
        [organizationId, id],
      )
      return entry
    },

    /** The types of entries and the actors of a log, without those of API requests. */
    async vocabulary(organizationId: string): Promise<{ types: string[]; actors: string[] }> {
      const [types, actors] = [
        await distinct(database, organizationId, 'type'),
        await distinct(database, organizationId, 'actor_id'),
      ]
      return { types, actors }
    },
  }
}

/** Reads the distinct values of a column with one index look-up each, however many entries there are. */
async function distinct(database: Database, organizationId: string, column: 'type' | 'actor_id'): Promise<string[]> {
  const next = (after: string) =>
    `(SELECT ${column} FROM audit_entries WHERE org_id = $1 AND actor_type <> 'api_key' ${after} ORDER BY ${column} LIMIT 1)`
  const rows = await database.query<{ value: string }>(
    `WITH RECURSIVE found (value) AS (
       SELECT ${next('')} UNION ALL SELECT ${next(`AND ${column} > found.value`)} FROM found WHERE found.value IS NOT NULL
     ) SELECT value FROM found WHERE value IS NOT NULL LIMIT 500`,
    [organizationId],
  )
  return rows.map(({ value }) => value)
}

function searchOf(
  organizationId: string,
  { filter, after, params }: { filter: AuditLogFilter; after: AuditLogPosition | undefined; params: Params },
): Search {
  const organization = params.add(organizationId, 'text')
  const conditions = [`org_id = ${organization}`]
  let source = 'audit_entries'
  const { target, actor, type, fromId, beforeId } = filter
  const order = target?.startsWith('ent_') ? 'seq' : 'id'
  if (target && order === 'seq') conditions.push(`trail_id = ${params.add(target, 'text')}`)
  else if (target) source = `${entriesAbout(organization, params.add(target, 'text'))} AS about`
  else if (actor && !actor.startsWith('key_'))
    conditions.push(`actor_type <> 'api_key' AND actor_id = ${params.add(actor, 'text')}`)
  else if (type && !isWrittenByRequests(type))
    conditions.push(`actor_type <> 'api_key' AND type = ${params.add(type, 'text')}`)
  if (order === 'id') {
    if (fromId) conditions.push(`id >= ${params.add(fromId, 'text')}`)
    if (beforeId) conditions.push(`id < ${params.add(beforeId, 'text')}`)
  }
  if (after && 'id' in after && order === 'id') conditions.push(`id < ${params.add(after.id, 'text')}`)
  if (after && 'seq' in after && order === 'seq') conditions.push(`seq < ${params.add(after.seq, 'bigint')}`)
  return { source, where: conditions.join(' AND '), order }
}

function matchesOf({ actor, type, fromId, beforeId }: AuditLogFilter, params: Params): string {
  const conditions = [
    ...(actor ? [`actor_id = ${params.add(actor, 'text')}`] : []),
    ...(type ? [`type = ${params.add(type, 'text')}`] : []),
    ...(fromId ? [`id >= ${params.add(fromId, 'text')}`] : []),
    ...(beforeId ? [`id < ${params.add(beforeId, 'text')}`] : []),
  ]
  return conditions.length > 0 ? conditions.join(' AND ') : 'true'
}

function isWrittenByRequests(type: string): boolean {
  return (EVENT_TYPES as readonly string[]).includes(type)
}

function positionOf({ id, seq }: { id: string; seq: number }, order: Search['order']): AuditLogPosition {
  return order === 'id' ? { id } : { seq }
}
