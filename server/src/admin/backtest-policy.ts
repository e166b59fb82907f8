import type { BacktestResult } from '../core/backtest/backtest-result.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import { ENGINE_VERSION } from '../core/decide/evaluation.ts'
import type { Installation } from '../installation/installation.ts'
import type { StoredPolicy } from '../store/environment/policies.ts'
import type { NewRow } from '../store/schema/tables.ts'
import { commitUnlessForestalled } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { actorOf, contextOf, type EnvironmentAct, permitted, reasonOf, viaOf } from './act.ts'
import { findPolicy } from './find-policy.ts'
import { conflict, invalid, Problem } from './problem.ts'
import { BACKTEST_DECISIONS_MAX, BacktestCancelled, type BacktestRange, runBacktest } from './run-backtest.ts'

/** A stored policy to test on recorded decisions. */
export interface WantedBacktest {
  version: string
  range: BacktestRange
  /** Takes how many decisions are done, at most twice a second. */
  onProgress?: ((progress: { decided: number; total: number }) => void) | undefined
}

/** The result of a backtest with the id under which it is kept. */
export type KeptBacktest = BacktestResult & { id: string; version: string; checksum: string }

const REPORT_EVERY_MS = 500
const CANCELLED = 'It was cancelled.'

/**
 * Begins to decide recorded decisions again under a stored policy and returns at once; `done` resolves when the result is
 * kept and on the audit log. Only the result is written: no decision, no usage, no event.
 */
export const beginBacktest = permitted(
  'backtest policies',
  async (
    installation,
    act: EnvironmentAct,
    { version, range, onProgress }: WantedBacktest,
  ): Promise<{ id: string; done: Promise<KeptBacktest> }> => {
    requireRange(range)
    const policy = await findPolicy(installation, act, version)
    const id = installation.newId('bkt')
    const startedAt = new Date(installation.nowMs()).toISOString()
    const run = { run_id: id, policy_id: policy.id, started_by: actorOf(act).id, started_at: startedAt }
    if (!(await installation.stores[act.environment].backtestRuns.begin(act.organizationId, run)))
      throw conflict('backtest_running', 'Another backtest is running in this environment.')
    const done = runKept(installation, act, { id, startedAt, policy, range, onProgress })
    // How it ended is in the database: a caller that does not wait for it must not end the process.
    done.catch(() => {})
    return { id, done }
  },
)

/** A policy that is not stored, to test on recorded decisions. */
export interface DraftBacktest extends Pick<WantedBacktest, 'range' | 'onProgress'> {
  source: string
  /** Aborted when the client has left. */
  signal?: AbortSignal | undefined
}

/** Decides recorded decisions again under a policy that is not stored; nothing is kept. */
export const backtestDraft = permitted(
  'propose policies',
  async (
    { stores, threads, nowMs },
    { organizationId, environment }: EnvironmentAct,
    { source, range, onProgress, signal }: DraftBacktest,
  ): Promise<BacktestResult> => {
    requireRange(range)
    const parts = { store: stores[environment], threads, nowMs: nowMs() }
    return runBacktest(parts, {
      client: { organizationId, signal },
      policy: { source },
      range,
      onProgress: async (progress) => {
        onProgress?.(progress)
        return true
      },
    })
  },
)

/** Cancels the backtest that is running; the reason is optional, because a cancelled backtest leaves nothing behind. */
export const cancelBacktest = permitted(
  'backtest policies',
  async (installation, act: EnvironmentAct): Promise<{ cancelled: true }> => {
    const { organizationId, environment } = act
    const store = installation.stores[environment]
    const run = await store.backtestRuns.newest(organizationId)
    const policies = await store.policies.list(organizationId)
    const policy = policies.find(({ id }) => id === run?.policy_id)
    const ended = () => conflict('backtest_ended', 'No backtest is running: it has ended by itself.')
    if (!run?.is_running || !policy) throw ended()
    const entry = auditEntryRow(contextOf(installation, act), {
      type: 'policy.backtest_cancelled',
      trailId: run.run_id,
      subject: { type: 'policy_backtest', id: run.run_id },
      data: { ...namesOf(policy), decided: run.decided, ...reasonOf(act) },
    })
    const endedBacktests = [{ run_id: run.run_id, failure: CANCELLED }]
    if (!(await commitUnlessForestalled(store, { organizationId, endedBacktests, auditEntries: [entry] })))
      throw ended()
    return { cancelled: true }
  },
)

interface RunningBacktest extends Pick<WantedBacktest, 'range' | 'onProgress'> {
  id: string
  startedAt: string
  policy: StoredPolicy
}

async function runKept(
  installation: Installation,
  act: EnvironmentAct,
  running: RunningBacktest,
): Promise<KeptBacktest> {
  const { organizationId, environment } = act
  const { id, policy, range } = running
  const store = installation.stores[environment]
  const { document, checksum, version } = policy
  try {
    const parts = { store, threads: installation.threads, nowMs: installation.nowMs() }
    const result = await runBacktest(parts, {
      // It began when no other ran, and has two pages on their way at most.
      client: { organizationId, isAdmitted: true },
      policy: { document, checksum },
      range,
      onProgress: reporter(installation, act, running),
    })
    const { decided } = result
    const isRunning = await store.backtestRuns.report(organizationId, { runId: id, done: decided, of: decided })
    if (!isRunning || !(await keep(installation, act, { ...running, result }))) throw new BacktestCancelled()
    return { id, version, checksum, ...result }
  } catch (error) {
    if (error instanceof BacktestCancelled) throw conflict('backtest_cancelled', 'The backtest was cancelled.')
    if (error instanceof Problem) {
      await store.backtestRuns.fail(organizationId, { runId: id, failure: error.message }).catch(() => {})
      throw conflict('policy_unusable', `${version} cannot decide. ${error.message}`)
    }
    // The answer may have been lost after the result was written. The service may be closing: then the next reader sees
    // that the run was abandoned.
    const kept = await store.backtests.find(organizationId, id).catch(() => undefined)
    if (kept) return { id, version, checksum, ...(JSON.parse(kept.result) as BacktestResult) }
    const failure = 'It did not come to its end, because the database did not answer. Start it again.'
    await store.backtestRuns.fail(organizationId, { runId: id, failure }).catch(() => {})
    throw conflict('backtest_failed', 'The backtest did not come to its end, because the database did not answer.')
  }
}

/** Reports progress to the database, where every node can see it and where a cancellation is seen. */
function reporter(
  { stores }: Installation,
  { organizationId, environment }: EnvironmentAct,
  { id: runId, onProgress }: RunningBacktest,
): (progress: { decided: number; total: number }) => Promise<boolean> {
  let reportAtMs = 0
  return async (progress) => {
    if (performance.now() < reportAtMs) return true
    reportAtMs = performance.now() + REPORT_EVERY_MS
    onProgress?.(progress)
    const { decided, total } = progress
    return stores[environment].backtestRuns.report(organizationId, { runId, done: decided, of: total })
  }
}

/**
 * Ends the run and keeps its result, in one change. Returns false if the run has ended before: it was cancelled, or
 * another one replaced it because its node was silent.
 */
async function keep(
  installation: Installation,
  act: EnvironmentAct,
  { id, startedAt, policy, result }: RunningBacktest & { result: BacktestResult },
): Promise<boolean> {
  const { organizationId, environment } = act
  const actor = actorOf(act)
  const context = contextOf(installation, act)
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
      ...viaOf(act),
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

function requireRange({ last, fromMs, toMs }: BacktestRange): void {
  if (!Number.isInteger(last) || last < 1 || last > BACKTEST_DECISIONS_MAX)
    throw invalid('backtest_size_invalid', `A backtest takes 1 to ${BACKTEST_DECISIONS_MAX} decisions.`)
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs)
    throw invalid('period_reversed', 'The period ends before it begins.')
}

function namesOf({ id, version, checksum }: Pick<StoredPolicy, 'id' | 'version' | 'checksum'>) {
  return { policy_id: id, policy_version: version, policy_checksum: checksum }
}
