import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../installation/installation.ts'
import { disableOperator, updateRole } from '../store/control/operator-changes.ts'
import { findOperatorById, type Operator, ROLES, type Role } from '../store/control/operators.ts'
import { approvalWithdrawn, operatorEntry, sessionsEnded } from './entries.ts'
import { hasApprovedGate } from './manage-gate.ts'
import { ownerRefusal } from './manage-operators.ts'
import { endingOfSession, endingOfSessions } from './manage-sessions.ts'
import { actorOf, holds, type OperatorAct, refusal, type SoleAct } from './operator-act.ts'

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
  const { control } = installation.storage
  const { actor, via, reason } = changer
  const by = { organizationId, operatorId, actor }
  const because = { reason, ...(via && { via }) }
  const entry = operatorEntry(installation, by, { type: 'operator.role_changed', data: { from, to: role, ...because } })
  const next = { ...operator, role, entry_id: entry.entry.id }
  const mayApproveGate = holds({ role }, 'open or close the live gate')
  const losesApproval = !mayApproveGate && (await hasApprovedGate(installation, operator))
  const isUpdated = await control.recorded(async (transaction, record) => {
    const updated = await updateRole(transaction, {
      operator: control.seal('operators', next, entry),
      was: operator.entry_id,
      mayApproveGate,
      now: new Date(installation.nowMs()).toISOString(),
    })
    if (!updated) return false
    record(entry)
    if (losesApproval || updated.approvals_withdrawn > 0) record(approvalWithdrawn(installation, by))
    for (const id of updated.invitations_withdrawn)
      record(
        operatorEntry(installation, by, {
          type: 'operator.invitation_withdrawn',
          data: { invitation_id: id, ...because },
        }),
      )
    return true
  })
  return isUpdated ? next : whyUnchanged(installation, operator)
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
  const { control } = installation.storage
  const now = new Date(installation.nowMs()).toISOString()
  const { actor, via } = actorOf(act)
  const by = { organizationId, operatorId, actor }
  const losesApproval = await hasApprovedGate(installation, operator)
  const removal = await control.recorded(async (transaction, record) => {
    // The entry says what ended with the removal, so its id comes first and its content after.
    const entryId = installation.newId('aud')
    const removed = control.seal('operators', { ...operator, disabled_at: now }, { entry: { id: entryId } })
    const ended = await disableOperator(transaction, { operator: removed, was: operator.entry_id, now })
    if (!ended) return undefined
    const { approvals_withdrawn, sessions_ended } = ended
    const counts = { approvals_withdrawn, sessions_ended }
    record(
      operatorEntry(
        installation,
        { ...by, entryId },
        {
          type: 'operator.removed',
          data: { role, ...counts, reason: act.reason.trim(), ...(via && { via }) },
        },
      ),
    )
    if (operator.account_id !== null) record(sessionsEnded(installation, operator.account_id))
    if (losesApproval || approvals_withdrawn > 0) record(approvalWithdrawn(installation, by))
    return counts
  })
  return removal ? { operator_id: operatorId, email, ...removal } : whyUnchanged(installation, operator)
}

/**
 * Ends one session of an operator's account, or all of them, on behalf of an owner or admin. All end also if none is in
 * sight, and the entry names who ended them.
 */
export async function endSessionsOf(
  installation: Installation,
  act: OperatorAct,
  { operator, sessionId }: { operator: Operator; sessionId?: string },
): Promise<{ sessions_ended: number } | Problem> {
  const refused = refusal(act, 'manage operators') ?? ownerRefusal(act.operator, operator.role)
  if (refused) return refused
  const { account_id: accountId, id } = operator
  if (accountId === null || operator.disabled_at !== null) return { problem: `${operator.email} is not signed in` }
  const by = { organizationId: act.organizationId, operatorId: id, actor: actorOf(act).actor }
  const endOne = sessionId === undefined ? undefined : await endingOfSession(installation, { accountId, sessionId })
  const all = sessionsEnded(installation, accountId)
  const endAll = await endingOfSessions(installation, { accountId, entry: all })
  const sessions = await installation.storage.control.recorded(async (transaction, record) => {
    const ended = endOne ? Number(await endOne(transaction, record)) : await endAll(transaction)
    if (endOne && ended === 0) return undefined
    if (!endOne) record(all)
    const data = { sessions: ended, reason: act.reason.trim() }
    record(operatorEntry(installation, by, { type: 'operator.session_ended', data }))
    return ended
  })
  return sessions === undefined
    ? { problem: `${operator.email} has no such session any more` }
    : { sessions_ended: sessions }
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
