import type { KeyObject } from 'node:crypto'
import type { Environment } from '../config.ts'
import type { NewId } from '../ids/new-id.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { ControlDatabase } from '../store/power/control-database.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import type { KnownHeads } from './known-heads.ts'
import { type LogVerification, verifyAuditLog } from './verify-audit-log.ts'

/** The result of a verification, as it is kept for every node and shown in the console. */
export type KeptVerification = Pick<
  LogVerification,
  | 'intact'
  | 'lost_after'
  | 'leaves'
  | 'unsealed'
  | 'heads_verified'
  | 'records_compared'
  | 'records_erased'
  | 'root_hash'
> & {
  /** The first problems in words, and how many there are in all. */
  problems: string[]
  problems_count: number
  duration_ms: number
}

/** The log that an operator wants verified, and what it is verified with. */
export interface WantedVerification {
  organizationId: string
  environment: Environment
  operatorId: string
  requestId: string
  store: EnvironmentStore
  /** The store of production, whose log has the entries of people. */
  people: EnvironmentStore
  /** The rows of people, which the log of production speaks of. */
  control: Pick<ControlDatabase, 'refusedRows'>
  knownHeads: KnownHeads
  publicKeys: readonly KeyObject[]
  newId: NewId
  nowMs: () => number
}

const REPORT_EVERY_MS = 1_000
const PROBLEMS_KEPT_MAX = 50

/**
 * Begins to verify a log in the background and returns at once; `begun` is false if a run is in progress on any node.
 * `done` resolves when the result is kept and recorded on the log.
 */
export async function beginVerification(wanted: WantedVerification): Promise<{ begun: boolean; done: Promise<void> }> {
  const { store, newId, organizationId, operatorId } = wanted
  const runId = newId('aud')
  const begun = await store.verificationRuns.begin(organizationId, {
    run_id: runId,
    started_by: operatorId,
    started_at: now(wanted),
  })
  return { begun, done: begun ? run(wanted, runId) : Promise.resolve() }
}

/** Another node has taken the run over, because this one was silent for too long. */
class TakenOver extends Error {}

async function run(wanted: WantedVerification, runId: string): Promise<void> {
  const { organizationId, store } = wanted
  try {
    const kept = await verify(wanted, runId)
    await record(wanted, kept)
    await store.verificationRuns.end(organizationId, { runId, at: now(wanted), result: JSON.stringify(kept) })
  } catch (error) {
    if (error instanceof TakenOver) return
    const failure = 'The verification did not come to its end, because the database did not answer. Start it again.'
    // The service may be closing: then the next reader sees that the run was abandoned.
    await store.verificationRuns.fail(organizationId, { runId, failure }).catch(() => {})
  }
}

async function verify(wanted: WantedVerification, runId: string): Promise<KeptVerification> {
  const { organizationId, environment, store, people, control, knownHeads, publicKeys } = wanted
  knownHeads.reload()
  const startedMs = performance.now()
  let reportAtMs = startedMs
  const { problems, ...verification } = await verifyAuditLog({
    organizationId,
    environment,
    store,
    people,
    control,
    knownHeads,
    publicKeys,
    nowMs: wanted.nowMs,
    async onProgress({ leaves, size }) {
      if (performance.now() < reportAtMs) return
      reportAtMs = performance.now() + REPORT_EVERY_MS
      const isOurs = await store.verificationRuns.report(organizationId, {
        runId,
        done: leaves,
        of: size,
      })
      if (!isOurs) throw new TakenOver()
    },
  })
  const { intact, lost_after, leaves, unsealed, heads_verified, records_compared, records_erased, root_hash } =
    verification
  return {
    intact,
    lost_after,
    leaves,
    unsealed,
    heads_verified,
    records_compared,
    records_erased,
    root_hash,
    problems: problems.slice(0, PROBLEMS_KEPT_MAX),
    problems_count: problems.length,
    duration_ms: Math.round(performance.now() - startedMs),
  }
}

/** Records on the log itself that it was verified, by whom and with what result. */
async function record(
  wanted: WantedVerification,
  { intact, leaves, root_hash, problems_count }: KeptVerification,
): Promise<void> {
  const { organizationId, operatorId, requestId, newId, store } = wanted
  const actor = { type: 'operator', id: operatorId } as const
  const entry = auditEntryRow(
    { organizationId, actor, now: now(wanted), requestId, newId },
    {
      type: 'audit_log.verified',
      trailId: organizationId,
      subject: { type: 'organization', id: organizationId },
      data: { intact, leaves, root_hash, problems: problems_count },
    },
  )
  await commitOrThrow(store, { organizationId, auditEntries: [entry] })
}

function now({ nowMs }: WantedVerification): string {
  return new Date(nowMs()).toISOString()
}
