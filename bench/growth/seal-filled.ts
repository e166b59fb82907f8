import { setTimeout as sleep } from 'node:timers/promises'
import { signCheckpoint } from '../../server/src/core/audit/checkpoint.ts'
import { frontierPositions, rootOfFrontier } from '../../server/src/core/audit/merkle-tree.ts'
import { loadMasterKey } from '../../server/src/security/master-key-file.ts'
import type { Sql } from '../load/sandbox-sql.ts'

/**
 * Seals the inserted audit entries (their ids match `like`) as the service's sealer would, but a million in seconds:
 * leaves, complete subtrees level by level, and a head signed with the installation's own key. If the tree were wrong,
 * the sealer would detect it at its next seal and log it.
 */
export async function sealFilled(sql: Sql, { dataDir, like }: { dataDir: string; like: string }): Promise<void> {
  await untilSealed(sql)
  const [head] = await sql<{ org_id: string; tree_size: string }>(
    'SELECT org_id, tree_size FROM audit_heads ORDER BY tree_size DESC LIMIT 1',
  )
  const { org_id: organizationId } = head!
  const before = Number(head!.tree_size)
  const [sealed] = await sql<{ count: string }>(
    `WITH leaves AS (
       INSERT INTO audit_leaves (org_id, leaf_index, entry_id, leaf_hash)
       SELECT org_id, $2::bigint - 1 + row_number() OVER (ORDER BY trail_id, seq), id, leaf_hash FROM audit_entries WHERE org_id = $1 AND id LIKE $3
       RETURNING 1
     ) SELECT count(*) AS count FROM leaves`,
    [organizationId, before, like],
  )
  const size = before + Number(sealed!.count)
  for (let level = 1; size >= 2 ** level; level++) await completeLevel(sql, { organizationId, level, before, size })
  await signHead(sql, { organizationId, dataDir, size })
}

/** Waits until the sealer has sealed the entries that the service wrote itself. */
async function untilSealed(sql: Sql): Promise<void> {
  while ((await sql('SELECT FROM audit_pending LIMIT 1')).length > 0) await sleep(50)
}

async function completeLevel(
  sql: Sql,
  { organizationId, level, before, size }: { organizationId: string; level: number; before: number; size: number },
): Promise<void> {
  const first = Math.floor(before / 2 ** level)
  const end = Math.floor(size / 2 ** level)
  const below =
    level === 1
      ? 'SELECT leaf_index AS index, leaf_hash AS hash FROM audit_leaves WHERE org_id = $1'
      : `SELECT index, hash FROM audit_nodes WHERE org_id = $1 AND level = ${level - 1}`
  await sql(
    `INSERT INTO audit_nodes (org_id, level, index, hash)
     SELECT $1, ${level}, index / 2, encode(sha256('\\x01'::bytea || string_agg(decode(hash, 'hex'), ''::bytea ORDER BY index)), 'hex')
     FROM (${below}) AS below WHERE index >= $2::bigint * 2 AND index < $3::bigint * 2 GROUP BY index / 2`,
    [organizationId, first, end],
  )
}

async function signHead(
  sql: Sql,
  { organizationId, dataDir, size }: { organizationId: string; dataDir: string; size: number },
): Promise<void> {
  const frontier: string[] = []
  for (const { level, index } of frontierPositions(size)) {
    const [row] = await sql<{ hash: string }>(
      level === 0
        ? 'SELECT leaf_hash AS hash FROM audit_leaves WHERE org_id = $1 AND leaf_index = $2'
        : `SELECT hash FROM audit_nodes WHERE org_id = $1 AND level = ${level} AND index = $2`,
      [organizationId, index],
    )
    frontier.push(row!.hash)
  }
  const { privateKey } = loadMasterKey({ masterKey: undefined, dataDir })!.auditSigningKey('sandbox')
  const signed = signCheckpoint(
    { environment: 'sandbox', organizationId },
    { tree_size: size, root_hash: rootOfFrontier(frontier), signed_at: new Date().toISOString() },
    privateKey,
  )
  await sql(
    'INSERT INTO audit_heads (org_id, tree_size, root_hash, signed_at, key_id, signature) VALUES ($1, $2, $3, $4, $5, $6)',
    [organizationId, signed.tree_size, signed.root_hash, signed.signed_at, signed.key_id, signed.signature],
  )
}
