import { DEFAULT_REVIEW_BOUNDS, type ReviewBounds } from '../../core/review-bounds.ts'
import type { Database, Queryable, Row } from '../database/database.ts'

/** The bounds of an organization for the limits of its reviewers. */
export async function reviewBoundsOf(control: Database, organizationId: string): Promise<ReviewBounds> {
  const [bounds] = await control.query<ReviewBounds & Row>(
    'SELECT ask_above_percent, refuse_above_times FROM review_bounds WHERE org_id = $1',
    [organizationId],
  )
  return bounds ?? DEFAULT_REVIEW_BOUNDS
}

/** Stores other bounds of an organization. */
export async function updateReviewBounds(
  control: Queryable,
  organizationId: string,
  { ask_above_percent, refuse_above_times }: ReviewBounds,
): Promise<void> {
  await control.query(
    `INSERT INTO review_bounds (org_id, ask_above_percent, refuse_above_times) VALUES ($1, $2, $3)
     ON CONFLICT (org_id) DO UPDATE SET ask_above_percent = excluded.ask_above_percent,
       refuse_above_times = excluded.refuse_above_times`,
    [organizationId, ask_above_percent, refuse_above_times],
  )
}
