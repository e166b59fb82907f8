import { type CanonicalText, canonicalJson } from '../canonical-json.ts'
import { leafHash } from './merkle-tree.ts'

/** Who did the act that an entry records. */
export interface AuditActor {
  type: 'api_key' | 'operator' | 'system'
  id: string
}

/** An actor outside the public API: an operator, or the service itself. */
export type AdminActor = AuditActor & { type: 'operator' | 'system' }

/** The object that an entry is about, such as a decision or a policy. */
export interface AuditSubject {
  type: string
  id: string
}

/** One entry of the audit log, written together with the change that it records. */
export interface AuditEntry {
  id: string
  /** The trail that the entry belongs to: the id of an entity, or else of the subject. */
  trail_id: string
  type: string
  occurred_at: string
  actor: AuditActor
  request_id: string | null
  subject: AuditSubject
  data: Readonly<Record<string, unknown>> | CanonicalText
}

// Part of the hashed text, so that no leaf of another format and no other document can have the same bytes.
const FORMAT = 'verdigraph.audit-entry.v1'

/** The hash of the leaf of an entry: over all its members and the id of its organization, as canonical JSON. */
export function leafHashOf(organizationId: string, entry: AuditEntry): string {
  return leafHash(canonicalJson({ entry, format: FORMAT, organization_id: organizationId }))
}
