import type { Installation } from '../installation/installation.ts'
import { disableOperator, updateRole } from '../store/control/operator-changes.ts'
import { findOperatorById, type Operator, type Role } from '../store/control/operators.ts'
import { actorOf, type OperatorActor, type OrganizationAct, permitted, type Reasoned, reasonOf, viaOf } from './act.ts'
import { approvalWithdrawn, operatorEntry, sessionsEnded } from './entries.ts'
import { hasApprovedGate } from './manage-gate.ts'
import { requireMayManageRole, requireNotRemoved } from './manage-operators.ts'
import { holds } from './permissions.ts'
import { changedMeanwhile, conflict, notFound, type Problem } from './problem.ts'
import { requireRole } from './require-valid-operator.ts'
import { endingOfSession, endingOfSessions } from './session-endings.ts'

/** An operator who was removed, with what ended at the same moment. */
export interface RemovedOperator {
  operator_id: string
  email: string
  approvals_withdrawn: number
  sessions_ended: number
}

type ReasonedAct = Reasoned<OrganizationAct>

/** Gives an operator another role. An admin can neither make owners nor change them, and the last owner stays one. */
export const changeRole = permitted(
  'manage operators',
  async (
    installation,
    act: ReasonedAct,
    { operator, role }: { operator: Operator; role: string },
  ): Promise<Operator> => {
    await requireMayManageOperator(installation, act, operator)
    await requireMayManageRole(installation, act, role)
    const wanted = requireRole(role)
    if (wanted === operator.role) throw conflict('role_unchanged', `${operator.email} is ${role} already.`)
    const changed = await setRole(installation, act, { operator, role: wanted })
    if (!changed) throw await whyUnchanged(installation, operator)
    return changed
  },
)

/**
 * Gives an operator another role on behalf of an actor whose right to do so was checked. Links that were made for the
 * earlier role stop working, and so do approvals of the live gate that the new role may not give. Undefined if the operator
 * is the last owner, or was changed at the same moment.
 */
export async function setRole(
  installation: Installation,
  act: ReasonedAct,
  { operator, role }: { operator: Operator; role: Role },
): Promise<Operator | undefined> {
  const { org_id: organizationId, id: operatorId, role: from } = operator
  const { control } = installation.storage
  const by = { organizationId, operatorId, actor: actorOf(act) }
  const because = { ...reasonOf(act), ...viaOf(act) }
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
  return isUpdated ? next : undefined
}

/** Removes an operator: their sessions end at once, and their approvals of the live gate no longer count. */
export const removeOperator = permitted(
  'manage operators',
  async (installation, act: ReasonedAct, operator: Operator): Promise<RemovedOperator> => {
    await requireMayManageOperator(installation, act, operator)
    const { org_id: organizationId, id: operatorId, role, email } = operator
    const { control } = installation.storage
    const now = new Date(installation.nowMs()).toISOString()
    const by = { organizationId, operatorId, actor: actorOf(act) }
    const losesApproval = await hasApprovedGate(installation, operator)
    const removal = await control.recorded(async (transaction, record) => {
      // The entry says what ended with the removal, so its id comes first and its content after.
      const entryId = installation.newId('aud')
      const removed = control.seal('operators', { ...operator, disabled_at: now }, { entry: { id: entryId } })
      const ended = await disableOperator(transaction, { operator: removed, was: operator.entry_id, now })
      if (!ended) return undefined
      const { approvals_withdrawn, sessions_ended } = ended
      const counts = { approvals_withdrawn, sessions_ended }
      const data = { role, ...counts, ...reasonOf(act), ...viaOf(act) }
      record(operatorEntry(installation, { ...by, entryId }, { type: 'operator.removed', data }))
      if (operator.account_id !== null) record(sessionsEnded(installation, operator.account_id))
      if (losesApproval || approvals_withdrawn > 0) record(approvalWithdrawn(installation, by))
      return counts
    })
    if (!removal) throw await whyUnchanged(installation, operator)
    return { operator_id: operatorId, email, ...removal }
  },
)

/**
 * Ends one session of an operator's account, or all of them, on behalf of an owner or admin. All end also if none is in
 * sight, and the entry names who ended them.
 */
export const endSessionsOf = permitted(
  'manage operators',
  async (
    installation,
    act: Reasoned<OrganizationAct<OperatorActor>>,
    { operator, sessionId }: { operator: Operator; sessionId?: string },
  ): Promise<{ sessions_ended: number }> => {
    await requireMayManageOperator(installation, act, operator)
    const { account_id: accountId, id, email } = operator
    if (accountId === null || operator.disabled_at !== null)
      throw conflict('operator_not_signed_in', `${email} is not signed in.`)
    const by = { organizationId: act.organizationId, operatorId: id, actor: actorOf(act) }
    const endOne = sessionId === undefined ? undefined : await endingOfSession(installation, { accountId, sessionId })
    const all = sessionsEnded(installation, accountId)
    const endAll = await endingOfSessions(installation, { accountId, entry: all })
    const sessions = await installation.storage.control.recorded(async (transaction, record) => {
      const ended = endOne ? Number(await endOne(transaction, record)) : await endAll(transaction)
      if (endOne && ended === 0) return undefined
      if (!endOne) record(all)
      const data = { sessions: ended, ...reasonOf(act) }
      record(operatorEntry(installation, by, { type: 'operator.session_ended', data }))
      return ended
    })
    if (sessions === undefined) throw notFound('session_not_found', `${email} has no such session any more.`)
    return { sessions_ended: sessions }
  },
)

/** Refuses a change of an operator by an actor who may not manage them, and of one who is not there. */
async function requireMayManageOperator(
  installation: Installation,
  act: ReasonedAct,
  operator: Operator,
): Promise<void> {
  await requireMayManageRole(installation, act, operator.role)
  if (operator.org_id !== act.organizationId)
    throw notFound('operator_not_found', 'There is no such operator in this organization.')
  requireNotRemoved(operator)
}

/** Reads the operator again: it is the last owner, or another writer was first. */
async function whyUnchanged({ storage }: Installation, { org_id, id, email, role }: Operator): Promise<Problem> {
  const stored = await findOperatorById(storage.control, org_id, id)
  return stored?.role === 'owner' && role === 'owner' && stored.disabled_at === null
    ? conflict('last_owner', `${email} is the last owner who can sign in.`)
    : changedMeanwhile(email)
}
