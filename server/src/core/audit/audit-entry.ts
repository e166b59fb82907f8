import { type CanonicalText, canonicalJson } from '../canonical-json.ts'
import { leafHash } from './merkle-tree.ts'

/** The types of actors. */
export const ACTOR_TYPES = ['api_key', 'operator', 'os_user', 'system'] as const

/** Who did the act that an entry records. */
export interface AuditActor {
  type: (typeof ACTOR_TYPES)[number]
  id: string
}

/** An actor outside the public API: an operator, a user of the operating system at the command line, or the service. */
export type AdminActor = AuditActor & { type: Exclude<AuditActor['type'], 'api_key'> }

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
