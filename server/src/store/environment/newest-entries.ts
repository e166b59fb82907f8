import { batchedRead } from '../database/batched-read.ts'
import type { Database } from '../database/database.ts'

/** Which entries are meant: those of these types about one subject, on one log. */
export interface EntriesOfSubject {
  organizationId: string
  subjectId: string
  types: readonly string[]
}

/** The text that tells two questions for the newest entry apart. */
export function subjectText({ organizationId, subjectId, types }: EntriesOfSubject): string {
  return JSON.stringify([organizationId, subjectId, types])
}

/** Reads of the newest entry about a subject. */
export function newestEntryQueries(database: Database) {
  return {
    /** The id of the newest entry of these types about a subject; undefined if there is none. */
    newestEntry: batchedRead<EntriesOfSubject, string>({
      keyText: subjectText,
      load: (wanted) => readNewest(database, wanted),
    }),

    /** Which of these entries are on an organization's log. */
    async recordedEntries(organizationId: string, ids: readonly string[]): Promise<Set<string>> {
      const rows = await database.query<{ id: string }>(
        'SELECT id FROM audit_entries WHERE org_id = $1 AND id = ANY($2::text[])',
        [organizationId, ids],
      )
      return new Set(rows.map(({ id }) => id))
    },
  }
}

/** One probe of the index for each type, because a trail may have thousands of entries of other types, such as sign-ins. */
async function readNewest(database: Database, wanted: readonly EntriesOfSubject[]): Promise<Map<string, string>> {
  const probes = wanted.flatMap(({ types, ...subject }, number) => types.map((type) => ({ ...subject, number, type })))
  const rows = await database.query<{ number: number; id: string }>(
    `SELECT DISTINCT ON (wanted.number) wanted.number, newest.id
     FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[]) AS wanted (number, org_id, subject_id, type)
     CROSS JOIN LATERAL (
       SELECT id, seq FROM audit_entries AS entry WHERE entry.org_id = wanted.org_id
         AND entry.subject_id = wanted.subject_id AND entry.type = wanted.type AND entry.actor_type <> 'api_key'
       ORDER BY entry.seq DESC LIMIT 1) AS newest
     ORDER BY wanted.number, newest.seq DESC`,
    [
      probes.map(({ number }) => number),
      probes.map(({ organizationId }) => organizationId),
      probes.map(({ subjectId }) => subjectId),
      probes.map(({ type }) => type),
    ],
    { keepPlan: true },
  )
  return new Map(rows.map(({ number, id }) => [subjectText(wanted[number]!), id]))
}
