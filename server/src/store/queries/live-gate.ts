import type { Database, Row } from '../database/database.ts'

/** The number of different operators whose approvals open the live gate. */
export const APPROVALS_NEEDED = 2

/** An operator's approval that an organization may underwrite live. */
export interface GateApproval {
  org_id: string
  operator_id: string
  reason: string
  approved_at: string
}

/** SQL: approvals that are neither withdrawn nor of a disabled operator. */
const VALID_APPROVALS = `live_gate_approvals AS approval
  JOIN operators AS operator ON operator.org_id = approval.org_id AND operator.id = approval.operator_id
  WHERE approval.withdrawn_at IS NULL AND operator.disabled_at IS NULL`

/** Writes an approval; false if the operator has one that is not withdrawn. */
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

/** Withdraws all approvals of an organization and returns their number. */
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

/** Lists the valid approvals of an organization, oldest first. */
export async function validGateApprovals(
  control: Database,
  organizationId: string,
): Promise<(GateApproval & { email: string; name: string })[]> {
  return control.query<GateApproval & { email: string; name: string } & Row>(
    `SELECT approval.org_id, approval.operator_id, approval.reason, approval.approved_at, operator.email, operator.name
     FROM ${VALID_APPROVALS} AND approval.org_id = $1 ORDER BY approval.approved_at, approval.operator_id`,
    [organizationId],
  )
}

/** Reads which of these organizations may underwrite live. */
export async function readOpenGates(
  control: Database,
  organizationIds: readonly string[],
): Promise<Map<string, boolean>> {
  const rows = await control.query<{ org_id: string }>(
    `SELECT approval.org_id FROM ${VALID_APPROVALS} AND approval.org_id = ANY($1::text[])
     GROUP BY approval.org_id HAVING count(DISTINCT approval.operator_id) >= $2`,
    [organizationIds, APPROVALS_NEEDED],
  )
  return new Map(rows.map(({ org_id }) => [org_id, true]))
}

/** Whether an organization may underwrite live: two different operators have valid approvals. */
export async function isGateOpen(control: Database, organizationId: string): Promise<boolean> {
  return (await readOpenGates(control, [organizationId])).has(organizationId)
}
