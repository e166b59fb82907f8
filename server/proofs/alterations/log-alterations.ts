/** Alterations of the audit log itself. */
import { type Alteration, leafOf } from './alteration.ts'

/** SQL: the list of the three entries of the first policy, which have the leaves 1 to 3. */
const LIST_OF_POLICY = 'org_id = $1 AND first_leaf = 1'

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
    what: 'the hashes of an entry',
    sql: ({ decision }) =>
      `UPDATE audit_entries SET hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) WHERE org_id = $1 AND subject_id = '${decision}'`,
    named: async (scene, database) => `Entry ${(await leafOf(database, scene, scene.decision)).entry} was edited`,
  },
  {
    what: 'an entry with another MAC',
    sql: ({ review }) =>
      `UPDATE audit_entries SET mac = decode(repeat('00', 16), 'hex') WHERE org_id = $1 AND subject_id = '${review}'`,
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
    what: 'the place of an entry among those of its statement',
    sql: ({ review }) => `UPDATE audit_entries SET place = place + 1 WHERE org_id = $1 AND subject_id = '${review}'`,
    named: async (scene, database) =>
      `Entry ${(await leafOf(database, scene, scene.review)).entry} names another place on the log than its leaf.`,
  },
  {
    what: 'the statement of an entry',
    sql: ({ review }) => `UPDATE audit_entries SET flush = flush + 1 WHERE org_id = $1 AND subject_id = '${review}'`,
    named: async (scene, database) =>
      `Entry ${(await leafOf(database, scene, scene.review)).entry} was never sealed: the list of its statement does not name it.`,
  },
  {
    what: 'a deleted list of entries',
    sql: () => `DELETE FROM audit_flushes WHERE ${LIST_OF_POLICY}`,
    named: () => 'Leaves 1 to 3 are missing.',
  },
  {
    what: 'a list of entries that waits again',
    sql: () => [
      `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac) SELECT org_id, flush, entry_ids, leaf_hashes, mac FROM audit_flushes WHERE ${LIST_OF_POLICY}`,
      `DELETE FROM audit_flushes WHERE ${LIST_OF_POLICY}`,
    ],
    named: () => /The list of statement \d+, which begins with entry \w+, waits to be sealed, but was sealed before/,
  },
  {
    what: 'the hash of a leaf',
    sql: () =>
      `UPDATE audit_flushes SET leaf_hashes = overlay(leaf_hashes PLACING decode(repeat('aa', 32), 'hex') FROM 65) WHERE ${LIST_OF_POLICY}`,
    named: () => /sealed as leaf 3/,
  },
  {
    what: 'an id on a list of entries',
    sql: () =>
      `UPDATE audit_flushes SET entry_ids = overlay(entry_ids PLACING repeat('0', 26) FROM 53) WHERE ${LIST_OF_POLICY}`,
    named: () => `Entry aud_${'0'.repeat(26)}, sealed as leaf 3, was removed.`,
  },
  {
    what: 'the MAC of a list of entries',
    sql: () => `UPDATE audit_flushes SET mac = decode(repeat('00', 16), 'hex') WHERE ${LIST_OF_POLICY}`,
    named: () => 'The list of the entries from leaf 1 on was not written by this service',
  },
  {
    what: 'two leaves of one statement that changed places',
    sql: () =>
      `UPDATE audit_flushes SET entry_ids = substr(entry_ids, 27, 26) || left(entry_ids, 26) || substr(entry_ids, 53),
         leaf_hashes = substring(leaf_hashes FROM 33 FOR 32) || substring(leaf_hashes FOR 32) || substring(leaf_hashes FROM 65)
       WHERE ${LIST_OF_POLICY}`,
    named: () => /moved to leaf 1: it was sealed as leaf 2/,
  },
  {
    what: 'two statements that changed places',
    sql: () => [
      'UPDATE audit_flushes SET first_leaf = 999999 WHERE org_id = $1 AND first_leaf = 4',
      'UPDATE audit_flushes SET first_leaf = 4 WHERE org_id = $1 AND first_leaf = 6',
      'UPDATE audit_flushes SET first_leaf = 6 WHERE org_id = $1 AND first_leaf = 999999',
    ],
    named: () => /moved to leaf 4/,
  },
  {
    what: 'a truncated log with its heads',
    sql: () => [
      'DELETE FROM audit_flushes WHERE org_id = $1 AND first_leaf > 4',
      'DELETE FROM audit_heads WHERE org_id = $1',
      'DELETE FROM audit_nodes WHERE org_id = $1',
    ],
    named: () => /The log has 5 leaves, but this node signed a head of \d+ leaves/,
  },
  {
    what: 'a deleted log',
    sql: () =>
      ['audit_entries', 'audit_pending', 'audit_flushes', 'audit_nodes', 'audit_heads'].map(
        (table) => `DELETE FROM ${table} WHERE org_id = $1`,
      ),
    named: () => /The log has 0 leaves, but this node signed a head of \d+ leaves/,
  },
  {
    what: 'a stored node of the tree',
    sql: () =>
      `UPDATE audit_nodes SET hash = decode(repeat('cc', 32), 'hex') WHERE org_id = $1 AND level = 4 AND index = 0`,
    named: () => 'The stored node over leaves 0 to 15',
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
    sql: () =>
      `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac) VALUES ($1, 900000000, repeat('0', 26), '', '')`,
    named: () => `Entry aud_${'0'.repeat(26)} waits to be sealed, but does not exist.`,
  },
  {
    what: 'a copy of a list of entries',
    sql: () =>
      `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac) SELECT org_id, 900000000, entry_ids, leaf_hashes, mac FROM audit_flushes WHERE ${LIST_OF_POLICY}`,
    named: () => /The list of statement 900000000, .* waits to be sealed, but no entry names that statement/,
  },
]
