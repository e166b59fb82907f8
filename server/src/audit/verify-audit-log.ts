import type { KeyObject } from 'node:crypto'
import type { Environment } from '../config.ts'
import type { Checkpoint } from '../core/audit/checkpoint.ts'
import { describeProblem, type LogFigures } from '../core/audit/log-report.ts'
import { appendLeaves } from '../core/audit/merkle-tree.ts'
import { type LogPage, verifyLog } from '../core/audit/verify-log.ts'
import type { RecordedTable } from '../store/environment/audit-records.ts'
import type { VerifiedLeaf } from '../store/environment/audit-verification.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { ControlDatabase } from '../store/power/control-database.ts'
import { ActorCheck } from './check-actors.ts'
import { findAlteredOffers } from './check-open-offers.ts'
import { TrailCheck } from './check-trails.ts'
import { CREATED_BY, compareRecords } from './compare-records.ts'
import type { KnownHeads } from './known-heads.ts'
import { ACCEPT_LOST_ENTRIES, compareEnds, describeLostEntries, hasLostEntries, keptAtMost } from './lost-entries.ts'

/** Bounds a report on a log of which most was altered; further problems are counted. */
const PROBLEMS_REPORTED_MAX = 1_000

const LISTS_PER_READ = 100

/** The result of verifying one organization's log in one environment. */
export interface LogVerification {
  organization_id: string
  environment: Environment
  intact: boolean
  leaves: number
  /** Entries that wait for the sealer. */
  unsealed: number
  heads_verified: number
  /** Records behind entries that were compared with what is stored now. */
  records_compared: number
  /** Of these, how many are missing or without their texts because two people approved that their entity is erased. */
  records_erased: number
  root_hash: LogFigures['rootHash']
  /** The newest head that the data folder of this node has. */
  known_head: { tree_size: number; signed_at: string } | null
  /**
   * Set if nothing is wrong but that the database has lost entries of a known head, in a failover or a restore: how many of them
   * it has at most.
   */
  lost_after: number | null
  problems: string[]
}

/** The log to verify, and what to verify it with. */
export interface LogToVerify {
  organizationId: string
  environment: Environment
  store: EnvironmentStore
  /** The store of production, whose log has the entries of people. */
  people: EnvironmentStore
  /** The rows of people, which the log of production speaks of. */
  control: Pick<ControlDatabase, 'refusedRows'>
  publicKeys: readonly KeyObject[]
  knownHeads?: Pick<KnownHeads, 'newest' | 'file'>
  /** A head that was stored outside this installation, for example from an `audit.checkpoint` event. */
  pinnedHead?: Checkpoint
  /** Says which open offers have expired; the clock of the machine if it is absent. */
  nowMs?: () => number
  /** Called after each page with the number of leaves that are verified; the next page waits for it. */
  onProgress?: (progress: { leaves: number; size: number }) => void | Promise<void>
}

/**
 * Verifies that no entry of a log was edited, removed or reordered, that the log does not end before a head which is
 * known outside the database, and that every record which an entry speaks of is stored as it was recorded. It reads in
 * pages, so that requests to the same database go on meanwhile.
 */
export async function verifyAuditLog(log: LogToVerify): Promise<LogVerification> {
  const { organizationId, environment, store, publicKeys, knownHeads, pinnedHead } = log
  // Read before the size of the log, which may grow meanwhile.
  const known = knownHeads?.newest(organizationId)
  const size = await store.verification.logSize(organizationId)
  const ends = await store.sealing.logEnds([organizationId])
  const [compared] = await compareEnds(store, ends, () => known)
  const lost = hasLostEntries(compared!) ? compared : undefined
  const isLost = lost !== undefined
  const problems = new BoundedProblems()
  const seen = { recordsCompared: 0, recordsErased: 0 }
  const report = await verifyLog({
    organizationId,
    environment,
    pages: comparedPages(log, { size, problems, seen }),
    publicKeys,
    pinnedHeads: [...(pinnedHead ? [pinnedHead] : []), ...(known && known.tree_size > 0 && !isLost ? [known] : [])],
  })
  const tree: string[] = report.status === 'tampered' ? report.problems.map(describeProblem) : []
  if (report.status === 'tampered' && report.problemsOmitted > 0) tree.push(`… and ${report.problemsOmitted} more.`)
  if (known && size < known.tree_size && !isLost)
    tree.unshift(
      `The log has ${size} leaves, but this node signed a head of ${known.tree_size} leaves at ${known.signed_at} (${knownHeads!.file}): leaves were deleted, or an older backup was restored.`,
    )
  const newest = await store.auditLog.newestHead(organizationId)
  if (known && size >= known.tree_size && (newest?.tree_size ?? 0) < known.tree_size)
    tree.push(`The head of ${known.tree_size} leaves that this node signed at ${known.signed_at} is missing.`)
  // If leaves were altered, the nodes over them differ too, which adds nothing to the report.
  if (report.status === 'intact') await findAlteredNodes(log, size, problems)
  const trails = new TrailCheck(store, (problem) => problems.add(problem))
  const actors = new ActorCheck(organizationId, { own: store, people: log.people }, (problem) => problems.add(problem))
  for await (const page of store.verification.entriesByTrail(organizationId)) {
    trails.addPage(page)
    await actors.addPage(page)
  }
  await findRecordsWithoutEntry(store, organizationId, problems)
  const nowMs = (log.nowMs ?? Date.now)()
  await findAlteredOffers({ store, organizationId, nowMs }, (problem) => problems.add(problem))
  await findForgedLists(log, problems)
  if (environment === 'production') await findForgedRows(log, problems)
  const found = [...tree, ...problems.described()]
  return {
    organization_id: organizationId,
    environment,
    intact: !isLost && found.length === 0,
    leaves: report.figures.leaves,
    unsealed: trails.unsealed,
    heads_verified: report.figures.headsVerified,
    records_compared: seen.recordsCompared,
    records_erased: seen.recordsErased,
    root_hash: report.figures.rootHash,
    known_head: known ? { tree_size: known.tree_size, signed_at: known.signed_at } : null,
    lost_after: lost && found.length === 0 ? keptAtMost(lost) : null,
    problems: lost ? [lostEntriesProblem(lost), ...found] : found,
  }
}

function lostEntriesProblem(lost: Parameters<typeof describeLostEntries>[0]): string {
  const [first, ...rest] = describeLostEntries(lost)
  return `${first!.toUpperCase()}${rest.join('')}. If that is so, let the log go on without them: ${ACCEPT_LOST_ENTRIES}.`
}

/** Collects problems, up to a limit; beyond it they are only counted. */
class BoundedProblems {
  readonly listed: string[] = []
  #omitted = 0

  add(problem: string): void {
    if (this.listed.length < PROBLEMS_REPORTED_MAX) this.listed.push(problem)
    else this.#omitted += 1
  }

  described(): string[] {
    return this.#omitted > 0 ? [...this.listed, `… and ${this.#omitted} more.`] : this.listed
  }
}

/** The pages of a log; the records that their entries speak of are compared on the way. */
async function* comparedPages(
  { organizationId, store, onProgress }: LogToVerify,
  {
    size,
    problems,
    seen,
  }: { size: number; problems: BoundedProblems; seen: { recordsCompared: number; recordsErased: number } },
): AsyncGenerator<LogPage> {
  let leaves = 0
  for await (const page of store.verification.pages(organizationId, size)) {
    for (const flush of page.flushes)
      if (!store.hasValidFlushMac(flush))
        problems.add(
          `The list of the entries from leaf ${flush.first_leaf} on was not written by this service: its MAC is not valid.`,
        )
    for (const { entry, entryId, isNamed } of page.leaves)
      if (entry && !isNamed) problems.add(`Entry ${entryId} names another place on the log than its leaf.`)
    const { compared, erased, problems: found } = await compareRecords(store, organizationId, entriesOf(page.leaves))
    for (const problem of found) problems.add(problem)
    seen.recordsCompared += compared
    seen.recordsErased += erased
    leaves += page.leaves.length
    await onProgress?.({ leaves, size })
    yield page
  }
}

/** An edited entry is compared too: what it says now differs from the record, which shows what was edited. */
function entriesOf(leaves: readonly VerifiedLeaf[]) {
  return leaves.flatMap(({ entry, leafIndex }) => (entry ? [{ entry, leafIndex }] : []))
}

/** Rebuilds the tree from its leaves and compares every stored node, because inclusion proofs are made of stored nodes. */
async function findAlteredNodes(
  { organizationId, store }: LogToVerify,
  size: number,
  problems: BoundedProblems,
): Promise<void> {
  let tree: { size: number; frontier: readonly string[] } = { size: 0, frontier: [] }
  while (tree.size < size) {
    const leaves = await store.verification.leafHashes(organizationId, tree.size, size)
    if (leaves.length === 0) return
    const grown = appendLeaves({ ...tree, leaves })
    const stored = await store.sealing.nodeHashes(organizationId, grown.nodes)
    for (const [n, { level, index, hash }] of grown.nodes.entries()) {
      if (stored[n] === hash) continue
      const [first, last] = [index * 2 ** level, (index + 1) * 2 ** level - 1]
      problems.add(`The stored node over leaves ${first} to ${last} is not the hash of these leaves.`)
    }
    tree = grown
  }
}

async function findForgedRows({ control, organizationId }: LogToVerify, problems: BoundedProblems): Promise<void> {
  for (const { table, subject, why } of await control.refusedRows(organizationId))
    problems.add(
      why === 'mac'
        ? `The row of ${subject} in ${table} was not written by this service: its MAC is not valid. It grants nothing.`
        : `The row of ${subject} in ${table} is not the newest that the log recorded. It grants nothing.`,
    )
}

async function findRecordsWithoutEntry(
  store: EnvironmentStore,
  organizationId: string,
  problems: BoundedProblems,
): Promise<void> {
  for (const [table, { record, types }] of Object.entries(CREATED_BY)) {
    for await (const page of store.auditRecords.withEntries(table as RecordedTable, organizationId, types))
      for (const { id, is_known } of page)
        if (!is_known) problems.add(`The ${record} ${id} is not on the log: no entry says how it came to be.`)
  }
  for await (const page of store.erasures.all(organizationId))
    for (const { entity_id, is_confirmed } of page)
      if (!is_confirmed) problems.add(`The erasure of ${entity_id} is not on the log: it erases nothing.`)
  for (const id of await store.auditRecords.policiesWithUnknownSteps(organizationId))
    problems.add(`The policy ${id} has more steps than the log recorded.`)
  const { stored, recorded } = await store.auditRecords.activePolicy(organizationId)
  if (stored !== recorded)
    problems.add(
      `The active policy is ${stored ?? 'none'}, but the newest activation on the log is that of ${recorded ?? 'none'}.`,
    )
}

/** Lists of entries that wait, but not for long: the sealer refuses them. */
async function findForgedLists({ store, organizationId }: LogToVerify, problems: BoundedProblems): Promise<void> {
  for (const id of await store.verification.queuedWithoutEntry(organizationId))
    problems.add(`Entry ${id} waits to be sealed, but does not exist.`)
  let flush = 0
  for (;;) {
    const waiting = await store.sealing.pending([{ org_id: organizationId, flush }], LISTS_PER_READ)
    for (const list of waiting) {
      const name = `The list of statement ${list.flush}, which begins with entry ${list.entry_ids[0]}, waits to be sealed`
      if (!store.hasValidFlushMac(list))
        problems.add(`${name}, but was not written by this service: its MAC is not valid.`)
      else if (!list.is_named) problems.add(`${name}, but no entry names that statement.`)
      else if (list.was_sealed) problems.add(`${name}, but was sealed before.`)
    }
    if (waiting.length < LISTS_PER_READ) return
    ;({ flush } = waiting.at(-1)!)
  }
}
