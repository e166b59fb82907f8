import { canonicalJson, canonicalSha256 } from '../core/canonical-json.ts'
import { ENGINE_VERSION } from '../core/decide/evaluation.ts'
import type { PolicyTestResult } from '../core/decide/run-policy-tests.ts'
import type { CompiledPolicy } from '../core/policy/compile/compiled-policy.ts'
import type { Installation } from '../installation/installation.ts'
import type { NewRow, RowOf } from '../store/schema/tables.ts'
import { type AuditEntryRow, auditEntryRow, type EventRow, eventRow } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { actorOf, contextOf, type OrganizationAct, type Reasoned, viaOf } from './act.ts'

/** A backtest as the evidence of an approval names it. */
export interface BacktestEvidence {
  id: string
  decided: number
  changed: number
  /** SHA-256 of its result. */
  result_sha256: string
}

/**
 * The evidence of a step: the test results, and for an approval the newest backtest, that the actor was shown; or the version
 * that replaced the policy. `backtest` is null if there was none.
 */
export type StepEvidence =
  | { engine_version: string; tests: PolicyTestResult[]; backtest?: BacktestEvidence | null }
  | { replaced_by: string }

/** One step of one policy. */
export interface NewStep {
  policy: PolicyName
  step: 'proposed' | 'approved' | 'rejected' | 'activated' | 'retired'
  number: number
  evidence: StepEvidence
  /** The row of the policy, with the step that proposes it. */
  proposed?: NewRow<'policies'>
}

/** The fields that identify a policy in steps and events. */
export type PolicyName = Pick<RowOf<'policies'>, 'id' | 'version' | 'checksum'>

/** The evidence of a step for which the tests just ran. */
export function testEvidence(tests: PolicyTestResult[]): { engine_version: string; tests: PolicyTestResult[] } {
  return { engine_version: ENGINE_VERSION, tests }
}

/** The row of a newly proposed policy. */
export function policyRow(
  { newId, nowMs }: Installation,
  act: OrganizationAct,
  { policy, source }: { policy: Pick<CompiledPolicy, 'document' | 'checksum'>; source: string },
): NewRow<'policies'> {
  const { document, checksum } = policy
  const author = actorOf(act)
  return {
    id: newId('pol'),
    version: document.version,
    model_version: document.model_version,
    checksum,
    document: canonicalJson(document),
    source,
    author_type: author.type,
    author_id: author.id,
    created_at: new Date(nowMs()).toISOString(),
  }
}

/** The row of a step with its audit entry, which binds actor, time and reason to the checksum and to the evidence. */
export function policyStep(
  installation: Installation,
  act: Reasoned<OrganizationAct>,
  { policy, step, number, evidence, proposed }: NewStep,
): { row: NewRow<'policy_steps'>; entry: AuditEntryRow } {
  const { organizationId, reason } = act
  const actor = actorOf(act)
  const context = contextOf(installation, act)
  const row = {
    policy_id: policy.id,
    number,
    step,
    checksum: policy.checksum,
    evidence: canonicalJson(evidence),
    reason,
    actor_type: actor.type,
    actor_id: actor.id,
    taken_at: context.now,
  }
  const entry = auditEntryRow(context, {
    type: `policy.${step}`,
    trailId: policy.id,
    subject: { type: 'policy', id: policy.id },
    data: {
      ...namesOf(policy),
      evidence_sha256: canonicalSha256(evidence),
      record_sha256: recordSha256<'policy_steps'>(organizationId, row),
      ...(proposed && { policy_sha256: recordSha256<'policies'>(organizationId, proposed) }),
      reason,
      ...viaOf(act),
    },
  })
  return { row, entry }
}

/** The event that announces the newly active policy. */
export function activatedEvent(
  { newId, nowMs }: Installation,
  policy: PolicyName,
  replaced: { version: string } | undefined,
): EventRow {
  return eventRow({ now: new Date(nowMs()).toISOString(), newId }, 'policy.activated', {
    ...namesOf(policy),
    previous_policy_version: replaced?.version ?? null,
  })
}

function namesOf({ id, version, checksum }: PolicyName) {
  return { policy_id: id, policy_version: version, policy_checksum: checksum }
}
