/** Alterations of the audit log itself. */
import { type Alteration, leafOf } from './alteration.ts'

/** Each is detected, and the report names the entry, the leaf or the head. */
export const LOG_ALTERATIONS: readonly Alteration[] = [
  {
    what: 'an edited entry',
    sql: ({ review }) =>
      `UPDATE audit_entries SET data = replace(data, 'decline', 'approve') WHERE org_id = $1 AND subject_id = '${review}'`,
    named: async (scene, database) => `Entry ${(await leafOf(database, scene, scene.review)).entry} was edited`,
  },
  {
    what: 'an entry with another time',
    sql: ({ review }) =>
      `UPDATE audit_entries SET occurred_at = '2020-01-01' WHERE org_id = $1 AND subject_id = '${review}'`,
    named: async (scene, database) => `Entry ${(await leafOf(database, scene, scene.review)).entry} was edited`,
  },
  {
    what: 'an entry with another MAC',
    sql: ({ review }) =>
      `UPDATE audit_entries SET mac = repeat('0', 64) WHERE org_id = $1 AND subject_id = '${review}'`,
    named: async (scene, database) => `The MAC of entry ${(await leafOf(database, scene, scene.review)).entry}`,
  },
  {
    what: 'a deleted entry',
    sql: ({ review }) => `DELETE FROM audit_entries WHERE org_id = $1 AND subject_id = '${review}'`,
    named: ({ review }) => `The review ${review} is not on the log`,
  },
  {
    what: 'the number of an entry on its trail',
    sql: ({ outcome }) => `UPDATE audit_entries SET seq = seq + 50 WHERE org_id = $1 AND subject_id = '${outcome}'`,
    named: ({ entity }) => `The sequence numbers on the trail of ${entity} are not`,
  },
  {
    what: 'a deleted leaf',
    sql: () => 'DELETE FROM audit_leaves WHERE org_id = $1 AND leaf_index = 3',
    named: () => 'Leaf 3 is missing.',
  },
  {
    what: 'the hash of a leaf',
    sql: () => `UPDATE audit_leaves SET leaf_hash = repeat('a', 64) WHERE org_id = $1 AND leaf_index = 3`,
    named: () => /sealed as leaf 3|Leaves 2 to 3 are altered/,
  },
  {
    what: 'two leaves that changed places',
    sql: () => [
      'UPDATE audit_leaves SET leaf_index = 999999 WHERE org_id = $1 AND leaf_index = 2',
      'UPDATE audit_leaves SET leaf_index = 2 WHERE org_id = $1 AND leaf_index = 6',
      'UPDATE audit_leaves SET leaf_index = 6 WHERE org_id = $1 AND leaf_index = 999999',
    ],
    named: () => /moved to leaf 2/,
  },
  {
    what: 'a truncated log with its heads',
    sql: () => [
      'DELETE FROM audit_leaves WHERE org_id = $1 AND leaf_index > 4',
      'DELETE FROM audit_heads WHERE org_id = $1',
      'DELETE FROM audit_nodes WHERE org_id = $1',
    ],
    named: () => /The log has 5 leaves, but this node signed a head of \d+ leaves/,
  },
  {
    what: 'a deleted log',
    sql: () =>
      ['audit_entries', 'audit_leaves', 'audit_nodes', 'audit_heads'].map(
        (table) => `DELETE FROM ${table} WHERE org_id = $1`,
      ),
    named: () => /The log has 0 leaves, but this node signed a head of \d+ leaves/,
  },
  {
    what: 'a stored node of the tree',
    sql: () => `UPDATE audit_nodes SET hash = repeat('c', 64) WHERE org_id = $1 AND level = 2 AND index = 1`,
    named: () => 'The stored node over leaves 4 to 7',
  },
  {
    what: 'the root of a head',
    sql: () => `UPDATE audit_heads SET root_hash = repeat('f', 64) WHERE org_id = $1`,
    named: () => /The head of \d+ leaves has no valid signature/,
  },
  {
    what: 'the time of a head',
    sql: () => `UPDATE audit_heads SET signed_at = '2020-01-01' WHERE org_id = $1`,
    named: () => /The head of \d+ leaves has no valid signature/,
  },
  {
    what: 'deleted heads',
    sql: () => 'DELETE FROM audit_heads WHERE org_id = $1',
    named: () => /The head of \d+ leaves that this node signed at \S+ is missing/,
  },
  {
    what: 'a queued entry that does not exist',
    sql: () => `INSERT INTO audit_pending VALUES ($1, 'trail', 1, 'aud_none')`,
    named: () => 'Entry aud_none waits to be sealed, but does not exist.',
  },
]
