import type { Installation } from '../service/installation.ts'
import {
  APPROVALS_NEEDED,
  insertGateApproval,
  validGateApprovals,
  withdrawGateApprovals,
} from '../store/queries/live-gate.ts'
import { actorOf, type OperatorAct, refusal, type SoleAct } from './operator-act.ts'
import { recordOnProduction } from './record-on-production.ts'

/** Whether an organization may underwrite live, and which operators approved it. */
export interface GateStatus {
  organization_id: string
  open: boolean
  approvals: { operator_id: string; email: string; reason: string; approved_at: string }[]
  approvals_needed: number
}

/** Reads the state of an organization's live gate. */
export async function gateStatus({ storage }: Installation, organizationId: string): Promise<GateStatus> {
  const valid = await validGateApprovals(storage.control, organizationId)
  return {
    organization_id: organizationId,
    open: new Set(valid.map(({ operator_id }) => operator_id)).size >= APPROVALS_NEEDED,
    approvals: valid.map(({ org_id: _organization, ...approval }) => approval),
    approvals_needed: APPROVALS_NEEDED,
  }
}

/** Records an operator's approval of live underwriting; the second approval, of another operator, opens the gate. */
export async function approveGate(
  installation: Installation,
  act: OperatorAct,
): Promise<GateStatus | { problem: string }> {
  const refused = refusal(act, 'open or close the live gate')
  if (refused) return refused
  const { organizationId, operator, reason } = act
  const { open, approvals } = await gateStatus(installation, organizationId)
  if (open) return { problem: 'the live gate is open already' }
  const repeated = {
    problem: `${operator.email} has approved already: another operator has to give the second approval`,
  }
  if (approvals.some(({ operator_id }) => operator_id === operator.id)) return repeated
  // Recorded before it takes effect: the two databases share no transaction, and no gate may open unrecorded.
  await recordGateAct(installation, act, 'live_gate.approved')
  const approval = {
    org_id: organizationId,
    operator_id: operator.id,
    reason: reason.trim(),
    approved_at: new Date(installation.nowMs()).toISOString(),
  }
  const written = await insertGateApproval(installation.storage.control, approval)
  return written ? gateStatus(installation, organizationId) : repeated
}

/** Closes the live gate at once: one person withdraws all approvals, so that reopening it takes two operators again. */
export async function closeGate(installation: Installation, act: SoleAct): Promise<GateStatus | { problem: string }> {
  const refused = refusal(act, 'open or close the live gate')
  if (refused) return refused
  const { organizationId } = act
  const withdrawnAt = new Date(installation.nowMs()).toISOString()
  // Recorded after it took effect: closing the gate in an emergency must not wait for the log.
  const withdrawn = await withdrawGateApprovals(installation.storage.control, { organizationId, withdrawnAt })
  if (withdrawn === 0) return { problem: 'the live gate is closed already, and there is no approval to withdraw' }
  await recordGateAct(installation, act, 'live_gate.closed')
  return gateStatus(installation, organizationId)
}

function recordGateAct(
  installation: Installation,
  act: SoleAct,
  type: 'live_gate.approved' | 'live_gate.closed',
): Promise<void> {
  const { organizationId, reason } = act
  const { actor, via } = actorOf(act)
  return recordOnProduction(
    installation,
    { organizationId, actor },
    {
      type,
      trailId: organizationId,
      subject: { type: 'live_gate', id: organizationId },
      data: { reason: reason.trim(), ...(via && { via }) },
    },
  )
}
