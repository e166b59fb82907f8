import type { Environment } from '../config.ts'
import { signCheckpoint } from '../core/audit/checkpoint.ts'
import { appendLeaves, frontierPositions, rootOfFrontier } from '../core/audit/merkle-tree.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import type { NewId } from '../ids/ids.ts'
import { nodeId } from '../ids/node-id.ts'
import type { SigningKey } from '../security/master-key.ts'
import type { Database } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { LeasedRounds } from '../store/leases/leased-rounds.ts'

/** Entries are sealed at least once a second; twice as often leaves room for a slow round. */
const ROUND_EVERY_MS = 500
const ENTRIES_PER_SEAL = 2_000
const LEASE = { name: 'sealer', holder: nodeId, seconds: 5 }

/** What a sealer works with. */
export interface SealerParts {
  environment: Environment
  database: Database
  store: EnvironmentStore
  signingKey: SigningKey
  newId: NewId
  nowMs: () => number
  onError: (error: unknown) => void
}

/**
 * Gives waiting audit entries their leaves and signs the head of each organization's tree. One node at a time does
 * so, by lease; should two ever do it at once, the primary key of the leaves lets one win and the other try again.
 */
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

  /** Seals once more what has come in, and ends. */
  close(): Promise<void> {
    return this.#rounds.close(() => this.#rounds.run())
  }

  /** Seals everything that waits; trouble with one organization's log does not hold up the others'. */
  async sealAll(): Promise<void> {
    for (const organizationId of await this.#parts.store.organizationsToSeal()) {
      try {
        while (await sealSome(organizationId, this.#parts)) {}
      } catch (error) {
        this.#parts.onError(error)
      }
    }
  }
}

/** Seals the oldest waiting entries of one organization; true while there may be more. */
async function sealSome(
  organizationId: string,
  { environment, store, signingKey, newId, nowMs }: SealerParts,
): Promise<boolean> {
  const entries = await store.entriesToSeal(organizationId, ENTRIES_PER_SEAL)
  if (entries.length === 0) return false

  const last = await store.newestHead(organizationId)
  const size = last?.tree_size ?? 0
  const frontier = await store.nodeHashes(organizationId, frontierPositions(size))
  // A root over altered nodes, once signed, would vouch for them forever.
  if (last && rootOfFrontier(frontier) !== last.root_hash) {
    throw new Error(`the stored tree of ${organizationId} does not lead to its last signed head: run audit verify`)
  }
  const grown = appendLeaves({ size, frontier, leaves: entries.map((entry) => entry.leaf_hash) })
  const signedAt = new Date(nowMs()).toISOString()
  const head = signCheckpoint(
    { environment, organizationId },
    { tree_size: grown.size, root_hash: grown.root, signed_at: signedAt },
    signingKey.privateKey,
  )

  await store.seal({
    sealed: entries,
    leaves: entries.map(({ id, leaf_hash }, place) => ({
      org_id: organizationId,
      leaf_index: size + place,
      entry_id: id,
      leaf_hash,
    })),
    nodes: grown.nodes.map((node) => ({ org_id: organizationId, ...node })),
    head: { org_id: organizationId, ...head },
    event: {
      org_id: organizationId,
      id: newId('evt'),
      type: 'audit.checkpoint',
      created_at: signedAt,
      data: canonicalJson(head),
    },
  })
  return entries.length === ENTRIES_PER_SEAL
}
