import { type CanonicalText, canonicalJson } from '../canonical-json.ts'
import { leafHash } from './merkle-tree.ts'

/** Who did what an entry records. */
export interface AuditActor {
  type: 'api_key' | 'operator' | 'system'
  id: string
}

/** An actor outside the public API: an operator, or the service itself. */
export type AdminActor = AuditActor & { type: 'operator' | 'system' }

/** What an entry is about. */
export interface AuditSubject {
  type: string
  id: string
}

/** One fact on the audit log, as it was written with the change it describes. */
export interface AuditEntry {
  id: string
  /** Whose trail it is on: an entity's, or else its subject's own. */
  trail_id: string
  type: string
  occurred_at: string
  actor: AuditActor
  request_id: string | null
  subject: AuditSubject
  data: Readonly<Record<string, unknown>> | CanonicalText
}

// Inside what is hashed, so that no leaf of another format, nor any other document of ours, has the same bytes.
const FORMAT = 'verdigraph.audit-entry.v1'

/** The leaf that stands for an entry: every member of it, and whose it is, in one canonical form. */
export function leafHashOf(organizationId: string, entry: AuditEntry): string {
  return leafHash(canonicalJson({ entry, format: FORMAT, organization_id: organizationId }))
}
