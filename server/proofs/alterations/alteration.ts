/** The scene that alterations are made in, and their form. */
import type { Database } from '../../src/store/database/database.ts'
import type { TestOrganization } from '../../tests/test-service.ts'

/** An organization with one record of every kind, all sealed. */
export interface Scene {
  organization: TestOrganization
  entity: string
  link: string
  consent: string
  snapshot: string
  /** The batch that corrected a transaction. */
  correction: string
  decision: string
  review: string
  outcome: string
  /** The proposal to take another outcome back, and its confirmation. */
  proposal: string
  retraction: string
  /** The approved step that merged the entity with another. */
  merge: string
  /** The approved step that set a legal hold on the entity. */
  hold: string
  policy: string
  revokedKey: string
  otherKey: string
}

/** An alteration: its statements or what it does to the documents of a decision, and what the report has to contain. */
export type Alteration = (AlterationBySql | AlterationOfDocuments) & {
  what: string
  named: (scene: Scene, database: Database) => string | RegExp | Promise<string | RegExp>
}

interface AlterationBySql {
  sql: (scene: Scene) => string | readonly string[]
}

interface AlterationOfDocuments {
  alter: (scene: Scene, database: Database) => Promise<void>
}

/** The leaf and the id of the first entry about a record. */
export async function leafOf(
  database: Database,
  { organization }: Scene,
  subject: string,
): Promise<{ leaf: number; entry: string }> {
  const [row] = await database.query<{ leaf: number; entry: string }>(
    `SELECT flush.first_leaf + entry.place AS leaf, entry.id AS entry FROM audit_entries AS entry
     JOIN audit_flushes AS flush ON flush.org_id = entry.org_id AND flush.flush = entry.flush
     WHERE entry.org_id = $1 AND entry.subject_id = $2 ORDER BY leaf LIMIT 1`,
    [organization.id, subject],
  )
  return row!
}
