/** Audit entries that were written to the control database together with the rows they make, and wait for their log. */
import { type Database, DatabaseError, DatabaseUnavailable, type Queryable } from '../database/database.ts'
import type { EnvironmentStore } from '../environment/environment-store.ts'
import { hexOf } from '../environment/idempotency-keys.ts'
import { hashOfStored } from '../environment/stored-entry.ts'
import type { RowOf } from '../schema/tables.ts'
import type { AuditEntryRow } from '../write-path/record.ts'
import type { RefusedRow, RefusedRows } from './refused-rows.ts'

/** An entry, and the organization whose production log it is for. */
export interface EntryToRecord {
  organizationId: string
  entry: AuditEntryRow
}

const TRIES_MAX = 5

type Log = Pick<EnvironmentStore, 'commit' | 'isOwn' | 'sealed'> & {
  auditLog: Pick<EnvironmentStore['auditLog'], 'recordedEntries'>
}

/** Queues entries in the transaction that changes the rows they make. */
export async function queueEntries(
  transaction: Queryable,
  log: Pick<Log, 'sealed'>,
  entries: readonly EntryToRecord[],
): Promise<void> {
  const rows = entries.flatMap(({ organizationId, entry }) => log.sealed(organizationId, [entry]))
  // With their MAC, because an entry that was put into the queue with SQL must not reach the log.
  await transaction.query(
    `INSERT INTO entries_to_record (org_id, entry) SELECT * FROM unnest($1::text[], $2::text[])`,
    [
      entries.map(({ organizationId }) => organizationId),
      rows.map((row) => JSON.stringify({ ...row, mac: hexOf(row.mac) })),
    ],
  )
}

/** An entry in the queue; undefined if this service did not write it, or not as it is now. */
interface QueuedEntry {
  position: number
  organizationId: string
  entry: RowOf<'audit_entries'> | undefined
}

/** The queue, in the order of the changes that its entries describe. */
async function readQueue(control: Queryable, log: Pick<Log, 'isOwn'>): Promise<QueuedEntry[]> {
  const rows = await control.query<{ position: number; org_id: string; entry: string }>(
    'SELECT position, org_id, entry FROM entries_to_record ORDER BY position',
  )
  return rows.map((row) => {
    const entry = parsed(row)
    return { position: row.position, organizationId: row.org_id, entry: entry && log.isOwn(entry) ? entry : undefined }
  })
}

/** The rows of the queue that this service did not write, or not as they are now. */
export async function refusedEntries(control: Queryable, log: Pick<Log, 'isOwn'>): Promise<RefusedRow[]> {
  return (await readQueue(control, log)).flatMap((queued) => (queued.entry ? [] : [refusedRow(queued)]))
}

function refusedRow({ organizationId, position }: QueuedEntry): RefusedRow {
  return { table: 'entries_to_record', subject: `${organizationId} ${position}`, why: 'mac' }
}

/**
 * Writes the queued entries to their logs, in the order of the changes they describe, and takes them from the queue. Any
 * node may do so at any time: a node that stopped in between leaves nothing unrecorded.
 */
export async function recordQueued(
  control: Database,
  log: Log,
  refusedRows: Pick<RefusedRows, 'report'>,
): Promise<void> {
  const genuine: { position: number; entry: RowOf<'audit_entries'> }[] = []
  for (const queued of await readQueue(control, log)) {
    const { position, entry } = queued
    if (entry) genuine.push({ position, entry })
    // It stays as evidence.
    else refusedRows.report(refusedRow(queued))
  }
  if (genuine.length === 0) return
  const byOrganization = Map.groupBy(genuine, ({ entry }) => entry.org_id)
  for (const [organizationId, ofOrganization] of byOrganization)
    await record(
      log,
      organizationId,
      ofOrganization.map(({ entry }) => entry),
    )
  await control.query('DELETE FROM entries_to_record WHERE position = ANY($1::bigint[])', [
    genuine.map(({ position }) => position),
  ])
}

function parsed({ org_id, entry }: { org_id: string; entry: string }): RowOf<'audit_entries'> | undefined {
  try {
    const row = JSON.parse(entry)
    return { ...row, org_id, mac: Buffer.from(row.mac, 'hex') }
  } catch {
    return undefined
  }
}

/** The hash is made of the content anew: the queue was checked by its MAC, which covers the content alone. */
function entryToWrite(row: RowOf<'audit_entries'>): AuditEntryRow {
  const { org_id: _organization, mac: _mac, ...entry } = row
  return { ...entry, type: entry.type as AuditEntryRow['type'], leaf_hash: hashOfStored(row)! }
}

/** Another node may record the same entries at the same moment; then only those that are missing are written. */
async function record(log: Log, organizationId: string, rows: readonly RowOf<'audit_entries'>[]): Promise<void> {
  let missing = rows
  for (let tries = 1; missing.length > 0; tries++) {
    try {
      const auditEntries = missing.map(entryToWrite)
      const { lost } = await log.commit({ organizationId, auditEntries })
      if (!lost) return
      if (tries === TRIES_MAX) throw new DatabaseUnavailable(`queued entries could not be recorded (${lost})`)
    } catch (error) {
      if (!(error instanceof DatabaseError && error.isUniqueViolation) || tries === TRIES_MAX) throw error
    }
    const recorded = await log.auditLog.recordedEntries(
      organizationId,
      missing.map(({ id }) => id),
    )
    missing = missing.filter(({ id }) => !recorded.has(id))
  }
}
