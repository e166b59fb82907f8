import { backtestDraft, beginBacktest, cancelBacktest } from '../../admin/backtest-policy.ts'
import { findPolicy } from '../../admin/find-policy.ts'
import { rolesWith } from '../../admin/permissions.ts'
import { notFound } from '../../admin/problem.ts'
import { BACKTEST_DECISIONS_MAX, type BacktestRange } from '../../admin/run-backtest.ts'
import type { BacktestResult } from '../../core/backtest/backtest-result.ts'
import { Strict, Text } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { listOperators } from '../../store/control/operators.ts'
import { defineOperation } from '../define-operation.ts'

const version = Type.String({ minLength: 1, maxLength: 200 })
const time = Type.String({ format: 'date-time', maxLength: 40 })
/** Small enough that an author sees the figures while typing. */
const DRAFT_DECISIONS_MAX = 2_000

/** Begins to decide recorded decisions again under a policy. */
const beginPolicyBacktest = defineOperation({
  summary: 'Begin to decide recorded decisions again under a policy, in the background',
  access: beginBacktest.permission,
  input: Strict({
    version,
    last: Type.Integer({ minimum: 1, maximum: BACKTEST_DECISIONS_MAX }),
    from: Type.Optional(time),
    to: Type.Optional(time),
  }),
  audit: ['policy.backtested'],
  async handle({ installation, act, input }) {
    const range: BacktestRange = { last: input.last, fromMs: msOf(input.from), toMs: msOf(input.to) }
    // It goes on after the answer, and keeps how it ended in the database.
    const { id } = await beginBacktest(installation, act, { version: input.version, range })
    return { id }
  },
})

/** Cancels the backtest that is running. */
const cancelPolicyBacktest = defineOperation({
  summary: 'Cancel the backtest that is running',
  access: cancelBacktest.permission,
  input: Strict({ reason: Type.Optional(Text(2_000, 'Why; recorded in the audit log.')) }),
  audit: ['policy.backtest_cancelled'],
  handle: ({ installation, act }) => cancelBacktest(installation, act),
})

/** How far the backtest of a policy has come, and the backtests that it has. */
const listPolicyBacktests = defineOperation({
  summary: 'The backtests of a policy, and the one that is running',
  access: 'see the console',
  input: Strict({ version }),
  audit: [],
  async handle({ store, organizationId, installation, act, input }) {
    const policy = await findPolicy(installation, act, input.version)
    const [run, backtests, operators] = await Promise.all([
      store.backtestRuns.newest(organizationId),
      store.backtests.ofPolicy(organizationId, policy.id),
      listOperators(installation.storage.control, organizationId),
    ])
    const names = new Map(operators.map(({ id, name }) => [id, name]))
    const isOurs = run?.policy_id === policy.id
    return {
      /** The roles that may begin one. */
      begun_by: rolesWith(beginBacktest.permission),
      decisions_max: BACKTEST_DECISIONS_MAX,
      running: run?.is_running
        ? { is_of_this_policy: isOurs, decided: run.decided, total: run.total, at: run.started_at }
        : null,
      failure: isOurs ? (run.is_abandoned ? 'The node that ran it stopped before the end.' : run.failure) : null,
      backtests: backtests.map(({ id, decided, changed, actor_id, finished_at }) => ({
        id,
        decided,
        changed,
        at: finished_at,
        by: names.get(actor_id) ?? actor_id,
      })),
    }
  },
})

/** Shows the result of a backtest. */
const showPolicyBacktest = defineOperation({
  summary: 'Show the result of a backtest',
  access: 'see the console',
  input: Strict({ id: Type.String({ minLength: 1, maxLength: 40 }) }),
  audit: [],
  async handle({ store, organizationId, input }) {
    const backtest = await store.backtests.find(organizationId, input.id)
    if (!backtest) throw notFound('backtest_not_found', 'There is no such backtest in this environment.')
    const { id, checksum, finished_at } = backtest
    const result = JSON.parse(backtest.result) as BacktestResult
    if (!('headline' in result))
      throw notFound('backtest_not_found', 'This backtest was made before backtests had a headline. Run it again.')
    return { id, checksum, at: finished_at, result }
  },
})

/** What a draft would have decided on the newest decisions, and how many of them each of its rules matches. */
const tryDraft = defineOperation({
  summary: 'Decide the newest decisions again under a draft, which is not kept',
  access: backtestDraft.permission,
  input: Strict({
    source: Type.String({ minLength: 1, maxLength: 262_144 }),
    last: Type.Integer({ minimum: 1, maximum: DRAFT_DECISIONS_MAX }),
  }),
  audit: [],
  async handle({ installation, act, input: { source, last }, signal }) {
    const draft = { source, range: { last }, signal }
    const { decided, changed, before, after, rules } = await backtestDraft(installation, act, draft)
    return { decided, changed, approved_before: before.approved, approved_after: after.approved, rules }
  },
})

function msOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

/** The operations `policy-backtests.<verb>`. */
export const policyBacktests = {
  begin: beginPolicyBacktest,
  cancel: cancelPolicyBacktest,
  list: listPolicyBacktests,
  show: showPolicyBacktest,
  try: tryDraft,
}
