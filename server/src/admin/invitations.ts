import { normalizedEmail } from '../core/person-rules.ts'
import type { Installation } from '../installation/installation.ts'
import { generateToken, hashToken } from '../security/bearer-token.ts'
import { hashPassword } from '../security/password.ts'
import { passwordProblem } from '../security/password-rules.ts'
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
import { installationEntry, operatorEntry } from './entries.ts'
import { type NewOperator, type OperatorManager, operatorProblem, ownerRefusal } from './manage-operators.ts'
import { isInUse, membershipIn } from './memberships.ts'
import { actorOf, refusal, type SoleAct } from './operator-act.ts'
import { checkCode } from './operator-codes.ts'

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
export async function inviteOperator(
  installation: Installation,
  manager: OperatorManager,
  { email, name, role }: NewOperator,
): Promise<SentInvitation | { problem: string }> {
  const refused = ownerRefusal(manager.operator, role)
  if (refused) return refused
  const { storage } = installation
  const address = normalizedEmail(email)
  const earlier = await findOperatorByEmail(storage.control, manager.organizationId, address)
  if (earlier?.disabled_at === null) return inviteAgain(installation, manager, { operator: earlier, role })
  const operator: NewOperatorRow = {
    org_id: manager.organizationId,
    id: installation.newId('opr'),
    email: address,
    name: name.trim(),
    role: role as Operator['role'],
    created_at: new Date(installation.nowMs()).toISOString(),
    disabled_at: null,
    account_id: null,
  }
  const problem = operatorProblem(operator)
  if (problem !== undefined) return { problem }
  return send(installation, manager, operator)
}

async function inviteAgain(
  installation: Installation,
  manager: OperatorManager,
  { operator, role }: { operator: Operator; role: string },
): Promise<SentInvitation | { problem: string }> {
  if (operator.account_id !== null)
    return { problem: `${operator.email} is an operator of this organization already, and can sign in` }
  if (operator.role !== role)
    return { problem: `${operator.email} is an operator already, as ${operator.role}: change the role first` }
  return send(installation, manager, operator)
}

/** Withdraws the open invitation of an operator: its link stops working. The operator stays, without an account. */
export async function withdrawInvitation(
  installation: Installation,
  act: SoleAct,
  { id: operatorId, role }: Pick<Operator, 'id' | 'role'>,
): Promise<{ problem: string } | undefined> {
  const refused = refusal(act, 'manage operators') ?? ownerRefusal(act.operator, role)
  if (refused) return refused
  const { organizationId } = act
  const { actor, via } = actorOf(act)
  const now = new Date(installation.nowMs()).toISOString()
  const { control } = installation.storage
  await control.recordQueued()
  const byLog = await installation.stores.production.grants.invitation(organizationId, operatorId)
  const isWithdrawn = await control.recorded(async (transaction, record) => {
    const [inRows] = await withdrawInvitations(transaction, { organizationId, operatorId, now })
    // A link whose row is out of sight must not work once the row is back.
    const id = inRows ?? (byLog && byLog.expires_at > now ? byLog.invitation_id : undefined)
    if (id === undefined) return false
    record(
      operatorEntry(
        installation,
        { organizationId, operatorId, actor },
        {
          type: 'operator.invitation_withdrawn',
          data: { invitation_id: id, reason: act.reason.trim(), ...(via && { via }) },
        },
      ),
    )
    return true
  })
  return isWithdrawn ? undefined : { problem: 'this operator has no open invitation' }
}

/** Reads the invitation of a link, for the page that accepts it. */
export async function openInvitation(
  installation: Installation,
  token: string,
): Promise<OpenedInvitation | { problem: string }> {
  const invitation = await findOpen(installation, token)
  if ('problem' in invitation) return invitation
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
): Promise<{ accountId: string; organizationId: string } | { problem: string }> {
  const { storage, newId, nowMs } = installation
  const invitation = await findOpen(installation, token)
  if ('problem' in invitation) return invitation
  const { operator } = invitation
  const problem = operatorProblem({ ...operator, name: name.trim() }) ?? passwordProblem(password, operator)
  if (problem !== undefined) return { problem }
  const { email } = operator
  const known = await findAccountByEmail(storage.control, email)
  if (known && (await isInUse(installation, known.id))) return SIGN_IN_FIRST
  const refused = await codeRefusal(installation, invitation, code)
  if (refused) return refused
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
    return isRenewed ? accepted : NO_LINK
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
  if (outcome === 'email_taken') return SIGN_IN_FIRST
  return outcome === 'accepted' ? accepted : NO_LINK
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
): Promise<{ organizationId: string } | { problem: string }> {
  const { storage, nowMs } = installation
  const invitation = await findOpen(installation, token)
  if ('problem' in invitation) return invitation
  const { org_id: organizationId } = invitation
  if ((await membershipIn(installation, { organizationId, accountId })) === 'current')
    return { problem: `You are an operator of ${invitation.organization_name} already.` }
  const refused = await codeRefusal(installation, invitation, code)
  if (refused) return refused
  const now = new Date(nowMs()).toISOString()
  const { acceptance, joined } = accepting(installation, invitation, { token, accountId, now })
  const isAccepted = await unlessUndone(
    storage.control.recorded(async (transaction, record) => {
      const isBound = await acceptWithAccount(transaction, { ...acceptance, sessionId })
      if (isBound) record(joined)
      return isBound
    }),
  )
  return isAccepted ? { organizationId } : NO_LINK
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

const NO_LINK = {
  problem: 'This link does not work any more: it was used, withdrawn or has expired. Ask for another invitation.',
}
const SIGN_IN_FIRST = { problem: 'There is an account with this e-mail. Sign in, then open the link again.' }

async function findOpen(
  { storage, nowMs, masterKey }: Installation,
  token: string,
): Promise<InvitationWithOperator | { problem: string }> {
  const invitation = await findInvitation(storage.control, hashToken(masterKey, 'invitations', token))
  const isOpen =
    invitation &&
    invitation.accepted_at === null &&
    invitation.withdrawn_at === null &&
    Date.parse(invitation.expires_at) > nowMs()
  return isOpen ? invitation : NO_LINK
}

/** By the log, so that deleting the row of the codes does not let the sender of the link accept it. */
function hasCodes({ storage }: Installation, { operator }: InvitationWithOperator): Promise<boolean> {
  return storage.control.hasEntry({
    table: 'operator_codes',
    row: { org_id: operator.org_id, operator_id: operator.id },
  })
}

/** An operator with one-time codes proves who they are: otherwise, the sender of the link could act as the operator. */
async function codeRefusal(
  installation: Installation,
  invitation: InvitationWithOperator,
  code: string | undefined,
): Promise<{ problem: string } | undefined> {
  if (!(await hasCodes(installation, invitation))) return undefined
  if (code === undefined) return { problem: 'Enter a code of your authenticator app, the one for the command line.' }
  return checkCode(installation, invitation.operator, {
    code: code.replace(/\s/g, ''),
    by: { type: 'system', id: 'invitation' },
  })
}

/** Makes a link for an operator, who is added with it if they are not one yet. */
async function send(
  installation: Installation,
  { organizationId, actor, via }: OperatorManager,
  operator: NewOperatorRow | Operator,
): Promise<SentInvitation | { problem: string }> {
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
    { organizationId, operatorId: operator.id, actor },
    { type: 'operator.invited', data: { role: operator.role, invitation_id, expires_at, ...(via && { via }) } },
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
  if (!isSent)
    return {
      problem: `${operator.email} was invited or changed at the same moment: look at the list of operators and try again`,
    }
  // In the fragment, which browsers do not send: neither a log nor a Referer header has it.
  const link = `${config.baseUrls.console}/invitation#${token}`
  const { mac: _mac, ...sentTo } = invited
  return { operator: sentTo, invitation_id, link, expires_at }
}
