import type { AuditActor } from '../../core/audit/audit-entry.ts'
import type { Database, Row } from '../database/database.ts'
import { type StoredDocuments, withDocuments } from '../documents/documents.ts'
import { columnsOf, type NewRow, type RowOf } from '../schema/tables.ts'
import type { EntryData } from '../write-path/entry-data.ts'
import type { HashedTable } from '../write-path/record-hash.ts'
import { DECISION_COLUMNS, type DecisionRow } from './decisions.ts'
import { entriesAbout } from './stored-entry.ts'

/** Tables whose rows have an id and an entry of the audit log that says how they came to be. */
export type RecordedTable = Exclude<HashedTable, 'policy_steps'> | 'api_keys' | 'decisions' | 'entities'

/** The most records that one statement checks for an entry. */
const RECORDS_PER_READ = 500

/** What an entry says about its subject, and when. */
export type EntryAbout = EntryData & Pick<RowOf<'audit_entries'>, 'occurred_at'>

/** Reads of the records that audit entries speak of. */
export function auditRecordQueries(database: Database) {
  return {
    /** The rows with these ids, as the audit entry hashed them. */
    async byId<T extends Exclude<HashedTable, 'policy_steps'> | 'api_keys'>(
      table: T,
      organizationId: string,
      ids: readonly string[],
    ): Promise<Map<string, NewRow<T>>> {
      const columns = columnsOf(table).filter((column) => column !== 'org_id')
      const rows = await database.query<Row & { id: string }>(
        `SELECT ${columns.join(', ')} FROM ${table} WHERE org_id = $1 AND id = ANY($2::text[])`,
        [organizationId, ids],
      )
      return new Map(rows.map((row) => [row.id, row as unknown as NewRow<T>]))
    },

    /** Which of these entities exist. */
    async existingEntities(organizationId: string, ids: readonly string[]): Promise<Set<string>> {
      const rows = await database.query<{ id: string }>(
        'SELECT id FROM entities WHERE org_id = $1 AND id = ANY($2::text[])',
        [organizationId, ids],
      )
      return new Set(rows.map(({ id }) => id))
    },

    /** Decisions with their documents. */
    async decisions(
      organizationId: string,
      ids: readonly string[],
    ): Promise<Map<string, DecisionRow & StoredDocuments>> {
      const rows = await database.query<DecisionRow & Row>(
        `SELECT ${DECISION_COLUMNS} FROM decisions AS decision WHERE decision.org_id = $1 AND decision.id = ANY($2::text[])`,
        [organizationId, ids],
      )
      return new Map((await withDocuments(database, rows)).map((row) => [row.id, row]))
    },

    /** The last entry of some types in each of these trails. */
    async lastEntries(
      organizationId: string,
      trailIds: readonly string[],
      types: readonly string[],
    ): Promise<Map<string, { id: string; type: string }>> {
      const rows = await database.query<{ trail_id: string; id: string; type: string }>(
        `SELECT DISTINCT ON (trail_id) trail_id, id, type FROM audit_entries
         WHERE org_id = $1 AND trail_id = ANY($2::text[]) AND type = ANY($3::text[]) ORDER BY trail_id, seq DESC`,
        [organizationId, trailIds, types],
      )
      return new Map(rows.map(({ trail_id, ...entry }) => [trail_id, entry]))
    },

    /** Which of these subjects an entry of one of the types speaks of. */
    async subjectsWithEntry(
      organizationId: string,
      subjectIds: readonly string[],
      types: readonly string[],
    ): Promise<Set<string>> {
      const rows = await database.query<{ subject_id: string }>(
        `SELECT wanted.subject_id FROM unnest($2::text[]) AS wanted (subject_id)
         WHERE EXISTS (SELECT 1 FROM ${entriesAbout('$1', 'wanted.subject_id')} AS entry WHERE entry.type = ANY($3::text[]))`,
        [organizationId, subjectIds, types],
      )
      return new Set(rows.map(({ subject_id }) => subject_id))
    },

    /** Whether a later request replaced what a decision offered. */
    async isReplaced(organizationId: string, decisionId: string): Promise<boolean> {
      return (await this.subjectsWithEntry(organizationId, [decisionId], ['decision.offer_replaced'])).size > 0
    },

    /** The entries of these types about each of these subjects, oldest first, with what they say. */
    async entriesAbout(
      organizationId: string,
      subjectIds: readonly string[],
      types: readonly string[],
    ): Promise<Map<string, EntryAbout[]>> {
      const rows = await database.query<EntryAbout & Row>(
        `SELECT trail_id, subject_id, type, occurred_at, data, hashes FROM audit_entries
         WHERE org_id = $1 AND subject_id = ANY($2::text[]) AND type = ANY($3::text[]) AND actor_type <> 'api_key'
         ORDER BY trail_id, seq`,
        [organizationId, subjectIds, types],
      )
      return Map.groupBy(rows, ({ subject_id }) => subject_id)
    },

    /** When an operator signed in, or joined in a session that was open: the times at which their sessions began. */
    async signIns(organizationId: string, operatorId: string): Promise<string[]> {
      const rows = await database.query<{ occurred_at: string }>(
        `SELECT occurred_at FROM audit_entries WHERE org_id = $1 AND subject_id = $2
         AND type IN ('operator.signed_in', 'operator.joined') AND actor_type <> 'api_key'`,
        [organizationId, operatorId],
      )
      return rows.map(({ occurred_at }) => occurred_at)
    },

    /** The policy that the pointer names, and the one whose activation is the newest on the log; null where there is none. */
    async activePolicy(organizationId: string): Promise<{ stored: string | null; recorded: string | null }> {
      const [row] = await database.query<{ stored: string | null; recorded: string | null }>(
        `SELECT (SELECT policy_id || ' ' || checksum FROM active_policies WHERE org_id = $1) AS stored,
           (SELECT subject_id || ' ' || (data::json ->> 'policy_checksum') FROM audit_entries
            WHERE org_id = $1 AND type = 'policy.activated' AND actor_type <> 'api_key' ORDER BY id DESC LIMIT 1) AS recorded`,
        [organizationId],
      )
      return row!
    },

    /** Who made each of these records: the actor of the first entry of its trail. */
    async creators(
      organizationId: string,
      ids: readonly string[],
    ): Promise<Map<string, { type: AuditActor['type']; id: string }>> {
      const rows = await database.query<{ trail_id: string; type: AuditActor['type']; id: string }>(
        `SELECT trail_id, actor_type AS type, actor_id AS id FROM audit_entries
         WHERE org_id = $1 AND trail_id = ANY($2::text[]) AND seq = 1`,
        [organizationId, ids],
      )
      return new Map(rows.map(({ trail_id, ...actor }) => [trail_id, actor]))
    },

    /** All steps of these policies. */
    async stepsOfPolicies(organizationId: string, policyIds: readonly string[]): Promise<NewRow<'policy_steps'>[]> {
      const columns = columnsOf('policy_steps').filter((column) => column !== 'org_id')
      return database.query<RowOf<'policy_steps'> & Row>(
        `SELECT ${columns.join(', ')} FROM policy_steps WHERE org_id = $1 AND policy_id = ANY($2::text[]) ORDER BY policy_id, number`,
        [organizationId, policyIds],
      )
    },

    /** Ids of all rows of a table, in pages; `is_known` says whether an entry of one of these types is about the row. */
    async *withEntries(
      table: RecordedTable,
      organizationId: string,
      types: readonly string[],
    ): AsyncGenerator<{ id: string; is_known: boolean }[]> {
      for (let after = ''; ; ) {
        const rows = await database.query<{ id: string; is_known: boolean }>(
          `WITH page AS MATERIALIZED (SELECT id FROM ${table} WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3)
           SELECT page.id, (SELECT true FROM ${entriesAbout('$1', 'page.id')} AS entry
             WHERE entry.type = ANY($4::text[]) LIMIT 1) IS NOT NULL AS is_known
           FROM page ORDER BY page.id`,
          [organizationId, after, RECORDS_PER_READ, types],
        )
        yield rows
        if (rows.length < RECORDS_PER_READ) return
        after = rows.at(-1)!.id
      }
    },

    /** Policies that have more steps than the audit log says were taken. */
    async policiesWithUnknownSteps(organizationId: string): Promise<string[]> {
      const rows = await database.query<{ policy_id: string }>(
        `SELECT policy_id FROM policy_steps WHERE org_id = $1 GROUP BY policy_id
         HAVING count(*) > (SELECT count(*) FROM audit_entries AS entry WHERE entry.org_id = $1 AND entry.trail_id = policy_id
           AND entry.type LIKE 'policy.%') ORDER BY policy_id LIMIT 100`,
        [organizationId],
      )
      return rows.map(({ policy_id }) => policy_id)
    },
  }
}
