import type { Database, Row } from '../database/database.ts'

/** How many different operators it takes to open the live gate. */
export const APPROVALS_NEEDED = 2

/** An operator's word that an organization may underwrite live. */
export interface GateApproval {
  org_id: string
  operator_id: string
  reason: string
  approved_at: string
}

/** An approval stands until it is withdrawn or its operator is disabled. */
const STANDING = `live_gate_approvals AS approval
  JOIN operators AS operator ON operator.org_id = approval.org_id AND operator.id = approval.operator_id
  WHERE approval.withdrawn_at IS NULL AND operator.disabled_at IS NULL`

/** Writes an approval; false if one of the same operator stands. */
export async function insertGateApproval(control: Database, approval: GateApproval): Promise<boolean> {
  const inserted = await control.query(
    `INSERT INTO live_gate_approvals (org_id, operator_id, reason, approved_at)
     SELECT $1, $2, $3, $4 WHERE NOT EXISTS (
       SELECT 1 FROM live_gate_approvals WHERE org_id = $1 AND operator_id = $2 AND withdrawn_at IS NULL
     ) RETURNING 1`,
    [approval.org_id, approval.operator_id, approval.reason, approval.approved_at],
  )
  return inserted.length === 1
}

/** Takes back every approval of an organization and says how many there were. */
export async function withdrawGateApprovals(
  control: Database,
  { organizationId, withdrawnAt }: { organizationId: string; withdrawnAt: string },
): Promise<number> {
  const withdrawn = await control.query(
    'UPDATE live_gate_approvals SET withdrawn_at = $2 WHERE org_id = $1 AND withdrawn_at IS NULL RETURNING 1',
    [organizationId, withdrawnAt],
  )
  return withdrawn.length
}

/** The approvals of an organization that stand, oldest first. */
export async function standingGateApprovals(
  control: Database,
  organizationId: string,
): Promise<(GateApproval & { email: string })[]> {
  return control.query<GateApproval & { email: string } & Row>(
    `SELECT approval.org_id, approval.operator_id, approval.reason, approval.approved_at, operator.email
     FROM ${STANDING} AND approval.org_id = $1 ORDER BY approval.approved_at, approval.operator_id`,
    [organizationId],
  )
}

/** Which of these organizations may underwrite live. */
export async function readOpenGates(
  control: Database,
  organizationIds: readonly string[],
): Promise<Map<string, boolean>> {
  const rows = await control.query<{ org_id: string }>(
    `SELECT approval.org_id FROM ${STANDING} AND approval.org_id = ANY($1::text[])
     GROUP BY approval.org_id HAVING count(DISTINCT approval.operator_id) >= $2`,
    [organizationIds, APPROVALS_NEEDED],
  )
  return new Map(rows.map(({ org_id }) => [org_id, true]))
}

/** Whether an organization may underwrite live: approvals of two different operators stand. */
export async function isGateOpen(control: Database, organizationId: string): Promise<boolean> {
  return (await readOpenGates(control, [organizationId])).has(organizationId)
}
