import type { Environment } from '../config.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { BacktestResult } from '../core/backtest/backtest-result.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import { ENGINE_VERSION } from '../core/decide/engine-version.ts'
import type { Installation } from '../installation/installation.ts'
import type { StoredPolicy } from '../store/environment/policies.ts'
import type { NewRow } from '../store/schema/tables.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { recordContext } from './record-context.ts'
import { BACKTEST_DECISIONS_MAX, BacktestCancelled, type BacktestRange, runBacktest } from './run-backtest.ts'

/** Who asks for a backtest, of which environment. */
export interface BacktestAct {
  organizationId: string
  environment: Environment
  actor: AdminActor
  via?: string | undefined
}

/** A stored policy to test on recorded decisions. */
export interface WantedBacktest {
  version: string
  range: BacktestRange
  /** Takes how many decisions are done, at most twice a second. */
  onProgress?: ((progress: { decided: number; total: number }) => void) | undefined
}

/** The result of a backtest with the id under which it is kept. */
export type KeptBacktest = BacktestResult & { id: string; version: string; checksum: string }

interface Problem {
  problem: string
}

const REPORT_EVERY_MS = 500
const CANCELLED = 'It was cancelled.'

/**
 * Begins to decide recorded decisions again under a stored policy and returns at once; `done` resolves when the result is
 * kept and on the audit log. Only the result is written: no decision, no usage, no event.
 */
export async function beginBacktest(
  installation: Installation,
  act: BacktestAct,
  { version, range, onProgress }: WantedBacktest,
): Promise<{ id: string; done: Promise<KeptBacktest | Problem> } | Problem> {
  const { organizationId, environment } = act
  const problem = rangeProblem(range)
  if (problem) return problem
  const store = installation.stores[environment]
  const policy = await store.policies.byVersion(organizationId, version)
  if (!policy)
    return { problem: `there is no policy ${JSON.stringify(version)} in ${environment}: policy list shows them` }
  const id = installation.newId('bkt')
  const startedAt = new Date(installation.nowMs()).toISOString()
  const run = { runId: id, policyId: policy.id, startedBy: act.actor.id, startedAt }
  if (!(await store.backtests.begin(organizationId, run)))
    return { problem: 'another backtest is running in this environment: wait until it has ended, or cancel it' }
  return { id, done: runKept(installation, act, { id, startedAt, policy, range, onProgress }) }
}

/** Where a draft is tried, and until when: the signal is aborted when the client has left. */
export interface DraftBacktest extends Pick<BacktestAct, 'organizationId' | 'environment'> {
  signal?: AbortSignal | undefined
}

/** Decides recorded decisions again under a policy that is not stored; nothing is kept. */
export async function backtestDraft(
  { stores, threads }: Installation,
  { organizationId, environment, signal }: DraftBacktest,
  { source, range, onProgress }: { source: string } & Pick<WantedBacktest, 'range' | 'onProgress'>,
): Promise<BacktestResult | Problem> {
  const problem = rangeProblem(range)
  if (problem) return problem
  const parts = { store: stores[environment], threads }
  return runBacktest(parts, {
    client: { organizationId, signal },
    policy: { source },
    range,
    onProgress: async (progress) => {
      onProgress?.(progress)
      return true
    },
  })
}

/** Cancels the backtest that is running; the reason is optional, because a cancelled backtest leaves nothing behind. */
export async function cancelBacktest(
  installation: Installation,
  { organizationId, environment, actor, reason }: BacktestAct & { reason?: string | undefined },
): Promise<{ cancelled: true } | Problem> {
  const store = installation.stores[environment]
  const run = await store.backtests.run(organizationId)
  const policies = await store.policies.list(organizationId)
  const policy = policies.find(({ id }) => id === run?.policy_id)
  const ended = { problem: 'no backtest is running: it has ended by itself' }
  if (!run?.is_running || !policy) return ended
  const entry = auditEntryRow(recordContext(installation, { organizationId, actor }), {
    type: 'policy.backtest_cancelled',
    trailId: run.run_id,
    subject: { type: 'policy_backtest', id: run.run_id },
    data: { ...namesOf(policy), decided: run.decided, ...(reason && { reason }) },
  })
  const endedBacktests = [{ run_id: run.run_id, failure: CANCELLED }]
  const { lost } = await store.commit({ organizationId, endedBacktests, auditEntries: [entry] })
  if (lost === 'no_answer')
    return { problem: 'the database did not answer, and the backtest was not cancelled: try again' }
  return lost ? ended : { cancelled: true }
}

interface RunningBacktest extends Pick<WantedBacktest, 'range' | 'onProgress'> {
  id: string
  startedAt: string
  policy: StoredPolicy
}

async function runKept(
  installation: Installation,
  act: BacktestAct,
  running: RunningBacktest,
): Promise<KeptBacktest | Problem> {
  const { organizationId, environment } = act
  const { id, policy, range } = running
  const store = installation.stores[environment]
  const { document, checksum, version } = policy
  try {
    const parts = { store, threads: installation.threads }
    const result = await runBacktest(parts, {
      // It began when no other ran, and has two pages on their way at most.
      client: { organizationId, isAdmitted: true },
      policy: { document, checksum },
      range,
      onProgress: reporter(installation, act, running),
    })
    if ('problem' in result) {
      await store.backtests.fail(organizationId, id, result.problem)
      return { problem: `${version} cannot decide: ${result.problem}` }
    }
    const done = { runId: id, decided: result.decided, total: result.decided }
    if (!(await store.backtests.report(organizationId, done))) return { problem: CANCELLED }
    if (!(await keep(installation, act, { ...running, result }))) return { problem: CANCELLED }
    return { id, version, checksum, ...result }
  } catch (error) {
    if (error instanceof BacktestCancelled) return { problem: CANCELLED }
    // The answer may have been lost after the result was written. The service may be closing: then the next reader sees
    // that the run was abandoned.
    const kept = await store.backtests.find(organizationId, id).catch(() => undefined)
    if (kept) return { id, version, checksum, ...(JSON.parse(kept.result) as BacktestResult) }
    const failure = 'It did not come to its end, because the database did not answer. Start it again.'
    await store.backtests.fail(organizationId, id, failure).catch(() => {})
    return { problem: failure }
  }
}

/** Reports progress to the database, where every node can see it and where a cancellation is seen. */
function reporter(
  { stores }: Installation,
  { organizationId, environment }: BacktestAct,
  { id: runId, onProgress }: RunningBacktest,
): (progress: { decided: number; total: number }) => Promise<boolean> {
  let reportAtMs = 0
  return async (progress) => {
    if (performance.now() < reportAtMs) return true
    reportAtMs = performance.now() + REPORT_EVERY_MS
    onProgress?.(progress)
    return stores[environment].backtests.report(organizationId, { runId, ...progress })
  }
}

/**
 * Ends the run and keeps its result, in one change. Returns false if the run has ended before: it was cancelled, or
 * another one replaced it because its node was silent.
 */
async function keep(
  installation: Installation,
  { organizationId, environment, actor, via }: BacktestAct,
  { id, startedAt, policy, result }: RunningBacktest & { result: BacktestResult },
): Promise<boolean> {
  const context = recordContext(installation, { organizationId, actor })
  const row: NewRow<'policy_backtests'> = {
    id,
    policy_id: policy.id,
    checksum: policy.checksum,
    engine_version: ENGINE_VERSION,
    decided: result.decided,
    changed: result.changed,
    result: canonicalJson(result),
    actor_type: actor.type,
    actor_id: actor.id,
    started_at: startedAt,
    finished_at: context.now,
  }
  const entry = auditEntryRow(context, {
    type: 'policy.backtested',
    trailId: id,
    subject: { type: 'policy_backtest', id },
    data: {
      ...namesOf(policy),
      decided: result.decided,
      changed: result.changed,
      record_sha256: recordSha256<'policy_backtests'>(organizationId, row),
      ...(via !== undefined && { via }),
    },
  })
  const { lost } = await installation.stores[environment].commit({
    organizationId,
    endedBacktests: [{ run_id: id, failure: null }],
    rows: { policy_backtests: [row] },
    auditEntries: [entry],
  })
  if (lost === 'no_answer') throw new Error('the database did not answer, and nothing was kept')
  return !lost
}

function rangeProblem({ last, fromMs, toMs }: BacktestRange): Problem | undefined {
  if (!Number.isInteger(last) || last < 1 || last > BACKTEST_DECISIONS_MAX)
    return { problem: `a backtest takes 1 to ${BACKTEST_DECISIONS_MAX} decisions: give another number` }
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs)
    return { problem: 'the period ends before it begins: give a later end' }
  return undefined
}

function namesOf({ id, version, checksum }: Pick<StoredPolicy, 'id' | 'version' | 'checksum'>) {
  return { policy_id: id, policy_version: version, policy_checksum: checksum }
}
