import type { KeyObject } from 'node:crypto'
import { type AuditEntry, leafHashOf } from '../../core/audit/audit-entry.ts'
import { type Checkpoint, type LogIdentity, verifyCheckpoint } from '../../core/audit/checkpoint.ts'
import { type HmacKeys, hasValidMac } from '../../core/audit/entry-mac.ts'
import {
  BLOCK_LEAVES,
  BLOCK_LEVEL,
  frontierOf,
  frontierPositions,
  isHash,
  rootOf,
  rootOfFrontier,
  storedRunsOf,
} from '../../core/audit/merkle-tree.ts'
import type { Environment } from '../../core/vocabularies.ts'
import type { RowOf } from '../schema/tables.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { boundedPlace } from '../write-path/entry-list.ts'
import { type HashPiece, hashesOfPieces, leafPieces } from './tree-nodes.ts'

/** An entry with its leaf and the newest head of its log, as JSON (`sealedLeaf`); null while it has no leaf. */
export type StoredEntry = RowOf<'audit_entries'> & { sealed_leaf: string | null }

/** Whether this service wrote an entry, with exactly the content that is stored now. */
export type IsAuthentic = (entry: StoredEntry) => boolean

/** The keys that tell which stored entries this service wrote. */
export interface EntryKeys {
  environment: Environment
  /** Of the current master key first, then of the retired ones. */
  auditKeys: HmacKeys
  /** Verifies the heads that are signed under the current master key. */
  headKey: KeyObject
}

/**
 * Creates the check of stored entries: the hash of their content has their MAC. A MAC of a retired master key counts only for an entry that was sealed: a thief of the key could write others for ever.
 */
export function createIsAuthentic({ environment, auditKeys: [current, ...retired], headKey }: EntryKeys): IsAuthentic {
  const isSealed = (row: StoredEntry, leafHash: string): boolean => {
    if (row.sealed_leaf === null) return false
    const leaf = JSON.parse(row.sealed_leaf) as SealedLeaf
    // INVARIANT: a head of the current key bounds the leaves. A thief of a retired key can sign with that one, and SQL can
    // insert any head, and a list with leaves that another list has; the nodes below a genuine head are all taken, and the
    // last block, which has no node, has to give the signed root.
    return (
      leaf.leaf_hash === leafHash &&
      leaf.leaf_index >= 0 &&
      leaf.leaf_index < leaf.head.tree_size &&
      isInTree(leaf) &&
      isSigned({ environment, organizationId: row.org_id }, leaf.head, headKey)
    )
  }
  return (row) => {
    const leafHash = hashOfStored(row)
    if (leafHash === null) return false
    const entry = { org_id: row.org_id, id: row.id, leaf_hash: leafHash, mac: row.mac }
    return hasValidMac([current], entry) || (hasValidMac(retired, entry) && isSealed(row, leafHash))
  }
}

interface SealedLeaf {
  leaf_index: number
  leaf_hash: string
  /** The leaves of its block, up to the end of the tree. */
  block: HashPiece[] | null
  /** The stored node over the block. */
  block_hash: string | null
  /** In the last block, which has no node yet: the stored nodes that the tree before it is made of, left to right. */
  nodes: string[] | null
  head: Checkpoint
}

/** Whether the stored node over the block of a leaf, or the root in the last block, was made with this leaf. */
function isInTree({ leaf_index, leaf_hash, block, block_hash, nodes, head }: SealedLeaf): boolean {
  const place = leaf_index % BLOCK_LEAVES
  const first = leaf_index - place
  const end = Math.min(first + BLOCK_LEAVES, head.tree_size)
  const leaves = hashesOfPieces(block ?? [], { first, end })
  // Another list may have this leaf: the list of the entry must not count because the leaves of others fit.
  if (leaves[place] !== leaf_hash || !leaves.every(isHash)) return false
  if (end - first === BLOCK_LEAVES) return rootOf(leaves) === block_hash
  return rootOfFrontier(storedFrontier(head.tree_size, [...(nodes ?? []), ...leaves])) === head.root_hash
}

/** The frontier of a tree, of the stored nodes and leaves that it is made of. */
function storedFrontier(size: number, parts: readonly string[]): string[] {
  let taken = 0
  return storedRunsOf(frontierPositions(size)).flatMap(({ first, end }) => {
    taken += end - first
    return frontierOf(parts.slice(taken - (end - first), taken))
  })
}

/** SQL: the hash at a place of the list of a statement; NULL beyond its end. */
export function hashAt(place: string, flush = 'flush'): string {
  return `encode(nullif(substring(${flush}.leaf_hashes FROM ${boundedPlace(place)} * 32 + 1 FOR 32), ''), 'hex')`
}

/** SQL: joins the sealed list of an entry (`entry`) as `flush`; its columns are NULL while the entry has no leaf. */
export const SEALED_FLUSH = `LEFT JOIN audit_flushes AS flush ON flush.org_id = entry.org_id AND flush.flush = entry.flush`

/** SQL: the index of the leaf of an entry, with `SEALED_FLUSH`. */
export const LEAF_INDEX = 'flush.first_leaf + entry.place AS leaf_index'

/** SQL: the index and the hash of the leaf of an entry; both are NULL while it has none. */
export const LEAF = `${LEAF_INDEX}, CASE WHEN flush.first_leaf IS NOT NULL THEN ${hashAt('entry.place')} END AS sealed_hash`

/** SQL: the first leaf of the block of `leaf.index`. */
const BLOCK_START = `(leaf.index / ${BLOCK_LEAVES} * ${BLOCK_LEAVES})`

/**
 * SQL: the stored nodes before the last block of the tree of `head`. A node of a stored level covers `BLOCK_LEAVES` of the
 * level below, so at most one less of them have no node above. The limit keeps the planner from reading a whole level.
 */
const NODES_BEFORE_LAST_BLOCK = `SELECT json_agg(encode(node.hash, 'hex') ORDER BY node.level DESC, node.index)
  FROM generate_series(${BLOCK_LEVEL}, 48, ${BLOCK_LEVEL}) AS stored (level)
  CROSS JOIN LATERAL (SELECT * FROM audit_nodes AS each WHERE each.org_id = flush.org_id AND each.level = stored.level
    AND each.index >= head.tree_size >> (stored.level + ${BLOCK_LEVEL}) << ${BLOCK_LEVEL} AND each.index < head.tree_size >> stored.level
    ORDER BY each.index LIMIT ${BLOCK_LEAVES}) AS node
  WHERE head.tree_size >> stored.level > 0`

/** SQL: the leaf of an entry with the newest head of its log, for queries that name the entry so; null without one. */
export function sealedLeaf(entry: string): string {
  const block = {
    org: 'flush.org_id',
    first: BLOCK_START,
    end: `least(${BLOCK_START} + ${BLOCK_LEAVES}, head.tree_size)`,
  }
  return `(SELECT json_build_object('leaf_index', leaf.index, 'leaf_hash', ${hashAt(`${entry}.place`)},
      'block', (SELECT json_agg(piece ORDER BY piece.first)
        FROM (${leafPieces(block)}) AS piece),
      'block_hash', (SELECT encode(hash, 'hex') FROM audit_nodes WHERE org_id = flush.org_id AND level = ${BLOCK_LEVEL}
        AND index = leaf.index / ${BLOCK_LEAVES}),
      'nodes', CASE WHEN leaf.index / ${BLOCK_LEAVES} = head.tree_size / ${BLOCK_LEAVES} THEN (${NODES_BEFORE_LAST_BLOCK}) END,
      'head', row_to_json(head))::text
    FROM audit_flushes AS flush
    CROSS JOIN LATERAL (SELECT flush.first_leaf + ${entry}.place AS index) AS leaf
    CROSS JOIN LATERAL (SELECT * FROM audit_heads WHERE org_id = flush.org_id ORDER BY tree_size DESC LIMIT 1) AS head
    WHERE flush.org_id = ${entry}.org_id AND flush.flush = ${entry}.flush)`
}

/** SQL: the entries about a subject: the one that shares its id, and those in the index `audit_entries_of_subject`. */
export function entriesAbout(organization: string, subject: string): string {
  return `(SELECT * FROM audit_entries WHERE org_id = ${organization} AND id = 'aud_' || substr(${subject}, 5) AND subject_id = ${subject}
    UNION ALL SELECT * FROM audit_entries WHERE org_id = ${organization} AND subject_id = ${subject}
      AND substr(id, 5) <> substr(subject_id, 5))`
}

/** False too for a forged head that has no canonical form. */
function isSigned(log: LogIdentity, head: Checkpoint, key: KeyObject): boolean {
  try {
    return verifyCheckpoint(log, { ...head, signed_at: new Date(head.signed_at).toISOString() }, key)
  } catch {
    return false
  }
}

/** The entry of a row, as it is hashed. */
export function entryOf(row: RowOf<'audit_entries'>): AuditEntry & { data: Record<string, unknown> } {
  return {
    id: row.id,
    trail_id: row.trail_id,
    type: row.type,
    occurred_at: row.occurred_at,
    actor: { type: row.actor_type as AuditEntry['actor']['type'], id: row.actor_id },
    request_id: row.request_id,
    subject: { type: row.subject_type, id: row.subject_id },
    data: dataOf(row),
  }
}

/** The hash of the leaf of an entry: of the content that was sealed, or of the present one while it has no leaf. */
export function leafHashOfListed(row: RowOf<'audit_entries'> & { sealed_hash: string | null }): string {
  return row.sealed_hash ?? hashOfStored(row) ?? ''
}

/** The hash of the content of an entry; null if an edited one has no canonical form any more. */
export function hashOfStored(row: RowOf<'audit_entries'>): string | null {
  try {
    return leafHashOf(row.org_id, entryOf(row))
  } catch {
    return null
  }
}
