import type { NewId } from '../ids/new-id.ts'
import type { Database } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { Erasure } from '../store/environment/erasures.ts'
import { eraseRows } from '../store/erasure/erase-rows.ts'
import { keepFraudAlone } from '../store/erasure/keep-fraud.ts'
import {
  decisionsWithTexts,
  expiredDecisions,
  haveFigures,
  REDACTED_TABLES,
  type Redaction,
  recordsWithTexts,
} from '../store/erasure/redactions.ts'
import { commitOrThrow, commitUnlessForestalled } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'

const ACTOR = { type: 'system', id: 'upkeep' } as const

/**
 * An erasure is looked at once more after this time. No statement and no answer that a node waits for takes as long, so nothing
 * that began before the approval can write after the second look.
 */
const SECOND_LOOK_AFTER_MS = 10 * 60_000

/** What erasing works with. */
export interface ErasingParts {
  store: Pick<EnvironmentStore, 'commit'> & {
    erasures: Pick<EnvironmentStore['erasures'], 'pending' | 'withDecisions'>
  }
  database: Database
  newId: NewId
}

/**
 * Erases what is stored of the entities whose erasure was approved and has its leaf on the log. Everything is done in steps that
 * may be repeated, so after a crash the next round goes on; an erasure is done when a second look, later, finds nothing left.
 */
export function eraseApproved(parts: ErasingParts): (nowMs: number) => Promise<boolean> {
  /** Erasures of which this node found nothing left, and that wait for the second look. */
  let clean: ReadonlySet<string> = new Set()
  return async (nowMs) => {
    const failures: unknown[] = []
    const stillClean = new Set<string>()
    for await (const erasures of parts.store.erasures.pending())
      for (const erasure of erasures.filter(({ is_confirmed, is_sealed }) => is_confirmed && is_sealed)) {
        const isSettled = nowMs - Date.parse(erasure.approved_at) >= SECOND_LOOK_AFTER_MS
        try {
          if (!clean.has(erasure.entry_id) || isSettled) while (await eraseOnce(parts, erasure, nowMs));
          if (isSettled) await end(parts, erasure, nowMs)
          else stillClean.add(erasure.entry_id)
        } catch (error) {
          failures.push(error) // one erasure that fails must not keep the others waiting
        }
      }
    clean = stillClean
    if (failures.length > 0) throw new AggregateError(failures, 'erasures failed')
    return false
  }
}

/** Goes once through everything that is stored of an entity; false if there was nothing left to erase. */
async function eraseOnce(parts: ErasingParts, erasure: Erasure, nowMs: number): Promise<boolean> {
  const { database } = parts
  let changed = 0
  if (await keepFraudAlone(database, erasure)) changed += 1
  changed += await eraseRows(database, erasure)
  for (const table of REDACTED_TABLES)
    for await (const redactions of recordsWithTexts(database, erasure, table))
      changed += await redact(parts, { erasure, redactions, nowMs })
  for await (const redactions of decisionsWithTexts(database, erasure))
    changed += await redact(parts, { erasure, redactions, nowMs })
  return changed > 0
}

/**
 * Records what is left of some records, then writes it: a record without its texts has another hash than its entry says, and
 * only an entry of its own tells that from an alteration.
 */
async function redact(
  { store, newId }: ErasingParts,
  { erasure, redactions, nowMs }: { erasure: Erasure; redactions: readonly Redaction[]; nowMs: number },
): Promise<number> {
  const { org_id: organizationId, entity_id, entry_id: erasure_id } = erasure
  const context = { organizationId, actor: ACTOR, now: new Date(nowMs).toISOString(), requestId: null, newId }
  const auditEntries = redactions.flatMap(({ subject, record_sha256 }) =>
    record_sha256 === undefined
      ? []
      : [
          auditEntryRow(context, {
            type: 'record.redacted',
            trailId: entity_id,
            subject,
            data: { entity_id, erasure_id, record_sha256 },
          }),
        ],
  )
  if (auditEntries.length > 0) await commitOrThrow(store, { organizationId, auditEntries })
  for (const { write } of redactions) await write()
  return redactions.length
}

async function end({ store }: ErasingParts, { org_id, entity_id }: Erasure, nowMs: number): Promise<void> {
  const endedErasures = [{ entity_id, done_at: new Date(nowMs).toISOString(), decisions_done_at: null }]
  await commitUnlessForestalled(store, { organizationId: org_id, endedErasures })
}

/**
 * Takes the documents and figures of decisions about erased entities, once these were made long enough ago: from then on only
 * the hashes of the log are left. An erasure whose decisions have none any more is not read again.
 */
export function eraseExpiredDecisions(parts: ErasingParts, keepMs: number): (nowMs: number) => Promise<boolean> {
  return async (nowMs) => {
    const madeBefore = new Date(nowMs - keepMs).toISOString()
    const failures: unknown[] = []
    for await (const erasures of parts.store.erasures.withDecisions())
      for (const erasure of erasures.filter(({ is_confirmed, is_sealed }) => is_confirmed && is_sealed))
        await endDecisions(parts, erasure, { madeBefore, nowMs }).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw new AggregateError(failures, 'erasures of decisions failed')
    return false
  }
}

async function endDecisions(
  parts: ErasingParts,
  erasure: Erasure,
  { madeBefore, nowMs }: { madeBefore: string; nowMs: number },
): Promise<void> {
  for await (const redactions of expiredDecisions(parts.database, erasure, madeBefore))
    await redact(parts, { erasure, redactions, nowMs })
  if (await haveFigures(parts.database, erasure)) return
  const { org_id: organizationId, entity_id } = erasure
  const endedErasures = [{ entity_id, done_at: null, decisions_done_at: new Date(nowMs).toISOString() }]
  await commitUnlessForestalled(parts.store, { organizationId, endedErasures })
}
