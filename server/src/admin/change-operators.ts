import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../service/installation.ts'
import { disableOperator, type RoleUpdate, updateRole } from '../store/queries/operator-changes.ts'
import { findOperatorById, type Operator, ROLES, type Role } from '../store/queries/operators.ts'
import { deleteSession, deleteSessions } from '../store/queries/sessions.ts'
import { ownerRefusal } from './manage-operators.ts'
import { actorOf, holds, type OperatorAct, refusal, type SoleAct } from './operator-act.ts'
import { recordOnProduction } from './record-on-production.ts'

/** Who gives an operator another role, and why. */
export interface RoleChanger {
  actor: AdminActor
  via?: string
  reason: string
}

/** An operator who was removed, with what ended at the same moment. */
export interface RemovedOperator {
  operator_id: string
  email: string
  approvals_withdrawn: number
  sessions_ended: number
}

interface Problem {
  problem: string
}

/** Gives an operator another role. An admin can neither make owners nor change them, and the last owner stays one. */
export async function changeRole(
  installation: Installation,
  act: SoleAct,
  { operator, role }: { operator: Operator; role: string },
): Promise<Operator | Problem> {
  const refused = managerRefusal(act, operator) ?? ownerRefusal(act.operator, role)
  if (refused) return refused
  const wanted = ROLES.find((known) => known === role)
  if (!wanted) return { problem: `${JSON.stringify(role)} is not a role: the roles are ${ROLES.join(', ')}` }
  if (wanted === operator.role) return { problem: `${operator.email} is ${role} already` }
  return setRole(installation, { ...actorOf(act), reason: act.reason.trim() }, { operator, role: wanted })
}

/**
 * Gives an operator another role on behalf of an actor whose right to do so was checked. Links that were made for the
 * earlier role stop working, and so do approvals of the live gate that the new role may not give.
 */
export async function setRole(
  installation: Installation,
  changer: RoleChanger,
  { operator, role }: { operator: Operator; role: Role },
): Promise<Operator | Problem> {
  const { org_id: organizationId, id: operatorId, role: from } = operator
  const update = () =>
    updateRole(installation.storage.control, {
      organizationId,
      operatorId,
      from,
      to: role,
      mayApproveGate: holds({ role }, 'open or close the live gate'),
      now: new Date(installation.nowMs()).toISOString(),
    })
  // No role may be given unrecorded. Taking one from an owner only takes rights away, and may be refused.
  let updated: RoleUpdate | undefined
  if (from === 'owner') {
    updated = await update()
    if (updated) await recordRole(installation, changer, { operator, role })
  } else {
    await recordRole(installation, changer, { operator, role })
    updated = await update()
  }
  if (!updated) return whyUnchanged(installation, operator)
  const { actor, via, reason } = changer
  for (const id of updated.invitations_withdrawn)
    await recordOnProduction(
      installation,
      { organizationId, actor },
      {
        type: 'operator.invitation_withdrawn',
        trailId: operatorId,
        subject: { type: 'operator', id: operatorId },
        data: { invitation_id: id, reason, ...(via && { via }) },
      },
    )
  return { ...operator, role }
}

function recordRole(
  installation: Installation,
  { actor, via, reason }: RoleChanger,
  { operator: { org_id: organizationId, id, role: from }, role: to }: { operator: Operator; role: Role },
): Promise<void> {
  return recordOnProduction(
    installation,
    { organizationId, actor },
    {
      type: 'operator.role_changed',
      trailId: id,
      subject: { type: 'operator', id },
      data: { from, to, reason, ...(via && { via }) },
    },
  )
}

/** Removes an operator: their sessions end at once, and their approvals of the live gate no longer count. */
export async function removeOperator(
  installation: Installation,
  act: SoleAct,
  operator: Operator,
): Promise<RemovedOperator | Problem> {
  const refused = managerRefusal(act, operator)
  if (refused) return refused
  const { org_id: organizationId, id: operatorId, role, email } = operator
  const now = new Date(installation.nowMs()).toISOString()
  // Recorded after it took effect: taking rights away must not wait for the log.
  const removal = await disableOperator(installation.storage.control, { organizationId, operatorId, now })
  if (!removal) return whyUnchanged(installation, operator)
  const { actor, via } = actorOf(act)
  await recordOnProduction(
    installation,
    { organizationId, actor },
    {
      type: 'operator.removed',
      trailId: operatorId,
      subject: { type: 'operator', id: operatorId },
      data: { role, ...removal, reason: act.reason.trim(), ...(via && { via }) },
    },
  )
  return { operator_id: operatorId, email, ...removal }
}

/** Ends one session of an operator's account, or all of them, on behalf of an owner or admin. */
export async function endSessionsOf(
  installation: Installation,
  act: OperatorAct,
  { operator, sessionId }: { operator: Operator; sessionId?: string },
): Promise<{ sessions_ended: number } | Problem> {
  const refused = refusal(act, 'manage operators') ?? ownerRefusal(act.operator, operator.role)
  if (refused) return refused
  const { account_id: accountId, id } = operator
  if (accountId === null || operator.disabled_at !== null) return { problem: `${operator.email} is not signed in` }
  const { control } = installation.storage
  const sessions =
    sessionId === undefined
      ? await deleteSessions(control, { accountId })
      : Number(await deleteSession(control, { accountId, sessionId }))
  if (sessions === 0) return { problem: `${operator.email} has no such session any more` }
  await recordOnProduction(
    installation,
    { organizationId: act.organizationId, actor: actorOf(act).actor },
    {
      type: 'operator.session_ended',
      trailId: id,
      subject: { type: 'operator', id },
      data: { sessions, reason: act.reason.trim() },
    },
  )
  return { sessions_ended: sessions }
}

function managerRefusal(act: SoleAct, operator: Operator): Problem | undefined {
  const refused = refusal(act, 'manage operators') ?? ownerRefusal(act.operator, operator.role)
  if (refused) return refused
  if (operator.org_id !== act.organizationId) return { problem: 'there is no such operator in this organization' }
  return operator.disabled_at === null ? undefined : { problem: `${operator.email} was removed already` }
}

/** Reads the operator again: it is the last owner, or another writer was first. */
async function whyUnchanged({ storage }: Installation, { org_id, id, email, role }: Operator): Promise<Problem> {
  const stored = await findOperatorById(storage.control, org_id, id)
  return stored?.role === 'owner' && role === 'owner' && stored.disabled_at === null
    ? { problem: `${email} is the last owner who can sign in: make another operator an owner first` }
    : { problem: `${email} was changed meanwhile: look at the list of operators and try again` }
}
