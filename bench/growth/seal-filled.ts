import { setTimeout as sleep } from 'node:timers/promises'
import { signCheckpoint } from '../../server/src/core/audit/checkpoint.ts'
import {
  BLOCK_LEVEL,
  frontierOf,
  frontierPositions,
  rootOfFrontier,
  storedRunsOf,
} from '../../server/src/core/audit/merkle-tree.ts'
import { loadMasterKey } from '../../server/src/security/master-key-file.ts'
import type { Sql } from '../load/sandbox-sql.ts'

/**
 * Seals the inserted audit entries (their ids match `like`) as the service's sealer would, but a million in seconds:
 * lists with their leaves, the nodes of each stored level, and a head signed with the installation's own key. If the tree were wrong,
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
    `WITH lists AS (
       INSERT INTO audit_flushes (org_id, flush, entry_ids, leaf_hashes, mac, first_leaf)
       SELECT org_id, flush, string_agg(substr(id, 5), '' ORDER BY place), string_agg(sha256(convert_to(id, 'UTF8')), ''::bytea ORDER BY place),
         decode(repeat('00', 16), 'hex'),
         $2::bigint + (sum(count(*)) OVER (ORDER BY flush) - count(*))::bigint
       FROM audit_entries WHERE org_id = $1 AND id LIKE $3 GROUP BY org_id, flush
       RETURNING length(entry_ids) / 26 AS leaves
     ) SELECT sum(leaves) AS count FROM lists`,
    [organizationId, before, like],
  )
  const size = before + Number(sealed!.count)
  for (let level = BLOCK_LEVEL; size >= 2 ** level; level += BLOCK_LEVEL)
    await completeLevel(sql, { organizationId, level, before, size })
  await signHead(sql, { organizationId, dataDir, size })
}

/** SQL: the index and hash of everything that is stored of one level of the tree of the organization `$1`. */
function storedLevel(level: number): string {
  if (level > 0) return `SELECT index, hash FROM audit_nodes WHERE org_id = $1 AND level = ${level}`
  return `SELECT first_leaf + place AS index, substring(leaf_hashes FROM place * 32 + 1 FOR 32) AS hash
    FROM audit_flushes CROSS JOIN generate_series(0, length(entry_ids) / 26 - 1) AS place WHERE org_id = $1`
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
  const group = 2 ** BLOCK_LEVEL
  let nodes = `SELECT * FROM (${storedLevel(level - BLOCK_LEVEL)}) AS below WHERE index >= $2::bigint * ${group} AND index < $3::bigint * ${group}`
  for (let step = 0; step < BLOCK_LEVEL; step++)
    nodes = `SELECT index / 2 AS index, sha256('\\x01'::bytea || string_agg(hash, ''::bytea ORDER BY index)) AS hash
      FROM (${nodes}) AS below GROUP BY index / 2`
  await sql(
    `INSERT INTO audit_nodes (org_id, level, index, hash) SELECT $1, ${level}, index, hash FROM (${nodes}) AS node`,
    [organizationId, first, end],
  )
}

async function signHead(
  sql: Sql,
  { organizationId, dataDir, size }: { organizationId: string; dataDir: string; size: number },
): Promise<void> {
  const frontier: string[] = []
  for (const { level, first, end } of storedRunsOf(frontierPositions(size))) {
    const rows = await sql<{ hash: string }>(
      `SELECT encode(hash, 'hex') AS hash FROM (${storedLevel(level)}) AS stored WHERE index >= $2 AND index < $3 ORDER BY index`,
      [organizationId, first, end],
    )
    frontier.push(...frontierOf(rows.map(({ hash }) => hash)))
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
