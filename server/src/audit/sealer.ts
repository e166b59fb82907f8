/**
 * The sealer appends audit entries to their organization's Merkle tree (RFC 9162) and signs the head of the tree.
 *
 * An entry is in one of three states:
 *
 *     pending   written with the change that it describes, and listed with the other entries of its statement in a row of
 *               `audit_pending`
 *     sealed    that row was moved to `audit_flushes` with a first leaf, and so the entry has a leaf, which a signed head
 *               covers; it never changes again
 *     refused   pending, but the MAC of the row is not valid, no entry names its statement, or it had leaves before: this
 *               service did not write it so. It is reported and never sealed
 *
 * The sealer runs in rounds. One round, on the node that holds the lease:
 *
 *     lease not held               → the round ends; another node seals
 *     lease held                   → list the organizations with pending entries. Those whose last head is too recent
 *                                    wait for a later round; the others are sealed in groups:
 *       read                       → what waits on their logs, their last signed heads, the frontiers of their trees
 *       log behind a known head    → report the error and sign nothing; the entries stay pending
 *       head not signed by us      → the same
 *       frontier differs from head → the same
 *       leaves end elsewhere       → the same
 *       frontier matches head      → append the leaves, sign the new head; write erasures among them to the data folder
 *       write                      → first leaves, nodes, heads and `audit.checkpoint` events, all in one statement
 *         written                  → the entries are sealed; go on with the organizations whose batch was full
 *         lost to another sealer   → a list is not in `audit_pending` any more, so the statement failed and wrote nothing; each
 *                                    organization of the group is tried alone, and again next round
 *
 * The lease alone does not exclude a second sealer: a round may outlast it. The write decides which of the two wins.
 */
import type { Environment } from '../config.ts'
import { checkpointOf } from '../core/audit/checkpoint.ts'
import { hasValidFlushMac } from '../core/audit/entry-mac.ts'
import type { NewId } from '../ids/new-id.ts'
import { nodeId } from '../ids/node-id.ts'
import type { SealingKeys } from '../security/master-key.ts'
import type { Database } from '../store/database/database.ts'
import type { FlushToSeal, PendingCursor, Seal } from '../store/environment/audit-sealing.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { LeasedRounds } from '../store/leases/leased-rounds.ts'
import { eventRow } from '../store/write-path/record.ts'
import { keepErasures } from './apply-erasures.ts'
import { extendTrees, type TreeToExtend } from './extend-trees.ts'
import type { KnownErasures } from './known-erasures.ts'
import type { KnownHeads } from './known-heads.ts'

const ROUND_EVERY_MS = 500
/**
 * The least time between two heads of one log, unless a reader asks for one. Entries are promised to be sealed within
 * five seconds, which leaves 1.5 s for a round. At two heads a second, as it was, a steadily active log had 168,000
 * heads a day, and verifying them took most of the time of a verification.
 */
const HEAD_EVERY_MS = 3_000
/** The least time between two heads of one log that readers ask for. */
const REQUESTED_HEAD_EVERY_MS = 1_000
/** The least time between two `audit.checkpoint` events of one log. */
const ANNOUNCED_EVERY_MS = 60_000
/** How often the sealer looks for logs whose newest head was not announced, because they became quiet. */
const ANNOUNCE_CHECK_EVERY_MS = 10_000
const ANNOUNCED_AT_ONCE_MAX = 500
/** How often known heads are written to the data folder. */
const KNOWN_HEADS_EVERY_MS = 5_000

/** Sealing 500 organizations one by one took 2,000 statements; in groups of 50 it takes 40. */
const ORGANIZATIONS_PER_GROUP = 50
const FLUSHES_PER_GROUP = 500
/** Bounds the memory for what was refused; beyond it, a row may be reported again. */
const REFUSED_REMEMBERED_MAX = 10_000
const LEASE = { name: 'sealer', holder: nodeId, seconds: 5 }

/** A list of entries that the sealer refused, because this service did not write it. */
export type RefusedFlush = Pick<FlushToSeal, 'org_id' | 'flush' | 'entry_ids'>

/** What a sealer needs. */
export interface SealerParts {
  environment: Environment
  database: Database
  store: EnvironmentStore
  keys: SealingKeys
  knownHeads: KnownHeads
  knownErasures: KnownErasures
  newId: NewId
  nowMs: () => number
  onError: (error: unknown) => void
  /** Called once for each list of entries that is refused. */
  onRefused: (flush: RefusedFlush) => void
}

/** Seals the pending audit entries of one environment, in rounds under a lease. */
export class Sealer {
  readonly #parts: SealerParts
  readonly #rounds: LeasedRounds
  /** When this node last sealed each log, or tried to, by `performance.now()`. */
  readonly #sealedAtMs = new Map<string, number>()
  readonly #requested = new Set<string>()
  readonly #refused = new Set<string>()
  #announceCheckAtMs = Number.NEGATIVE_INFINITY
  #knownHeadsAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: SealerParts) {
    this.#parts = parts
    const lease = new Lease(parts.database, LEASE)
    this.#rounds = new LeasedRounds({
      lease,
      everyMs: ROUND_EVERY_MS,
      work: () => this.#round(),
      onError: parts.onError,
    })
  }

  start(): void {
    this.#rounds.start()
  }

  /** Seals the entries written since the last round, and gives the lease back. */
  async close(): Promise<void> {
    await this.#rounds.close(() => this.#rounds.run())
    await this.#parts.knownHeads.flush().catch(this.#parts.onError)
  }

  /** Asks for a head soon, because a reader waits for the proof of an entry that is pending. */
  request(organizationId: string): void {
    this.#requested.add(organizationId)
  }

  /** Seals all pending entries now; an error in the log of one organization does not stop the others. */
  async sealAll(): Promise<void> {
    await this.#seal(await this.#parts.store.sealing.organizations())
    await this.#parts.knownHeads.flush()
  }

  async #round(): Promise<void> {
    const { store, knownHeads } = this.#parts
    const nowMs = performance.now()
    const isDue = (organizationId: string) => {
      const sinceMs = nowMs - (this.#sealedAtMs.get(organizationId) ?? Number.NEGATIVE_INFINITY)
      return (
        this.#rounds.isClosed ||
        sinceMs >= (this.#requested.has(organizationId) ? REQUESTED_HEAD_EVERY_MS : HEAD_EVERY_MS)
      )
    }
    await this.#seal((await store.sealing.organizations()).filter(isDue))
    for (const [organizationId, atMs] of this.#sealedAtMs)
      if (nowMs - atMs > HEAD_EVERY_MS) this.#sealedAtMs.delete(organizationId)
    if (nowMs >= this.#announceCheckAtMs) {
      this.#announceCheckAtMs = nowMs + ANNOUNCE_CHECK_EVERY_MS
      await this.#announceQuietLogs()
    }
    if (nowMs >= this.#knownHeadsAtMs) {
      this.#knownHeadsAtMs = nowMs + KNOWN_HEADS_EVERY_MS
      await knownHeads.flush()
    }
  }

  async #seal(organizationIds: readonly string[]): Promise<void> {
    for (let from = 0; from < organizationIds.length; from += ORGANIZATIONS_PER_GROUP) {
      const group = organizationIds.slice(from, from + ORGANIZATIONS_PER_GROUP)
      // A failure of the group is reported by the member that causes it.
      if (!(await this.#sealGroup(group).catch(() => false)))
        for (const organizationId of group) await this.#sealGroup([organizationId]).catch(this.#parts.onError)
      const nowMs = performance.now()
      for (const organizationId of group) {
        this.#sealedAtMs.set(organizationId, nowMs)
        this.#requested.delete(organizationId)
      }
    }
  }

  /** Seals the pending entries of a group of organizations; false if one of them was sealed elsewhere meanwhile. */
  async #sealGroup(group: readonly string[]): Promise<boolean> {
    const limitEach = Math.floor(FLUSHES_PER_GROUP / group.length)
    let after: PendingCursor[] = group.map((org_id) => ({ org_id, flush: 0 }))
    while (after.length > 0) {
      const waiting = Map.groupBy(await this.#parts.store.sealing.pending(after, limitEach), ({ org_id }) => org_id)
      const genuine = [...waiting].map(([organizationId, flushes]) => ({
        organizationId,
        flushes: flushes.filter((flush) => this.#isGenuine(flush)),
      }))
      const written = await this.#writeSeals(genuine.filter((tree) => tree.flushes.length > 0))
      if (written === undefined) return false
      // Goes on after the last row rather than from the start, because refused ones stay pending. What waits for a log that
      // must not be extended is not read: until an operator acts, it may be millions of lists.
      const more = [...waiting].filter(([id, { length }]) => length === limitEach && !written.refused.has(id))
      after = more.map(([, flushes]) => flushes.at(-1)!)
    }
    return true
  }

  #isGenuine(flush: FlushToSeal): boolean {
    const { org_id, entry_ids, is_named, was_sealed } = flush
    if (is_named && !was_sealed && hasValidFlushMac(this.#parts.keys.macs, flush)) return true
    const name = `${org_id} ${flush.flush}`
    if (this.#refused.has(name)) return false
    if (this.#refused.size >= REFUSED_REMEMBERED_MAX) this.#refused.clear()
    this.#refused.add(name)
    this.#parts.onRefused({ org_id, flush: flush.flush, entry_ids })
    return false
  }

  /** Seals these entries; returns the organizations whose logs must not be extended, or undefined if one was sealed elsewhere. */
  async #writeSeals(trees: readonly TreeToExtend[]): Promise<{ refused: ReadonlySet<string> } | undefined> {
    const { store, knownHeads, onError } = this.#parts
    const { seals, errors } = await extendTrees(trees, this.#parts)
    for (const error of errors.values()) onError(error)
    const refused = new Set(errors.keys())
    if (seals.length === 0) return { refused }
    // INVARIANT: what was erased is known outside the database before a head says so: no backup that has the head lacks it.
    keepErasures(this.#parts.knownErasures, await store.erasures.pendingOf(seals.map((seal) => seal.organizationId)))
    const timeline = await store.sealing.seal(seals.map((seal) => this.#withEvent(seal)))
    if (timeline === undefined) return undefined
    knownHeads.add(seals.map(({ organizationId, head }) => ({ organization_id: organizationId, ...head, timeline })))
    return { refused }
  }

  #withEvent({ announced_at, ...seal }: Seal & { announced_at: string | null }): Seal {
    const signedAt = seal.head.signed_at
    const isRecent = announced_at !== null && Date.parse(signedAt) - Date.parse(announced_at) < ANNOUNCED_EVERY_MS
    return isRecent ? seal : { ...seal, event: this.#checkpointEvent(seal.head, signedAt) }
  }

  /** Announces the newest heads of logs that got no entry since, so that receivers have them all after a minute. */
  async #announceQuietLogs(): Promise<void> {
    const { store, nowMs } = this.#parts
    const now = new Date(nowMs()).toISOString()
    const before = new Date(nowMs() - ANNOUNCED_EVERY_MS).toISOString()
    const heads = await store.sealing.headsToAnnounce(before, ANNOUNCED_AT_ONCE_MAX)
    if (heads.length === 0) return
    await store.sealing.announce(
      heads.map(({ org_id, ...head }) => ({ organizationId: org_id, head, event: this.#checkpointEvent(head, now) })),
    )
  }

  #checkpointEvent(head: Seal['head'], now: string) {
    return eventRow({ now, newId: this.#parts.newId }, 'audit.checkpoint', checkpointOf(head))
  }
}
