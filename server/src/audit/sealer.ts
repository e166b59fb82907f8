/**
 * The sealer appends audit entries to their organization's Merkle tree (RFC 9162) and signs the head of the tree.
 *
 * An entry is in one of two states:
 *
 *     pending   written with the change that it describes, with a row in `audit_pending` and without a leaf
 *     sealed    has a leaf in `audit_leaves`, which a signed head covers; it never changes again
 *
 * The sealer runs in rounds. One round, on the node that holds the lease:
 *
 *     lease not held               → the round ends; another node seals
 *     lease held                   → list the organizations with pending entries, and for each of them:
 *       read                       → a batch of its pending entries, its last signed head, the frontier of its tree
 *       frontier differs from head → report the error and sign nothing; the entries stay pending
 *       frontier matches head      → append the leaves, sign the new head
 *       write                      → leaves, nodes, head, `audit.checkpoint` event and the removal from
 *                                    `audit_pending`, all in one statement
 *         written                  → the entries are sealed; go on if the batch was full
 *         lost to another sealer   → the leaves exist or the pending rows are gone, so the statement failed and wrote
 *                                    nothing; entries that are still pending are retried, at the latest next round
 *
 * The lease alone does not exclude a second sealer: a round may outlast it. The write decides which of the two wins.
 */
import type { Environment } from '../config.ts'
import { signCheckpoint } from '../core/audit/checkpoint.ts'
import { appendLeaves, frontierPositions, rootOfFrontier } from '../core/audit/merkle-tree.ts'
import type { NewId } from '../ids/new-id.ts'
import { nodeId } from '../ids/node-id.ts'
import type { SigningKey } from '../security/master-key.ts'
import type { Database } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { LeasedRounds } from '../store/leases/leased-rounds.ts'
import { eventRow } from '../store/write-path/record.ts'

/** Entries must be sealed within a second; rounds at twice that rate leave time for a slow one. */
const ROUND_EVERY_MS = 500
const BATCH_ENTRIES_MAX = 2_000
const LEASE = { name: 'sealer', holder: nodeId, seconds: 5 }

/** What a sealer needs. */
export interface SealerParts {
  environment: Environment
  database: Database
  store: EnvironmentStore
  signingKey: SigningKey
  newId: NewId
  nowMs: () => number
  onError: (error: unknown) => void
}

/** Seals the pending audit entries of one environment, in rounds under a lease. */
export class Sealer {
  readonly #parts: SealerParts
  readonly #rounds: LeasedRounds

  constructor(parts: SealerParts) {
    this.#parts = parts
    const lease = new Lease(parts.database, LEASE)
    this.#rounds = new LeasedRounds({
      lease,
      everyMs: ROUND_EVERY_MS,
      work: () => this.sealAll(),
      onError: parts.onError,
    })
  }

  start(): void {
    this.#rounds.start()
  }

  /** Runs one last round, for the entries written since the one before, and gives the lease back. */
  close(): Promise<void> {
    return this.#rounds.close(() => this.#rounds.run())
  }

  /** Seals all pending entries; an error in the log of one organization does not stop the others. */
  async sealAll(): Promise<void> {
    for (const organizationId of await this.#parts.store.organizationsToSeal()) {
      try {
        while (await sealBatch(organizationId, this.#parts)) {}
      } catch (error) {
        this.#parts.onError(error)
      }
    }
  }
}

/** Seals a batch of an organization's pending entries; true if there may be more. */
async function sealBatch(
  organizationId: string,
  { environment, store, signingKey, newId, nowMs }: SealerParts,
): Promise<boolean> {
  const entries = await store.entriesToSeal(organizationId, BATCH_ENTRIES_MAX)
  if (entries.length === 0) return false

  const last = await store.newestHead(organizationId)
  const size = last?.tree_size ?? 0
  const frontier = await store.nodeHashes(organizationId, frontierPositions(size))
  // INVARIANT: a new head extends the last one. Signing over altered nodes would make the alteration verifiable.
  if (last && rootOfFrontier(frontier) !== last.root_hash) {
    throw new Error(
      `the stored tree of ${organizationId} does not match its last signed head, nothing was sealed: run audit verify`,
    )
  }
  const grown = appendLeaves({ size, frontier, leaves: entries.map((entry) => entry.leaf_hash) })
  const signedAt = new Date(nowMs()).toISOString()
  const head = signCheckpoint(
    { environment, organizationId },
    { tree_size: grown.size, root_hash: grown.root, signed_at: signedAt },
    signingKey.privateKey,
  )

  await store.seal({
    organizationId,
    sealed: entries,
    leaves: entries.map(({ id, leaf_hash }, offset) => ({
      leaf_index: size + offset,
      entry_id: id,
      leaf_hash,
    })),
    nodes: grown.nodes,
    head,
    event: eventRow({ now: signedAt, newId }, 'audit.checkpoint', head),
  })
  return entries.length === BATCH_ENTRIES_MAX
}
