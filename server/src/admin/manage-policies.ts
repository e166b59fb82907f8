import type { Environment } from '../config.ts'
import { canonicalJson, sha256 } from '../core/canonical-json.ts'
import type { PolicyTestResult } from '../core/decide/run-policy-tests.ts'
import type { Installation } from '../installation/installation.ts'
import { findOperatorById } from '../store/control/operators.ts'
import { DatabaseError } from '../store/database/database.ts'
import type { PolicyState, PolicyStep, PolicySwitch, StoredPolicy } from '../store/environment/policies.ts'
import type { Change } from '../store/write-path/change.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import type { TaskClient } from '../threads/thread-pool.ts'
import { examinePolicyApart } from './examine-policy-apart.ts'
import { actorOf, isSamePerson, type OperatorAct, refusal, type SoleAct } from './operator-act.ts'
import {
  activatedEvent,
  type BacktestEvidence,
  policyRow,
  policyStep,
  type StepContext,
  type StepEvidence,
  testEvidence,
} from './policy-steps.ts'

/** An operator's act on a policy of one environment. */
export interface PolicyAct extends OperatorAct {
  environment: Environment
}

/** An act on a policy that one person may take alone. */
export type SolePolicyAct = SoleAct & { environment: Environment }

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

interface Problem {
  problem: string
}

/** Stores a policy for approval. A proposed policy never changes. */
export async function proposePolicy(
  installation: Installation,
  act: PolicyAct,
  source: string,
): Promise<PolicyStanding | Problem> {
  const refused = refusal(act, 'propose policies')
  if (refused) return refused
  const policy = await examinePolicyApart(installation.threads, { source }, clientOf(act))
  if ('problem' in policy) return policy
  const { version } = policy.document
  const known = await installation.stores[act.environment].policies.byVersion(act.organizationId, version)
  if (known) return versionTaken(version, known.checksum === policy.checksum)

  const context = stepContext(act)
  const row = policyRow(installation, { policy, source, author: context.actor })
  const first = policyStep(installation, row, {
    ...context,
    step: 'proposed',
    number: 1,
    evidence: testEvidence(policy.tests),
    proposed: row,
  })
  const written = await writeOnce(installation, act, {
    rows: { policies: [row], policy_steps: [first.row] },
    auditEntries: [first.entry],
  })
  return written ? standing(act, row, 'proposed') : versionTaken(version, false)
}

/**
 * Approves a proposed policy: its checksum, its current test results and its newest backtest. The author cannot approve it.
 * `shownBacktest` is the id of the backtest that the approver was shown, null for none; it must still be the newest.
 */
export async function approvePolicy(
  installation: Installation,
  act: PolicyAct,
  version: string,
  shownBacktest?: string | null,
): Promise<PolicyStanding | Problem> {
  const refused = refusal(act, 'approve policies')
  if (refused) return refused
  const policy = await findPolicy(installation, act, version)
  if ('problem' in policy) return policy
  if (policy.state !== 'proposed')
    return { problem: `${version} is ${policy.state}: only a proposed policy can be approved` }
  const { author_type, author_id } = policy
  const author =
    author_type === 'operator'
      ? await findOperatorById(installation.storage.control, act.organizationId, author_id)
      : undefined
  if (author_type === 'operator' && !author)
    return {
      problem: `the author of ${version} cannot be confirmed: run audit verify, and propose it under a new version`,
    }
  if (author && isSamePerson(author, act.operator))
    return { problem: `${act.operator.email} wrote ${version}: another operator has to approve it` }
  const examined = await examinePolicyApart(installation.threads, storedOf(policy), clientOf(act))
  if ('problem' in examined) return { problem: `${version} cannot be approved: ${examined.problem}` }
  const backtest = await newestBacktest(installation, act, policy)
  if (shownBacktest !== undefined && shownBacktest !== (backtest?.id ?? null))
    return { problem: `${version} was backtested again meanwhile: look at the new result first` }
  const evidence = { ...testEvidence(examined.tests), backtest }
  return (
    (await unconfirmed(installation, act, policy)) ??
    takeStep(installation, act, { policy, step: 'approved', evidence })
  )
}

/** Rejects a policy that was never active, for good. */
export async function rejectPolicy(
  installation: Installation,
  act: SolePolicyAct,
  version: string,
): Promise<PolicyStanding | Problem> {
  const refused = refusal(act, 'reject policies')
  if (refused) return refused
  const policy = await findPolicy(installation, act, version)
  if ('problem' in policy) return policy
  const steps = await installation.stores[act.environment].policies.steps(act.organizationId, policy.id)
  if (policy.state === 'rejected' || steps.some(({ step }) => step === 'activated'))
    return { problem: `${version} is ${policy.state}: only a policy that was never active can be rejected` }
  const examined = await examinePolicyApart(installation.threads, storedOf(policy), clientOf(act))
  return takeStep(installation, act, {
    policy,
    step: 'rejected',
    evidence: testEvidence('problem' in examined ? [] : examined.tests),
  })
}

/** Activates an approved policy in place of the active one. Activating a retired policy rolls back to it. */
export async function activatePolicy(
  installation: Installation,
  act: SolePolicyAct,
  version: string,
): Promise<PolicyStanding | Problem> {
  const refused = refusal(act, 'activate policies')
  if (refused) return refused
  const policy = await findPolicy(installation, act, version)
  if ('problem' in policy) return policy
  const tests = await approvedTests(installation, act, policy)
  if ('problem' in tests) return tests
  const altered = await unconfirmed(installation, act, policy)
  if (altered) return altered

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
  if (!switched) return changedConcurrently(`${version} or the active policy`, version)
  return { ...standing(act, policy, 'active'), ...(replaced && { replaced: replaced.version }) }
}

/** The steps of a switch of the active policy, with their audit entries and the event. */
function activation(
  installation: Installation,
  act: SolePolicyAct,
  { policy, replaced, tests }: { policy: StoredPolicy; replaced: StoredPolicy | undefined; tests: PolicyTestResult[] },
): Pick<PolicySwitch, 'steps' | 'event' | 'auditEntries'> {
  const context = stepContext(act)
  const retired =
    replaced &&
    policyStep(installation, replaced, {
      ...context,
      step: 'retired',
      number: replaced.steps_taken + 1,
      evidence: { replaced_by: policy.version },
    })
  const activated = policyStep(installation, policy, {
    ...context,
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
  act: SolePolicyAct,
  policy: StoredPolicy,
): Promise<PolicyTestResult[] | Problem> {
  const { environment, organizationId } = act
  const store = installation.stores[environment]
  const { version, state } = policy
  if (state === 'active') return { problem: `${version} is active already` }
  if (state === 'rejected') return { problem: `${version} was rejected: propose a policy under a new version instead` }
  const steps = await store.policies.steps(organizationId, policy.id)
  const approval = steps.findLast(({ step }) => step === 'approved')
  if (!approval) return { problem: `${version} is not approved yet: policy approve ${version}` }
  const examined = await examinePolicyApart(installation.threads, storedOf(policy), clientOf(act))
  if ('problem' in examined) return { problem: `${version} cannot be activated: ${examined.problem}` }
  if (!covers(approval, policy, examined.tests))
    return {
      problem: `the approval of ${version} is for another document or other test results: propose it under a new version`,
    }
  const { backtest } = JSON.parse(approval.evidence) as { backtest?: BacktestEvidence | null }
  const stored = backtest ? await store.backtests.find(organizationId, backtest.id) : undefined
  if (backtest && (stored?.checksum !== policy.checksum || sha256(stored.result) !== backtest.result_sha256))
    return {
      problem: `the backtest ${backtest.id} that the approval of ${version} is based on was altered or deleted: propose it under a new version`,
    }
  return examined.tests
}

/** The newest backtest of exactly this policy, as the evidence of an approval names it. */
async function newestBacktest(
  { stores }: Installation,
  { environment, organizationId }: SolePolicyAct,
  policy: StoredPolicy,
): Promise<BacktestEvidence | null> {
  const store = stores[environment]
  const newest = (await store.backtests.ofPolicy(organizationId, policy.id)).find(
    ({ checksum }) => checksum === policy.checksum,
  )
  const stored = newest && (await store.backtests.find(organizationId, newest.id))
  if (!stored) return null
  const { id, decided, changed, result } = stored
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
function clientOf({ organizationId }: SolePolicyAct): TaskClient {
  return { organizationId }
}

async function findPolicy(
  { stores }: Installation,
  { environment, organizationId }: SolePolicyAct,
  version: string,
): Promise<StoredPolicy | Problem> {
  const policy = await stores[environment].policies.byVersion(organizationId, version)
  return (
    policy ?? { problem: `there is no policy ${JSON.stringify(version)} in ${environment}: policy list shows them` }
  )
}

/** Why a stored policy may take no further step: the log does not confirm who proposed and approved it. */
async function unconfirmed(
  { stores }: Installation,
  { environment, organizationId }: SolePolicyAct,
  policy: StoredPolicy,
): Promise<Problem | undefined> {
  const store = stores[environment]
  if (await store.policies.isConfirmed(policy)) return undefined
  const { steps_taken } = (await store.policies.byVersion(organizationId, policy.version)) ?? policy
  if (steps_taken !== policy.steps_taken) return changedConcurrently(policy.version, policy.version)
  return {
    problem: `the stored policy ${policy.version} or its steps are not those that the audit log recorded: run audit verify, and propose it under a new version`,
  }
}

async function takeStep(
  installation: Installation,
  act: SolePolicyAct,
  { policy, step, evidence }: { policy: StoredPolicy; step: 'approved' | 'rejected'; evidence: StepEvidence },
): Promise<PolicyStanding | Problem> {
  const number = policy.steps_taken + 1
  const { row, entry } = policyStep(installation, policy, {
    ...stepContext(act),
    step,
    number,
    evidence,
  })
  const written = await writeOnce(installation, act, { rows: { policy_steps: [row] }, auditEntries: [entry] })
  return written ? standing(act, policy, step) : changedConcurrently(policy.version, policy.version)
}

/** Writes a step; false if a concurrent writer took the same step, or the same version name, first. */
async function writeOnce(
  { stores }: Installation,
  { environment, organizationId }: SolePolicyAct,
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

function stepContext(act: SolePolicyAct): StepContext {
  return { organizationId: act.organizationId, reason: act.reason.trim(), ...actorOf(act) }
}

function standing(
  { environment }: SolePolicyAct,
  { id, version, checksum }: Pick<StoredPolicy, 'id' | 'version' | 'checksum'>,
  state: PolicyState,
): PolicyStanding {
  return { environment, id, version, checksum, state }
}

function versionTaken(version: string, isSame: boolean): Problem {
  return {
    problem: isSame
      ? `${version} was proposed before, unchanged: policy show ${version} shows its state`
      : `${version} was proposed before and cannot change: give the new one another version`,
  }
}

function changedConcurrently(what: string, version: string): Problem {
  return { problem: `another operator changed ${what} at the same moment: check policy show ${version} and try again` }
}
