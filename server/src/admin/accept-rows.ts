import { timeOfId } from '../ids/new-id.ts'
import type { Installation } from '../installation/installation.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { EntriesOfSubject } from '../store/environment/newest-entries.ts'
import type { WrittenRow } from '../store/power/control-database.ts'
import { RESTORABLE_TABLES } from '../store/power/power-tables.ts'
import { replaceSealed } from '../store/power/reseal-rows.ts'
import { Undone, unlessUndone } from '../store/power/undone.ts'
import { actorOf, type InstallationAct, type Reasoned, withReason } from './act.ts'
import { productionEntry, sessionEnded } from './entries.ts'

/** A subject whose rows are refused, because the log has lost their entry or has a newer one. */
export interface RefusedSubject {
  /** The id of an operator, an account or a passkey, or of a person at an identity provider. */
  subject: string
  organization_id: string
  tables: string[]
  /** What the rows say, for people. */
  says: string
  /** When the newest entry was made that a refused row names as its own, by its id: the log may have lost it. */
  written_at: string
  /** The newest entry that the log has about the subject, where the rows' own is an earlier one: it may have ended them. */
  superseded_by: { type: string; occurred_at: string } | null
  is_accepted: boolean
}

/** What became of rows that are refused. */
export interface AcceptedRows {
  subjects: RefusedSubject[]
  /** Sessions that were refused, and are ended: their people sign in again. */
  sessions_ended: number
}

/**
 * Lets rows that grant power count again after only one of the databases was restored from a backup: this service wrote
 * them, but the log on production has lost the entry that made them so, or has a newer one. Rows that the log has superseded
 * are accepted only by name, because the newer entry may have ended them. An act without a reason changes nothing and
 * returns what is refused.
 *
 * All rows of a subject get the same new entry, which is then the newest about each of them.
 */
export async function acceptRows(
  installation: Installation,
  asked: InstallationAct,
  { superseded }: { superseded: readonly string[] },
): Promise<AcceptedRows> {
  const act = withReason(asked)
  const { control } = installation.storage
  await control.recordQueued()
  const written = (await Promise.all(RESTORABLE_TABLES.map((table) => control.writtenRows(table)))).flat()
  const bySubject = Map.groupBy(written, ({ entries }) => `${entries.organizationId} ${entries.subjectId}`)
  const subjects: RefusedSubject[] = []
  for (const rows of bySubject.values()) {
    if (rows.every(({ isNewest }) => isNewest)) continue
    const refused = await describe(installation.stores.production, rows)
    const isMeant = isReasoned(act) && (!refused.superseded_by || superseded.includes(refused.subject))
    subjects.push({ ...refused, is_accepted: isMeant && (await accept(installation, act, rows)) })
  }
  return { subjects, sessions_ended: isReasoned(act) ? await endRefusedSessions(installation) : 0 }
}

function isReasoned(act: InstallationAct): act is Reasoned<InstallationAct> {
  return act.reason !== undefined
}

async function describe(
  production: EnvironmentStore,
  rows: readonly WrittenRow[],
): Promise<Omit<RefusedSubject, 'is_accepted'>> {
  const { organizationId, subjectId } = rows[0]!.entries
  const stale = rows.filter(({ isNewest }) => !isNewest)
  const superseding = (await Promise.all(stale.map((row) => supersedingEntries(production, row)))).flat()
  const about = await Promise.all(
    superseding.map((of) => production.auditRecords.entriesAbout(of.organizationId, [of.subjectId], of.types)),
  )
  const newest = about
    .flatMap((bySubject) => [...bySubject.values()].flat())
    .sort((one, other) => one.occurred_at.localeCompare(other.occurred_at))
    .at(-1)
  return {
    subject: subjectId,
    organization_id: organizationId,
    tables: [...new Set(stale.map(({ table }) => table))],
    says: rows.flatMap(saysOf).join(', '),
    written_at: new Date(Math.max(...stale.map(({ row }) => timeOfId(String(row.entry_id))))).toISOString(),
    superseded_by: newest ? { type: newest.type, occurred_at: newest.occurred_at } : null,
  }
}

/** The entries whose newest is later than what a row names: those that make such rows, those that end them, or both. */
async function supersedingEntries(
  production: EnvironmentStore,
  { row, entries, endings }: WrittenRow,
): Promise<EntriesOfSubject[]> {
  const named = [{ of: entries, id: row.entry_id }, ...(endings ? [{ of: endings, id: row.after_entry_id }] : [])]
  const isLater = await Promise.all(
    named.map(async ({ of, id }) => {
      if (id !== null && !(await production.auditLog.recordedEntries(of.organizationId, [String(id)])).has(String(id)))
        return false
      return ((await production.auditLog.newestEntry(of)) ?? null) !== id
    }),
  )
  return named.filter((_, index) => isLater[index]).map(({ of }) => of)
}

function saysOf({ table, row }: WrittenRow): string[] {
  if (table === 'operators') return [`${row.email} as ${row.role}${row.disabled_at === null ? '' : ', removed'}`]
  if (table === 'accounts') return [String(row.email)]
  if (table === 'passkeys' || table === 'account_identities') return [`signs in to ${row.account_id}`]
  return []
}

type RestorableTable = (typeof RESTORABLE_TABLES)[number]

/** What the subjects of a table's rows are. */
const SUBJECT_TYPES: Record<RestorableTable, string> = {
  operators: 'operator',
  operator_codes: 'operator',
  accounts: 'account',
  account_codes: 'account',
  recovery_codes: 'account',
  passkeys: 'passkey',
  account_identities: 'identity',
}

/** For which account an operator acts, and whether still: entries say so, and those that did may be lost. */
function membershipOf(rows: readonly WrittenRow[]) {
  const operator = rows.find(({ table }) => table === 'operators')?.row
  if (!operator) return {}
  return { account_id: operator.account_id as string | null, is_removed: operator.disabled_at !== null }
}

/** False if one of the rows was changed meanwhile: then all stay as they are, and nothing is recorded. */
async function accept(
  installation: Installation,
  act: Reasoned<InstallationAct>,
  rows: readonly WrittenRow[],
): Promise<boolean> {
  const { control } = installation.storage
  const { organizationId, subjectId } = rows[0]!.entries
  const entry = productionEntry(
    installation,
    { organizationId, actor: actorOf(act) },
    {
      type: 'access.restored',
      trailId: subjectId,
      subject: { type: SUBJECT_TYPES[rows[0]!.table as RestorableTable], id: subjectId },
      data: {
        rows: [...new Set(rows.map(({ table }) => table))],
        earlier_entry_ids: [...new Set(rows.map(({ row }) => String(row.entry_id)))],
        reason: act.reason,
        ...membershipOf(rows),
      },
    },
  )
  const accepted = await Promise.all(
    rows.map(async ({ table, row, endings }) => {
      const after = endings && { after_entry_id: await control.newestEnding(endings) }
      const { entry_id, mac } = control.seal(table, { ...row, ...after }, entry)
      return { table, was: String(row.mac), change: { ...after, entry_id, mac } }
    }),
  )
  return unlessUndone(
    control.recorded(async (transaction, record) => {
      for (const { table, was, change } of accepted)
        if (!(await replaceSealed(transaction, table, { was, change }))) throw new Undone()
      record(entry)
      return true
    }),
  )
}

async function endRefusedSessions(installation: Installation): Promise<number> {
  const { control } = installation.storage
  // Of people who signed in meanwhile, so that their sessions do not count as refused.
  await control.recordQueued()
  const refused = (await control.writtenRows('sessions')).filter(({ isNewest }) => !isNewest)
  for (const [accountId, sessions] of Map.groupBy(refused, ({ row }) => String(row.account_id))) {
    const ids = sessions.map(({ row }) => String(row.id))
    await control.recorded(async (transaction, record) => {
      await transaction.query('DELETE FROM sessions WHERE id = ANY($1::text[])', [ids])
      record(...ids.map((id) => sessionEnded(installation, accountId, id)))
    })
  }
  return refused.length
}
