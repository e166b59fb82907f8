import { normalizedEmail } from '../core/person-rules.ts'
import type { Installation } from '../installation/installation.ts'
import { hashPassword } from '../security/password.ts'
import { generateToken, hashToken } from '../security/secret-token.ts'
import { type Account, findAccountByEmail } from '../store/control/accounts.ts'
import {
  type Acceptance,
  acceptWithAccount,
  acceptWithNewAccount,
  acceptWithRenewedAccount,
  findInvitation,
  type InvitationWithOperator,
  insertInvitation,
  withdrawInvitations,
} from '../store/control/invitations.ts'
import {
  findOperatorByEmail,
  insertOperator,
  type NewOperatorRow,
  type Operator,
  updateOperator,
} from '../store/control/operators.ts'
import type { EntryToRecord } from '../store/power/entry-queue.ts'
import { unlessUndone } from '../store/power/undone.ts'
import { actorOf, type OrganizationAct, permitted, type Reasoned, reasonOf, viaOf } from './act.ts'
import { installationEntry, operatorEntry } from './entries.ts'
import { type NewOperator, requireMayManageRole } from './manage-operators.ts'
import { isInUse, membershipIn } from './memberships.ts'
import { checkCode } from './operator-codes.ts'
import { changedMeanwhile, conflict, invalid, notFound, type Problem } from './problem.ts'
import { requireValidOperator, requireValidPassword } from './require-valid-operator.ts'

const VALID_DAYS = 7
const DAY_MS = 24 * 3_600_000

/** An invitation with its link, which is shown once: only a hash of it is stored. */
export interface SentInvitation {
  operator: Operator
  invitation_id: string
  link: string
  expires_at: string
}

/** An invitation as the person who opens its link sees it. */
export interface OpenedInvitation {
  organization_name: string
  email: string
  name: string
  role: string
  expires_at: string
  /** Whether the person has to sign in to accept. */
  has_account: boolean
  /** Whether accepting takes a one-time code: the operator has codes, which the sender of the link has not. */
  needs_code: boolean
}

/**
 * Invites a person as an operator, by a link to hand over. A person who is an operator without an account, because the
 * command line added them or an earlier link was not used, gets a new link; the earlier one stops working.
 */
export const inviteOperator = permitted(
  'manage operators',
  async (installation, act: OrganizationAct, { email, name, role }: NewOperator): Promise<SentInvitation> => {
    await requireMayManageRole(installation, act, role)
    const address = normalizedEmail(email)
    const earlier = await findOperatorByEmail(installation.storage.control, act.organizationId, address)
    if (earlier?.disabled_at === null) {
      requireInvitable(earlier, role)
      return send(installation, act, earlier)
    }
    const operator: NewOperatorRow = {
      org_id: act.organizationId,
      id: installation.newId('opr'),
      email: address,
      name: name.trim(),
      role: role as Operator['role'],
      created_at: new Date(installation.nowMs()).toISOString(),
      disabled_at: null,
      account_id: null,
    }
    requireValidOperator(operator)
    return send(installation, act, operator)
  },
)

/** Refuses an invitation of an operator who can sign in, or who has another role. */
function requireInvitable(operator: Operator, role: string): void {
  if (operator.account_id !== null)
    throw conflict('operator_exists', `${operator.email} is an operator of this organization already, and can sign in.`)
  if (operator.role !== role)
    throw conflict('role_differs', `${operator.email} is an operator already, as ${operator.role}.`)
}

/** Withdraws the open invitation of an operator: its link stops working. The operator stays, without an account. */
export const withdrawInvitation = permitted(
  'manage operators',
  async (
    installation,
    act: Reasoned<OrganizationAct>,
    { id: operatorId, role }: Pick<Operator, 'id' | 'role'>,
  ): Promise<void> => {
    await requireMayManageRole(installation, act, role)
    const { organizationId } = act
    const now = new Date(installation.nowMs()).toISOString()
    const { control } = installation.storage
    await control.recordQueued()
    const byLog = await installation.stores.production.grants.invitation(organizationId, operatorId)
    const isWithdrawn = await control.recorded(async (transaction, record) => {
      const [inRows] = await withdrawInvitations(transaction, { organizationId, operatorId, now })
      // A link whose row is out of sight must not work once the row is back.
      const id = inRows ?? (byLog && byLog.expires_at > now ? byLog.invitation_id : undefined)
      if (id === undefined) return false
      const by = { organizationId, operatorId, actor: actorOf(act) }
      const data = { invitation_id: id, ...reasonOf(act), ...viaOf(act) }
      record(operatorEntry(installation, by, { type: 'operator.invitation_withdrawn', data }))
      return true
    })
    if (!isWithdrawn) throw conflict('invitation_not_open', 'This operator has no open invitation.')
  },
)

/** Reads the invitation of a link, for the page that accepts it. */
export async function openInvitation(installation: Installation, token: string): Promise<OpenedInvitation> {
  const invitation = await findOpen(installation, token)
  const { organization_name, expires_at } = invitation
  const { email, name, role } = invitation.operator
  const known = await findAccountByEmail(installation.storage.control, email)
  const hasAccount = known !== undefined && (await isInUse(installation, known.id))
  const needsCode = await hasCodes(installation, invitation)
  return { organization_name, email, name, role, expires_at, has_account: hasAccount, needs_code: needsCode }
}

/**
 * Accepts an invitation with a new account, whose e-mail is the invitation's; returns both ids. An account that acts
 * for no organization any more is taken up again with the new password, so that being removed and invited again helps
 * a person who forgot it.
 */
export async function acceptInvitation(
  installation: Installation,
  { token, name, password, code }: { token: string; name: string; password: string; code?: string },
): Promise<{ accountId: string; organizationId: string }> {
  const { storage, newId, nowMs } = installation
  const invitation = await findOpen(installation, token)
  const { operator } = invitation
  requireValidOperator({ ...operator, name: name.trim() })
  requireValidPassword(password, operator)
  const { email } = operator
  const known = await findAccountByEmail(storage.control, email)
  if (known && (await isInUse(installation, known.id))) throw accountExists()
  await requireCode(installation, invitation, code)
  const now = new Date(nowMs()).toISOString()
  const account = {
    id: known?.id ?? newId('acc'),
    email,
    name: name.trim(),
    password_hash: await hashPassword(password),
    two_factor_since: null,
    created_at: known?.created_at ?? now,
  }
  const { acceptance, joined } = accepting(installation, invitation, { token, accountId: account.id, now })
  const accepted = { accountId: account.id, organizationId: invitation.org_id }
  if (known) {
    const isRenewed = await renewAccount(installation, { known, account, acceptance, joined, invitation })
    if (!isRenewed) throw invitationEnded()
    return accepted
  }
  const entry = installationEntry(installation, {
    type: 'account.created',
    subjectId: account.id,
    data: { method: 'invitation' },
  })
  const { control } = storage
  const outcome = await unlessUndone(
    control.recorded(async (transaction, record) => {
      const added = control.seal('accounts', account, entry)
      const result = await acceptWithNewAccount(transaction, { ...acceptance, account: added })
      if (result === 'accepted') record(entry, joined)
      return result
    }),
  )
  if (outcome === 'email_taken') throw accountExists()
  if (outcome !== 'accepted') throw invitationEnded()
  return accepted
}

/** Takes an account up again that acts for no organization; whatever else signed in as it no longer does. */
async function renewAccount(
  installation: Installation,
  {
    known,
    account,
    acceptance,
    joined,
    invitation,
  }: {
    known: Account
    account: Omit<Account, 'entry_id'>
    acceptance: Acceptance
    joined: EntryToRecord
    invitation: InvitationWithOperator
  },
): Promise<boolean> {
  const { control } = installation.storage
  const entry = installationEntry(installation, {
    type: 'account.renewed',
    subjectId: account.id,
    data: { invitation_id: invitation.id },
  })
  const isRenewed = await unlessUndone(
    control.recorded(async (transaction, record) => {
      const renewed = control.seal('accounts', account, entry)
      const taken = { ...acceptance, account: renewed, accountWas: known.entry_id }
      if (!(await acceptWithRenewedAccount(transaction, taken))) return false
      record(entry, joined)
      return true
    }),
  )
  return isRenewed
}

/** Accepts an invitation with the account that is signed in. */
export async function joinByInvitation(
  installation: Installation,
  { token, accountId, sessionId, code }: { token: string; accountId: string; sessionId: string; code?: string },
): Promise<{ organizationId: string }> {
  const { storage, nowMs } = installation
  const invitation = await findOpen(installation, token)
  const { org_id: organizationId } = invitation
  if ((await membershipIn(installation, { organizationId, accountId })) === 'current')
    throw conflict('joined_already', `You are an operator of ${invitation.organization_name} already.`)
  await requireCode(installation, invitation, code)
  const now = new Date(nowMs()).toISOString()
  const { acceptance, joined } = accepting(installation, invitation, { token, accountId, now })
  const isAccepted = await unlessUndone(
    storage.control.recorded(async (transaction, record) => {
      const isBound = await acceptWithAccount(transaction, { ...acceptance, sessionId })
      if (isBound) record(joined)
      return isBound
    }),
  )
  if (!isAccepted) throw invitationEnded()
  return { organizationId }
}

/** What accepting an invitation writes of its operator, bound to an account, and the entry that says so. */
function accepting(
  installation: Installation,
  { id: invitationId, operator }: InvitationWithOperator,
  { token, accountId, now }: { token: string; accountId: string; now: string },
): { acceptance: Acceptance; joined: EntryToRecord } {
  const { org_id: organizationId, id, role } = operator
  const joined = operatorEntry(
    installation,
    { organizationId, operatorId: id, actor: { type: 'operator', id } },
    { type: 'operator.joined', data: { role, account_id: accountId, invitation_id: invitationId } },
  )
  const acceptance = {
    tokenHash: hashToken(installation.masterKey, 'invitations', token),
    operator: installation.storage.control.seal('operators', { ...operator, account_id: accountId }, joined),
    was: operator.entry_id,
    now,
  }
  return { acceptance, joined }
}

function invitationEnded(): Problem {
  return notFound('invitation_ended', 'This link does not work any more: it was used, withdrawn or has expired.')
}

function accountExists(): Problem {
  return conflict('account_exists', 'There is an account with this e-mail.')
}

async function findOpen({ storage, nowMs, masterKey }: Installation, token: string): Promise<InvitationWithOperator> {
  const invitation = await findInvitation(storage.control, hashToken(masterKey, 'invitations', token))
  const isOpen =
    invitation &&
    invitation.accepted_at === null &&
    invitation.withdrawn_at === null &&
    Date.parse(invitation.expires_at) > nowMs()
  if (!isOpen) throw invitationEnded()
  return invitation
}

/** By the log, so that deleting the row of the codes does not let the sender of the link accept it. */
function hasCodes({ storage }: Installation, { operator }: InvitationWithOperator): Promise<boolean> {
  return storage.control.hasEntry({
    table: 'operator_codes',
    row: { org_id: operator.org_id, operator_id: operator.id },
  })
}

/** An operator with one-time codes proves who they are: otherwise, the sender of the link could act as the operator. */
async function requireCode(
  installation: Installation,
  invitation: InvitationWithOperator,
  code: string | undefined,
): Promise<void> {
  if (!(await hasCodes(installation, invitation))) return
  if (code === undefined)
    throw invalid('code_missing', 'This takes a code of your authenticator app, the one for the command line.')
  await checkCode(installation, invitation.operator, {
    code: code.replace(/\s/g, ''),
    by: { type: 'system', id: 'invitation' },
  })
}

/** Makes a link for an operator, who is added with it if they are not one yet. */
async function send(
  installation: Installation,
  act: OrganizationAct,
  operator: NewOperatorRow | Operator,
): Promise<SentInvitation> {
  const { storage, config, masterKey, newId, nowMs } = installation
  const { control } = storage
  const token = generateToken()
  const now = nowMs()
  const invitation = {
    org_id: operator.org_id,
    id: newId('inv'),
    operator_id: operator.id,
    token_hash: hashToken(masterKey, 'invitations', token),
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + VALID_DAYS * DAY_MS).toISOString(),
  }
  const { id: invitation_id, expires_at } = invitation
  const entry = operatorEntry(
    installation,
    { organizationId: act.organizationId, operatorId: operator.id, actor: actorOf(act) },
    { type: 'operator.invited', data: { role: operator.role, invitation_id, expires_at, ...viaOf(act) } },
  )
  const invited = control.seal('operators', operator, entry)
  const isSent = await control.recorded(async (transaction, record) => {
    const isStored =
      'entry_id' in operator
        ? await updateOperator(transaction, invited, { was: operator.entry_id })
        : await insertOperator(transaction, invited)
    if (!isStored) return false
    await insertInvitation(transaction, control.seal('invitations', invitation, entry))
    record(entry)
    return true
  })
  if (!isSent) throw changedMeanwhile(operator.email)
  // In the fragment, which browsers do not send: neither a log nor a Referer header has it.
  const link = `${config.baseUrls.console}/invitation#${token}`
  const { mac: _mac, ...sentTo } = invited
  return { operator: sentTo, invitation_id, link, expires_at }
}
