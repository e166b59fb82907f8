import { DEFAULT_REVIEW_BOUNDS, type ReviewBounds } from '../../core/review-bounds.ts'
import type { Database, Row } from '../database/database.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** Reads of the bounds for the limits of reviewers. */
export function reviewBoundQueries(database: Database, isAuthentic: IsAuthentic) {
  return {
    /** The bounds of an organization: those that its log recorded last, which SQL alone cannot widen. */
    async bounds(organizationId: string): Promise<ReviewBounds> {
      const changes = await database.query<StoredEntry & Row>(
        `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf FROM audit_entries AS entry
         WHERE org_id = $1 AND subject_id = $1 AND type = 'review_bounds.changed' AND actor_type <> 'api_key'
         ORDER BY seq DESC`,
        [organizationId],
      )
      const newest = changes.find(isAuthentic)
      // A change that was recorded before a bound existed does not have it.
      return { ...DEFAULT_REVIEW_BOUNDS, ...(newest && (dataOf(newest).to as Partial<ReviewBounds>)) }
    },
  }
}
