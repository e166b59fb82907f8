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
  decision: string
  review: string
  outcome: string
  /** The proposal to take another outcome back, and its confirmation. */
  proposal: string
  retraction: string
  policy: string
  revokedKey: string
  otherKey: string
}

/** An alteration: its statements, and what the report has to contain. */
export interface Alteration {
  what: string
  sql: (scene: Scene) => string | readonly string[]
  named: (scene: Scene, database: Database) => string | RegExp | Promise<string | RegExp>
}

/** The leaf and the id of the first entry about a record. */
export async function leafOf(
  database: Database,
  { organization }: Scene,
  subject: string,
): Promise<{ leaf: number; entry: string }> {
  const [row] = await database.query<{ leaf: number; entry: string }>(
    `SELECT leaf.leaf_index AS leaf, entry.id AS entry FROM audit_entries AS entry
     JOIN audit_leaves AS leaf ON leaf.org_id = entry.org_id AND leaf.entry_id = entry.id
     WHERE entry.org_id = $1 AND entry.subject_id = $2 ORDER BY leaf.leaf_index LIMIT 1`,
    [organization.id, subject],
  )
  return row!
}
