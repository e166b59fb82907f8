import type { EventData, EventType } from '../webhooks/event-types.ts'
import type { Checkpoint } from './checkpoint.ts'

/** The data of the entries about the steps of a policy. */
interface PolicyStepData {
  policy_id: string
  policy_version: string
  policy_checksum: string
  /** SHA-256 of what the operator was shown: the engine version and the results of the policy's own tests. */
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
  'operator.added': { role: string; via?: string }
  'operator.code_reset': { via?: string }
  'operator.code_locked': { failures: number; locked_until: string }
  'api_key.created': {
    name: string
    scopes: readonly string[]
    expires_at: string | null
    /** SHA-256 of the stored key without the columns that change, as canonical JSON. */
    record_sha256: string
  }
  'api_key.revoked': { name: string }
  'live_gate.approved': GateData
  'live_gate.closed': GateData
  'policy.proposed': PolicyStepData
  'policy.approved': PolicyStepData
  'policy.rejected': PolicyStepData
  'policy.activated': PolicyStepData
  'policy.retired': PolicyStepData
  'webhook_endpoint.added': WebhookEndpointData<{ event_types: string }>
  'webhook_endpoint.secret_rotated': WebhookEndpointData<{ previous_secret_until: string }>
  'webhook_endpoint.overlap_ended': WebhookEndpointData<unknown>
  'webhook_endpoint.disabled': WebhookEndpointData<{ why: string }>
  'webhook_endpoint.enabled': WebhookEndpointData<unknown>
  'webhook_endpoint.redelivery': WebhookEndpointData<{
    deliveries: number
    first_event_id: string
    last_event_id: string
  }>
}

/** The types of events that are also on the audit log with the same data: all but the head of that log. */
export type AuditedEventType = Exclude<EventType, 'audit.checkpoint' | keyof AuditOnlyData>

/** The type of an audit entry. */
export type AuditEntryType = AuditedEventType | keyof AuditOnlyData

/** The data that an audit entry of a type carries. */
export type AuditData<T extends AuditEntryType> = T extends keyof AuditOnlyData
  ? AuditOnlyData[T]
  : T extends EventType
    ? EventData<T>
    : never
