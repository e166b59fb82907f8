import type { ApprovalLimit } from '../approval-limits.ts'
import type { ReviewBounds } from '../review-bounds.ts'
import type { NumberNotation } from '../vocabularies.ts'
import { EVENT_TYPES, type EventData, type EventType } from '../webhooks/event-types.ts'
import type { Checkpoint } from './checkpoint.ts'

/** How entries name a policy. */
interface PolicyNames {
  policy_id: string
  policy_version: string
  policy_checksum: string
}

/** The data of the entries about the steps of a policy. */
interface PolicyStepData extends PolicyNames {
  /** SHA-256 of what the operator was shown: the engine version, the results of the policy's own tests, the backtest. */
  evidence_sha256: string
  /** SHA-256 of the stored step, all its columns, as canonical JSON. */
  record_sha256: string
  /** Of a proposal: SHA-256 of the stored policy, all its columns, as canonical JSON. */
  policy_sha256?: string
  reason: string
  via?: string
}

/** Why the live gate was approved or closed; `via` names the user of the operating system who typed the command. */
interface GateData {
  reason: string
  via?: string
}

/** The data of the two steps by which operators take an outcome back. */
interface RetractionData {
  entity_id: string
  decision_id: string
  outcome_id: string
  outcome_type: string
  /** SHA-256 of the stored step, all its columns, as canonical JSON; the reason is only there, because it may name a person. */
  record_sha256: string
  via?: string
}

/** The data of the steps that make entities read as one, and tell one of them apart again. */
interface MergeData {
  entity_id: string
  merge_id: string
  /** The entity that joins the others, or is told apart from them. */
  subject_id: string
  /** The entities that `entity_id` is read with after the step, itself among them. */
  members: readonly string[]
  /** SHA-256 of the stored step, all its columns, as canonical JSON; the reason is only there, because it may name a person. */
  record_sha256: string
  via?: string
}

/**
 * The data of the steps that erase an entity, hold it against erasure, or lift the hold. The reason is only in the stored step,
 * because it may name a person.
 */
interface EntityStepData {
  entity_id: string
  /** SHA-256 of the stored step, all its columns, as canonical JSON. */
  record_sha256: string
  via?: string
}

/** The case of the review queue that an entry is about. */
interface CaseData {
  entity_id: string
  case_id: string
}

/** The data of entries about a webhook endpoint; of its URL only the host, because the rest may contain secrets. */
type WebhookEndpointData<T> = { host: string } & T

/**
 * The data of entries that are not announced as an event of the same type, or with other data than the event: never
 * personal data, because an entry cannot be taken back.
 */
interface AuditOnlyData {
  'organization.created': { organization_id: string }
  'audit_log.restored': {
    /** Where the restored log goes on. */
    tree_size: number
    /** The newest head that was signed before; the entries that it covers beyond `tree_size` are lost. */
    lost_head: Checkpoint
    reason: string
  }
  /** Rows of one subject that count again, although the log has lost their entry or has a newer one, after a restore. */
  'access.restored': {
    rows: readonly string[]
    earlier_entry_ids: readonly string[]
    reason: string
    /** The account of an operator, if one has joined, and whether the row says that the operator was removed. */
    account_id?: string | null
    is_removed?: boolean
  }
  /** Under the current key, so that it vouches for the next one; the ids are of the public keys of this log. */
  'master_key.rotation_begun': { key_id: string; next_key_id: string; reason: string }
  /** Under the new key, which signs from here on. */
  'master_key.rotated': { key_id: string; next_key_id: string; reason: string }
  'audit_log.verified': {
    intact: boolean
    /** How many leaves were verified. */
    leaves: number
    /** The root over them; null if leaves are missing. */
    root_hash: string | null
    problems: number
  }
  'operator.added': { role: string; via?: string }
  'operator.role_changed': { from: string; to: string; reason: string; via?: string }
  'operator.removed': {
    role: string
    approvals_withdrawn: number
    sessions_ended: number
    reason: string
    via?: string
  }
  'operator.code_reset': { via?: string }
  'operator.code_locked': { failures: number; locked_until: string }
  'operator.invited': { role: string; invitation_id: string; expires_at: string; via?: string }
  'operator.invitation_withdrawn': { invitation_id: string; reason: string; via?: string }
  /** The account that acts as the operator from now on. */
  'operator.joined': { role: string; account_id: string; invitation_id?: string }
  'operator.signed_in': { method: string; session_id: string }
  'operator.sign_in_locked': { failures: number; locked_until: string }
  'operator.password_changed': { sessions_ended: number }
  /** Null is the notation of the browser's locale. */
  'operator.number_notation_changed': { from: NumberNotation | null; to: NumberNotation | null }
  'operator.two_factor_enabled': { recovery_codes: number }
  'operator.two_factor_disabled': Record<string, never>
  'operator.recovery_codes_replaced': { recovery_codes: number }
  'operator.recovery_code_used': { recovery_codes_left: number }
  'operator.passkey_added': { passkey_id: string }
  'operator.passkey_removed': { passkey_id: string }
  'operator.single_sign_on_connected': { issuer: string }
  'operator.single_sign_on_disconnected': Record<string, never>
  /** With a reason if an owner or admin ended sessions of another person. */
  'operator.session_ended': { sessions: number; reason?: string }
  'first_link.made': { expires_at: string }
  'first_link.used': { account_id: string }
  /** How the account came to be: by the first link, an invitation or single sign-on. */
  'account.created': { method: string }
  /** An invitation took up an account that acted for no organization any more: no earlier sign-in counts. */
  'account.renewed': { invitation_id: string }
  'account.password_changed': Record<string, never>
  'account.two_factor_enabled': { recovery_codes: number }
  'account.two_factor_disabled': Record<string, never>
  'account.recovery_codes_replaced': { recovery_codes: number }
  'account.recovery_code_used': { recovery_codes_left: number }
  'account.passkey_added': { account_id: string }
  'account.passkey_removed': { account_id: string }
  'account.identity_connected': { account_id: string; issuer: string }
  /** No person at an identity provider who was connected before signs in any more. */
  'account.identities_disconnected': Record<string, never>
  'account.session_started': { account_id: string; method: string }
  'account.session_ended': { account_id: string }
  /** No session that was started before counts any more, except the one from which its person asked for it. */
  'account.sessions_ended': { kept_session_id: string | null }
  'api_key.created': {
    name: string
    scopes: readonly string[]
    expires_at: string | null
    /** The key that it replaces, if a rotation made it. */
    replaces?: string
    reason?: string
    /** SHA-256 of the stored key without the columns that change, as canonical JSON. */
    record_sha256: string
  }
  'api_key.rotated': { name: string; replaced_by: string; retires_at: string; reason?: string }
  'api_key.disabled': { name: string; reason?: string }
  'api_key.enabled': { name: string; reason?: string }
  'api_key.revoked': { name: string; reason?: string }
  /** `invited_by` is who added or invited the approver; null for a first owner, and for single sign-on. */
  'live_gate.approved': GateData & { invited_by: { type: string; id: string } | null }
  'live_gate.closed': GateData
  /** An approval that no longer counts, because the gate was closed, or its operator removed or given another role. */
  'live_gate.approval_withdrawn': { operator_id: string }
  /** Ids of operators; null if the case was free, or was given back. */
  'case.assigned': CaseData & { assignee_id: string | null; previous_assignee_id: string | null }
  /** The text of a note may hold personal data, so the entry has the hash of the stored note alone. */
  'case.noted': CaseData & { record_sha256: string }
  /** A second person signed what the first one decided; the reviews are recorded with it. */
  'case.signed': CaseData & { signature_id: string; signed_first_by: string }
  /** The signature counts no more; the words are in the note. */
  'case.sent_back': CaseData & { signature_id: string; note_id: string }
  /**
   * Two people approved that an entity is erased. The reason stays on the log for good, so it must not name the person.
   */
  'entity.erased': {
    entity_id: string
    reason: string
    proposed_by: string
    via?: string
    /** Of an erasure that was applied again after a restore: the entry that approved it, which the restored log has lost. */
    lost_entry_id?: string
  }
  /**
   * What is left of a record once its entity was erased: SHA-256 of the stored record, all its columns, as canonical JSON; of a
   * decision, of its documents. Null if the record is gone.
   */
  'record.redacted': { entity_id: string; erasure_id: string; record_sha256: string | null }
  /** Persons who were erased after the backup may be back: the file that names them was lost, and an operator went on without. */
  'audit_log.erasures_waived': { reason: string }
  'entity.erasure_proposed': EntityStepData
  'entity.erasure_withdrawn': EntityStepData & { proposed_by: string }
  'entity.hold_proposed': EntityStepData
  'entity.hold_withdrawn': EntityStepData & { proposed_by: string }
  /** From here on the entity is not erased, until `entity.hold_lifted`. */
  'entity.hold_set': EntityStepData & { proposed_by: string }
  'entity.hold_lift_proposed': EntityStepData
  'entity.hold_lift_withdrawn': EntityStepData & { proposed_by: string }
  'entity.hold_lifted': EntityStepData & { proposed_by: string }
  /** Up to which amounts people and API keys approve in this environment; rows that are not listed did not change. */
  'approval_limits.changed': { from: readonly ApprovalLimit[]; to: readonly ApprovalLimit[]; reason: string }
  /** Which rows an operator read for a file; the filter has words and ids, and no names. */
  'data.exported': { list: string; filter: Readonly<Record<string, string | undefined>> }
  'review_bounds.changed': { from: ReviewBounds; to: ReviewBounds; reason: string }
  'entity.merge_proposed': MergeData
  'entity.merged': MergeData & { proposed_by: string }
  'entity.separation_proposed': MergeData
  'entity.separated': MergeData & { proposed_by: string }
  /** An open offer ended, or did not open, because a later request has the same reference. */
  'decision.offer_replaced': { entity_id: string; decision_id: string; replaced_by: string }
  'decision.outcome_retraction_proposed': RetractionData
  'decision.outcome_retracted': RetractionData & { proposed_by: string }
  /** The result of a backtest; it is on a trail of its own, because the newest entry of a policy's trail is its state. */
  'policy.backtested': PolicyNames & {
    decided: number
    changed: number
    /** SHA-256 of the stored result, all its columns, as canonical JSON. */
    record_sha256: string
    via?: string
  }
  /** By age; the entry that recorded it stays. */
  'policy.backtest_deleted': PolicyNames & { finished_at: string }
  'policy.backtest_cancelled': PolicyNames & { decided: number; reason?: string }
  /** The words of a comment are only in its record, which may hold personal data. */
  'policy.commented': PolicyNames & { record_sha256: string; via?: string }
  'policy.proposed': PolicyStepData
  'policy.approved': PolicyStepData
  'policy.rejected': PolicyStepData
  'policy.activated': PolicyStepData
  'policy.retired': PolicyStepData
  /** The name of a scenario is free text, which may hold personal data; an entry could not forget it. */
  'scenario.added': { scenario_id: string }
  'scenario.changed': { scenario_id: string; changed: readonly ('name' | 'request')[] }
  'scenario.removed': { scenario_id: string }
  'webhook_endpoint.added': WebhookEndpointData<{ event_types: string }>
  'webhook_endpoint.edited': WebhookEndpointData<{
    /** The names of the fields that changed. */
    changed: readonly string[]
    /** Of a changed URL, the previous host. */
    previous_host?: string
    event_types?: { before: string; after: string }
    reason?: string
  }>
  'webhook_endpoint.secret_rotated': WebhookEndpointData<{
    /** Until when the previous secret signs as well; null if it ended at once. */
    previous_secret_until: string | null
    reason?: string
  }>
  'webhook_endpoint.overlap_ended': WebhookEndpointData<{ reason?: string }>
  'webhook_endpoint.disabled': WebhookEndpointData<{ why: string }>
  'webhook_endpoint.enabled': WebhookEndpointData<{ reason?: string }>
  'webhook_endpoint.removed': WebhookEndpointData<{ reason?: string }>
  'webhook_endpoint.redelivery': WebhookEndpointData<{
    deliveries: number
    first_event_id: string
    last_event_id: string
    reason?: string
  }>
}

/** The types of events whose data an audit entry of the same type does not have: it has more, or there is none. */
const SEPARATE_EVENT_TYPES = [
  'audit.checkpoint',
  'decision.outcome_retracted',
  'entity.erased',
  'entity.merged',
  'policy.activated',
] as const satisfies readonly ('audit.checkpoint' | (EventType & keyof AuditOnlyData))[]

/** The types of events that are audit entries: nothing else is stored of them. */
export type AuditedEventType = Exclude<EventType, 'audit.checkpoint' | keyof AuditOnlyData>

/** Whether the entries of a type are events too. */
export function isAuditedEvent(type: string): type is AuditedEventType {
  return AUDITED_EVENT_TYPES.some((audited) => audited === type)
}

/** The types of audit entries that are events too. */
export const AUDITED_EVENT_TYPES = EVENT_TYPES.filter(
  (type): type is AuditedEventType => !SEPARATE_EVENT_TYPES.some((separate) => separate === type),
)

/** The types of audit entries that no event announces with the same data. */
export type AuditOnlyType = keyof AuditOnlyData

/** The type of an audit entry. */
export type AuditEntryType = AuditedEventType | keyof AuditOnlyData

/** What entries have besides the data of the event that they are. */
interface NotSent {
  /** The keyed hash of the reference of the request, if it has one. */
  'decision.created': { reference_hash?: string }
}

/** The data that an audit entry of a type carries. */
export type AuditData<T extends AuditEntryType> = T extends keyof AuditOnlyData
  ? AuditOnlyData[T]
  : T extends keyof NotSent
    ? EventData<T> & NotSent[T]
    : T extends EventType
      ? EventData<T>
      : never
