import type { AdminActor } from '../core/audit/audit-entry.ts'
import { canonicalJson, canonicalSha256 } from '../core/canonical-json.ts'
import { ENGINE_VERSION } from '../core/decide/engine-version.ts'
import type { PolicyTestResult } from '../core/decide/run-policy-tests.ts'
import type { CompiledPolicy } from '../core/policy/compiled-policy.ts'
import type { Installation } from '../service/installation.ts'
import type { NewRow, RowOf } from '../store/schema/tables.ts'
import { auditEntryRow, eventRow } from '../store/write-path/record.ts'
import { recordContext } from './record-context.ts'

/** What somebody was shown when they took a step. */
export type StepEvidence = { engine_version: string; tests: PolicyTestResult[] } | { replaced_by: string }

/** Who takes a step for which organization, and why. */
export interface StepTaker {
  organizationId: string
  actor: AdminActor
  reason: string
  /** What vouches for the actor, such as the command line and its user. */
  via?: string
}

/** One step of one policy. */
export interface NewStep extends StepTaker {
  step: 'proposed' | 'approved' | 'rejected' | 'activated' | 'retired'
  number: number
  evidence: StepEvidence
}

/** Policies by what their steps and events say of them. */
export type PolicyName = Pick<RowOf<'policies'>, 'id' | 'version' | 'checksum'>

/** The evidence of tests that just ran. */
export function testEvidence(tests: PolicyTestResult[]): StepEvidence {
  return { engine_version: ENGINE_VERSION, tests }
}

/** The row of a policy that is proposed. */
export function policyRow(
  { newId, nowMs }: Installation,
  { policy, source, author }: { policy: CompiledPolicy; source: string; author: AdminActor },
): NewRow<'policies'> {
  const { document, checksum } = policy
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

/** A step with its audit entry, which binds who, when and why to the checksum and to the evidence. */
export function policyStep(
  installation: Installation,
  policy: PolicyName,
  { organizationId, step, number, evidence, actor, reason, via }: NewStep,
): { row: NewRow<'policy_steps'>; entry: NewRow<'audit_entries'> } {
  const context = recordContext(installation, { organizationId, actor })
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
    data: { ...namesOf(policy), evidence_sha256: canonicalSha256(evidence), reason, ...(via && { via }) },
  })
  return { row, entry }
}

/** The event that announces which policy decides from now on. */
export function activatedEvent(
  { newId, nowMs }: Installation,
  policy: PolicyName,
  replaced: { version: string } | undefined,
): NewRow<'events'> {
  return eventRow({ now: new Date(nowMs()).toISOString(), newId }, 'policy.activated', {
    ...namesOf(policy),
    previous_policy_version: replaced?.version ?? null,
  })
}

function namesOf({ id, version, checksum }: PolicyName) {
  return { policy_id: id, policy_version: version, policy_checksum: checksum }
}
