import type { Installation } from '../installation/installation.ts'
import {
  APPROVALS_NEEDED,
  insertGateApproval,
  validGateApprovals,
  withdrawGateApprovals,
} from '../store/control/live-gate.ts'
import { listOperators, type Operator, type Role } from '../store/control/operators.ts'
import { listTeam, readIntroductions } from '../store/control/team.ts'
import {
  type GateDelivery,
  newestDelivery,
  newestTestDelivery,
  policyActivatedAt,
} from '../store/environment/gate-evidence.ts'
import type { ActivePolicy } from '../store/environment/policies.ts'
import type { EntryToRecord } from '../store/power/entry-queue.ts'
import type { NewAuditEntry } from '../store/write-path/record.ts'
import { actorOf, type OperatorActor, type OrganizationAct, permitted, type Reasoned, reasonOf, viaOf } from './act.ts'
import { approvalWithdrawn, productionEntry } from './entries.ts'
import { canAct, holds } from './permissions.ts'
import { conflict } from './problem.ts'

/** Whether an organization may underwrite live, and which operators approved it. */
export interface GateStatus {
  organization_id: string
  open: boolean
  approvals: DescribedApproval[]
  approvals_needed: number
}

/**
 * An approval with how its operator came to the organization: an owner or admin who invites a person can open the link
 * alone, so a reader has to see who vouches for the second name.
 */
interface DescribedApproval {
  operator_id: string
  email: string
  name: string
  reason: string
  approved_at: string
  /** Who added or invited the operator; null for a first owner, and for single sign-on. */
  invited_by: { type: string; id: string; name: string } | null
  invited_at: string | null
  joined_at: string | null
}

/** What the checklist of the live gate shows. Only an active policy is mandatory. */
export interface GateEvidence {
  policy: { version: string; checksum: string; activated_at: string } | null
  endpoints_enabled: number
  /** The newest delivery in production that an enabled webhook endpoint answered with 2xx. */
  verified_endpoint: GateDelivery | null
  /** The same of a test event. */
  test_delivery: GateDelivery | null
  /** The operators who may approve and can act: those with an account, or with codes for the command line. */
  approvers: { operator_id: string; name: string; email: string; role: Role }[]
}

/** Reads the state of an organization's live gate. */
export async function gateStatus({ storage }: Installation, { organizationId }: OrganizationAct): Promise<GateStatus> {
  const valid = await validGateApprovals(storage.control, organizationId)
  const introductions = await readIntroductions(storage.environments.production, {
    organizationId,
    operatorIds: valid.map(({ operator_id }) => operator_id),
  })
  const operators = await listOperators(storage.control, organizationId)
  const nameOf = (actorId: string) => operators.find(({ id }) => id === actorId)?.name ?? actorId
  return {
    organization_id: organizationId,
    open: new Set(valid.map(({ operator_id }) => operator_id)).size >= APPROVALS_NEEDED,
    approvals: valid.map(({ org_id: _organization, ...approval }) => {
      const { invited_by: by, ...times } = introductions.get(approval.operator_id)!
      return { ...approval, ...times, invited_by: by && { ...by, name: nameOf(by.id) } }
    }),
    approvals_needed: APPROVALS_NEEDED,
  }
}

/** Records an operator's approval of live underwriting; the second approval, of another operator, opens the gate. */
export const approveGate = permitted(
  'open or close the live gate',
  async (installation, act: Reasoned<OrganizationAct<OperatorActor>>): Promise<GateStatus> => {
    const { organizationId, reason } = act
    const { operator } = act.by
    const { open, approvals } = await gateStatus(installation, act)
    if (open) throw conflict('gate_open', 'The live gate is open already.')
    const repeated = () =>
      conflict(
        'gate_approved',
        `${operator.email} has approved already. Another operator has to give the second approval.`,
      )
    if (approvals.some(({ operator_id }) => operator_id === operator.id)) throw repeated()
    if (!(await confirmedPolicy(installation, organizationId)))
      throw conflict('no_active_policy', 'Production has no active policy.')
    const { storage, nowMs } = installation
    const { control } = storage
    const introductions = await readIntroductions(storage.environments.production, {
      organizationId,
      operatorIds: [operator.id],
    })
    const entry = gateEntry(installation, act, {
      type: 'live_gate.approved',
      subject: { type: 'operator', id: operator.id },
      data: { ...reasonOf(act), ...viaOf(act), invited_by: introductions.get(operator.id)!.invited_by },
    })
    const approval = {
      org_id: organizationId,
      operator_id: operator.id,
      reason,
      approved_at: new Date(nowMs()).toISOString(),
    }
    const isWritten = await control.recorded(async (transaction, record) => {
      if (!(await insertGateApproval(transaction, control.seal('live_gate_approvals', approval, entry)))) return false
      record(entry)
      return true
    })
    if (!isWritten) throw repeated()
    return gateStatus(installation, act)
  },
)

/** Reads what an operator checks before approving live underwriting. */
export async function gateEvidence(
  installation: Installation,
  { organizationId }: OrganizationAct,
): Promise<GateEvidence> {
  const { storage, stores } = installation
  const production = storage.environments.production
  const [policy, activatedAt, endpoints, verified, test, team] = await Promise.all([
    confirmedPolicy(installation, organizationId),
    policyActivatedAt(production, organizationId),
    stores.production.webhooks.endpoints(organizationId),
    newestDelivery(production, organizationId),
    newestTestDelivery(production, organizationId),
    listTeam(storage.control, { organizationId, now: new Date(installation.nowMs()).toISOString() }),
  ])
  return {
    policy:
      policy && activatedAt ? { version: policy.version, checksum: policy.checksum, activated_at: activatedAt } : null,
    endpoints_enabled: endpoints.filter(({ state }) => state === 'enabled').length,
    verified_endpoint: verified ?? null,
    test_delivery: test ?? null,
    approvers: team
      .filter((operator) => canAct(operator) && holds(operator, 'open or close the live gate'))
      .map(({ id, name, email, role }) => ({ operator_id: id, name, email, role })),
  }
}

/** The active policy of production, if the audit log confirms its activation: no other policy decides. */
async function confirmedPolicy({ stores }: Installation, organizationId: string): Promise<ActivePolicy | undefined> {
  const policy = await stores.production.policies.active(organizationId)
  return policy && policy.activated_checksum === policy.checksum ? policy : undefined
}

/** Closes the live gate at once: one person withdraws all approvals, so that reopening it takes two operators again. */
export const closeGate = permitted(
  'open or close the live gate',
  async (installation, act: Reasoned<OrganizationAct>): Promise<GateStatus> => {
    const { organizationId } = act
    const withdrawnAt = new Date(installation.nowMs()).toISOString()
    const actor = actorOf(act)
    const byLog = await approversByLog(installation, organizationId)
    const isClosed = await installation.storage.control.recorded(async (transaction, record) => {
      const inRows = await withdrawGateApprovals(transaction, { organizationId, withdrawnAt })
      const withdrawn = [...new Set([...inRows, ...byLog])]
      if (withdrawn.length === 0) return false
      const subject = { type: 'live_gate', id: organizationId }
      const data = { ...reasonOf(act), ...viaOf(act) }
      record(gateEntry(installation, act, { type: 'live_gate.closed', subject, data }))
      record(...withdrawn.map((operatorId) => approvalWithdrawn(installation, { organizationId, operatorId, actor })))
      return true
    })
    if (!isClosed)
      throw conflict('gate_closed', 'The live gate is closed already, and there is no approval to withdraw.')
    return gateStatus(installation, act)
  },
)

/** Whether the log says that an operator has approved the gate, also if the row of the approval is out of sight. */
export async function hasApprovedGate(
  installation: Installation,
  { org_id, id }: Pick<Operator, 'org_id' | 'id'>,
): Promise<boolean> {
  return (await approversByLog(installation, org_id)).includes(id)
}

async function approversByLog({ storage, stores }: Installation, organizationId: string): Promise<string[]> {
  await storage.control.recordQueued()
  return stores.production.grants.gateApprovers(organizationId)
}

function gateEntry<T extends 'live_gate.approved' | 'live_gate.closed'>(
  installation: Installation,
  act: OrganizationAct,
  entry: Pick<NewAuditEntry<T>, 'type' | 'subject' | 'data'>,
): EntryToRecord {
  const { organizationId } = act
  return productionEntry(installation, { organizationId, actor: actorOf(act) }, { ...entry, trailId: organizationId })
}
