import type { Environment } from '../config.ts'
import { canonicalJson, sha256 } from '../core/canonical-json.ts'
import type { PolicyTestResult } from '../core/decide/run-policy-tests.ts'
import type { Installation } from '../installation/installation.ts'
import { findOperatorById } from '../store/control/operators.ts'
import { DatabaseError } from '../store/database/database.ts'
import type { PolicyState, PolicyStep, PolicySwitch, StoredPolicy } from '../store/environment/policies.ts'
import type { RowOf } from '../store/schema/tables.ts'
import type { Change } from '../store/write-path/change.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import type { TaskClient } from '../threads/thread-pool.ts'
import { type EnvironmentAct, type OperatorActor, permitted, type Reasoned } from './act.ts'
import { requireWithinLimits } from './backtest-limits.ts'
import type { FaultyPolicy } from './examine-policy.ts'
import { examinePolicyApart } from './examine-policy-apart.ts'
import { findPolicy } from './find-policy.ts'
import { isSamePerson } from './permissions.ts'
import {
  activatedEvent,
  type BacktestEvidence,
  policyRow,
  policyStep,
  type StepEvidence,
  testEvidence,
} from './policy-steps.ts'
import { changedMeanwhile, conflict, forbidden, invalid, type Problem } from './problem.ts'

/** The state of a policy after a step. */
export interface PolicyStanding {
  environment: Environment
  id: string
  version: string
  checksum: string
  state: PolicyState
  /** The version that it replaced when it was activated. */
  replaced?: string
}

/** Stores a policy for approval. A proposed policy never changes. */
export const proposePolicy = permitted(
  'propose policies',
  async (installation, act: Reasoned<EnvironmentAct<OperatorActor>>, source: string): Promise<PolicyStanding> => {
    const policy = await examinePolicyApart(installation.threads, { source }, clientOf(act))
    if ('faults' in policy) throw invalid('policy_invalid', policy.faults)
    const { version } = policy.document
    const known = await installation.stores[act.environment].policies.byVersion(act.organizationId, version)
    if (known) throw versionTaken(version, known.checksum === policy.checksum)

    const row = policyRow(installation, act, { policy, source })
    const first = policyStep(installation, act, {
      policy: row,
      step: 'proposed',
      number: 1,
      evidence: testEvidence(policy.tests),
      proposed: row,
    })
    const written = await writeOnce(installation, act, {
      rows: { policies: [row], policy_steps: [first.row] },
      auditEntries: [first.entry],
    })
    if (!written) throw versionTaken(version, false)
    return standing(act, row, 'proposed')
  },
)

/** The approval of a policy. */
export interface Approval {
  version: string
  /** The id of the backtest that the approver was shown, null for none; it must still be the newest. */
  shownBacktest?: string | null
}

/** Approves a proposed policy: its checksum, its current test results and its newest backtest. The author cannot approve it. */
export const approvePolicy = permitted(
  'approve policies',
  async (
    installation,
    act: Reasoned<EnvironmentAct<OperatorActor>>,
    { version, shownBacktest }: Approval,
  ): Promise<PolicyStanding> => {
    const policy = await findPolicy(installation, act, version)
    if (policy.state !== 'proposed')
      throw conflict('policy_not_proposed', `${version} is ${policy.state}. Only a proposed policy can be approved.`)
    await requireOtherAuthor(installation, act, policy)
    const examined = await examinePolicyApart(installation.threads, storedOf(policy), clientOf(act))
    if ('faults' in examined) throw unusable(version, 'approved', examined)
    const backtest = await newestBacktest(installation, act, policy)
    if (shownBacktest !== undefined && shownBacktest !== (backtest?.id ?? null))
      throw conflict('backtested_again', `${version} was backtested again meanwhile.`)
    requireWithinLimits(policy, backtest)
    await requireConfirmed(installation, act, policy)
    return takeStep(installation, act, {
      policy,
      step: 'approved',
      evidence: { ...testEvidence(examined.tests), backtest: backtest ? evidenceOf(backtest) : null },
    })
  },
)

/** Rejects a policy that was never active, for good. */
export const rejectPolicy = permitted(
  'reject policies',
  async (installation, act: Reasoned<EnvironmentAct>, version: string): Promise<PolicyStanding> => {
    const policy = await findPolicy(installation, act, version)
    const steps = await installation.stores[act.environment].policies.steps(act.organizationId, policy.id)
    if (policy.state === 'rejected' || steps.some(({ step }) => step === 'activated'))
      throw conflict(
        'policy_not_rejectable',
        `${version} is ${policy.state}. Only a policy that was never active can be rejected.`,
      )
    const examined = await examinePolicyApart(installation.threads, storedOf(policy), clientOf(act))
    return takeStep(installation, act, {
      policy,
      step: 'rejected',
      evidence: testEvidence('faults' in examined ? [] : examined.tests),
    })
  },
)

/** Activates an approved policy in place of the active one. Activating a retired policy rolls back to it. */
export const activatePolicy = permitted(
  'activate policies',
  async (installation, act: Reasoned<EnvironmentAct>, version: string): Promise<PolicyStanding> => {
    const policy = await findPolicy(installation, act, version)
    const tests = await approvedTests(installation, act, policy)
    await requireConfirmed(installation, act, policy)

    const store = installation.stores[act.environment]
    const active = await store.policies.active(act.organizationId)
    const replaced = active && (await store.policies.byVersion(act.organizationId, active.version))
    const switched = await store.policies.switchActive({
      organizationId: act.organizationId,
      policy,
      replacesId: replaced?.id,
      activatedAt: new Date(installation.nowMs()).toISOString(),
      ...activation(installation, act, { policy, replaced, tests }),
    })
    if (!switched) throw changedMeanwhile(`${version} or the active policy`)
    return { ...standing(act, policy, 'active'), ...(replaced && { replaced: replaced.version }) }
  },
)

/** The steps of a switch of the active policy, with their audit entries and the event. */
function activation(
  installation: Installation,
  act: Reasoned<EnvironmentAct>,
  { policy, replaced, tests }: { policy: StoredPolicy; replaced: StoredPolicy | undefined; tests: PolicyTestResult[] },
): Pick<PolicySwitch, 'steps' | 'event' | 'auditEntries'> {
  const retired =
    replaced &&
    policyStep(installation, act, {
      policy: replaced,
      step: 'retired',
      number: replaced.steps_taken + 1,
      evidence: { replaced_by: policy.version },
    })
  const activated = policyStep(installation, act, {
    policy,
    step: 'activated',
    number: policy.steps_taken + 1,
    evidence: testEvidence(tests),
  })
  const steps = retired ? [retired, activated] : [activated]
  return {
    steps: steps.map(({ row }) => row),
    event: activatedEvent(installation, policy, replaced),
    auditEntries: steps.map(({ entry }) => entry),
  }
}

/** The test results of a policy that may be activated: its approval covers its stored document and these results. */
async function approvedTests(
  installation: Installation,
  act: EnvironmentAct,
  policy: StoredPolicy,
): Promise<PolicyTestResult[]> {
  const { environment, organizationId } = act
  const store = installation.stores[environment]
  const { version, state } = policy
  if (state === 'active') throw conflict('policy_active', `${version} is active already.`)
  if (state === 'rejected') throw conflict('policy_rejected', `${version} was rejected.`)
  const steps = await store.policies.steps(organizationId, policy.id)
  const approval = steps.findLast(({ step }) => step === 'approved')
  if (!approval) throw conflict('policy_not_approved', `${version} is not approved yet.`)
  const examined = await examinePolicyApart(installation.threads, storedOf(policy), clientOf(act))
  if ('faults' in examined) throw unusable(version, 'activated', examined)
  if (!covers(approval, policy, examined.tests))
    throw conflict('approval_outdated', `The approval of ${version} is for another document or other test results.`)
  const { backtest } = JSON.parse(approval.evidence) as { backtest?: BacktestEvidence | null }
  const stored = backtest ? await store.backtests.find(organizationId, backtest.id) : undefined
  if (backtest && (stored?.checksum !== policy.checksum || sha256(stored.result) !== backtest.result_sha256))
    throw conflict(
      'backtest_altered',
      `The backtest ${backtest.id} that the approval of ${version} is based on was altered or deleted.`,
    )
  return examined.tests
}

/** The newest backtest of exactly this policy. */
async function newestBacktest(
  { stores }: Installation,
  { environment, organizationId }: EnvironmentAct,
  policy: StoredPolicy,
): Promise<RowOf<'policy_backtests'> | undefined> {
  const store = stores[environment]
  const newest = (await store.backtests.ofPolicy(organizationId, policy.id)).find(
    ({ checksum }) => checksum === policy.checksum,
  )
  return newest && store.backtests.find(organizationId, newest.id)
}

/** A backtest as the evidence of an approval names it. */
function evidenceOf({ id, decided, changed, result }: RowOf<'policy_backtests'>): BacktestEvidence {
  return { id, decided, changed, result_sha256: sha256(result) }
}

/** Whether an approval covers a policy: it is for the checksum and the test results that the approver was shown. */
function covers(approval: PolicyStep, { checksum }: StoredPolicy, tests: readonly PolicyTestResult[]): boolean {
  const shown = JSON.parse(approval.evidence) as { tests?: unknown }
  return approval.checksum === checksum && canonicalJson(shown.tests ?? null) === canonicalJson(tests)
}

/** The parts of a stored policy that are examined; a worker thread is given nothing else. */
function storedOf({ document, checksum }: StoredPolicy): { document: string; checksum: string } {
  return { document, checksum }
}

/** The client of the thread that examines: the organization whose turn it takes. */
function clientOf({ organizationId }: EnvironmentAct): TaskClient {
  return { organizationId }
}

/** Refuses the author of a policy: another operator has to approve it. */
async function requireOtherAuthor(
  { storage }: Installation,
  { organizationId, by }: EnvironmentAct<OperatorActor>,
  { author_type, author_id, version }: StoredPolicy,
): Promise<void> {
  if (author_type !== 'operator') return
  const author = await findOperatorById(storage.control, organizationId, author_id)
  if (!author) throw conflict('author_unconfirmed', `The author of ${version} cannot be confirmed.`)
  if (isSamePerson(author, by.operator))
    throw forbidden('own_policy', `${by.operator.email} wrote ${version}. Another operator has to approve it.`)
}

/** Refuses a stored policy of which the audit log does not confirm who proposed and approved it. */
async function requireConfirmed(
  { stores }: Installation,
  { environment, organizationId }: EnvironmentAct,
  policy: StoredPolicy,
): Promise<void> {
  const store = stores[environment]
  if (await store.policies.isConfirmed(policy)) return
  const { steps_taken } = (await store.policies.byVersion(organizationId, policy.version)) ?? policy
  if (steps_taken !== policy.steps_taken) throw changedMeanwhile(policy.version)
  throw conflict(
    'policy_altered',
    `The stored policy ${policy.version} or its steps are not those that the audit log recorded.`,
  )
}

async function takeStep(
  installation: Installation,
  act: Reasoned<EnvironmentAct>,
  { policy, step, evidence }: { policy: StoredPolicy; step: 'approved' | 'rejected'; evidence: StepEvidence },
): Promise<PolicyStanding> {
  const number = policy.steps_taken + 1
  const { row, entry } = policyStep(installation, act, { policy, step, number, evidence })
  const written = await writeOnce(installation, act, { rows: { policy_steps: [row] }, auditEntries: [entry] })
  if (!written) throw changedMeanwhile(policy.version)
  return standing(act, policy, step)
}

/** Writes a step; false if a concurrent writer took the same step, or the same version name, first. */
async function writeOnce(
  { stores }: Installation,
  { environment, organizationId }: EnvironmentAct,
  change: Omit<Change, 'organizationId'>,
): Promise<boolean> {
  try {
    await commitOrThrow(stores[environment], { organizationId, ...change })
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation) return false
    throw error
  }
}

function standing(
  { environment }: EnvironmentAct,
  { id, version, checksum }: Pick<StoredPolicy, 'id' | 'version' | 'checksum'>,
  state: PolicyState,
): PolicyStanding {
  return { environment, id, version, checksum, state }
}

function versionTaken(version: string, isSame: boolean): Problem {
  return isSame
    ? conflict('version_proposed', `${version} was proposed before, unchanged.`)
    : conflict('version_taken', `${version} was proposed before and cannot change.`)
}

function unusable(version: string, step: 'approved' | 'activated', { faults }: FaultyPolicy): Problem {
  return conflict('policy_unusable', `${version} cannot be ${step}. ${faults}`)
}
