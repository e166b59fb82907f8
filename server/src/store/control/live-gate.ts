import type { Queryable, Row } from '../database/database.ts'
import type { ControlDatabase } from '../power/control-database.ts'
import type { Seal } from '../power/row-mac.ts'
import { JOINED_OPERATOR_COLUMNS, operatorIn } from './operators.ts'

/** The number of different operators whose approvals open the live gate. */
export const APPROVALS_NEEDED = 2

/** An operator's approval that an organization may underwrite live. */
export interface GateApproval {
  org_id: string
  operator_id: string
  reason: string
  approved_at: string
}

/** Writes an approval; false if the operator has one that is not withdrawn. */
export async function insertGateApproval(control: Queryable, approval: GateApproval & Seal): Promise<boolean> {
  const inserted = await control.query(
    `INSERT INTO live_gate_approvals (org_id, operator_id, reason, approved_at, entry_id, mac)
     SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS (
       SELECT 1 FROM live_gate_approvals WHERE org_id = $1 AND operator_id = $2 AND withdrawn_at IS NULL
     ) ON CONFLICT DO NOTHING RETURNING 1`,
    [approval.org_id, approval.operator_id, approval.reason, approval.approved_at, approval.entry_id, approval.mac],
  )
  return inserted.length === 1
}

/** Withdraws all approvals of an organization and returns the ids of their operators. */
export async function withdrawGateApprovals(
  control: Queryable,
  { organizationId, withdrawnAt }: { organizationId: string; withdrawnAt: string },
): Promise<string[]> {
  const withdrawn = await control.query<{ operator_id: string }>(
    `UPDATE live_gate_approvals SET withdrawn_at = $2 WHERE org_id = $1 AND withdrawn_at IS NULL RETURNING operator_id`,
    [organizationId, withdrawnAt],
  )
  return withdrawn.map(({ operator_id }) => operator_id)
}

/** Lists the valid approvals of an organization, oldest first: neither withdrawn nor of a disabled operator. */
export async function validGateApprovals(
  control: ControlDatabase,
  organizationId: string,
): Promise<(GateApproval & { email: string; name: string })[]> {
  const rows = await control.genuineParts(
    () =>
      control.query<GateApproval & Row>(
        `SELECT approval.org_id, approval.operator_id, approval.reason, approval.approved_at, approval.entry_id,
           approval.mac, ${JOINED_OPERATOR_COLUMNS}
         FROM live_gate_approvals AS approval
         JOIN operators AS operator ON operator.org_id = approval.org_id AND operator.id = approval.operator_id
         WHERE approval.org_id = $1 AND approval.withdrawn_at IS NULL AND operator.disabled_at IS NULL
         ORDER BY approval.approved_at, approval.operator_id`,
        [organizationId],
      ),
    (approval) => [
      { table: 'live_gate_approvals', row: approval },
      { table: 'operators', row: operatorIn(approval) },
    ],
  )
  return rows.map((row) => {
    const { org_id, operator_id, reason, approved_at } = row
    const { email, name } = operatorIn(row) as { email: string; name: string }
    return { org_id, operator_id, reason, approved_at, email, name }
  })
}

/** Whether an organization may underwrite live: two different operators have valid approvals. */
export async function isGateOpen(control: ControlDatabase, organizationId: string): Promise<boolean> {
  const approvals = await validGateApprovals(control, organizationId)
  return new Set(approvals.map(({ operator_id }) => operator_id)).size >= APPROVALS_NEEDED
}
