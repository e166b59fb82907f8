import { generateToken, hashToken } from '../security/bearer-token.ts'
import { hashPassword } from '../security/password.ts'
import { passwordProblem } from '../security/password-rules.ts'
import type { Installation } from '../service/installation.ts'
import { findAccountByEmail } from '../store/queries/accounts.ts'
import {
  acceptWithAccount,
  acceptWithNewAccount,
  acceptWithRenewedAccount,
  findInvitation,
  type InvitationWithOperator,
  insertInvitation,
  withdrawInvitations,
} from '../store/queries/invitations.ts'
import { codesLockedUntil } from '../store/queries/operator-codes.ts'
import {
  findOperatorByEmail,
  findOperatorById,
  findOperatorOfAccount,
  insertOperator,
  type Operator,
  operatorsOfAccount,
} from '../store/queries/operators.ts'
import {
  type NewOperator,
  normalizedEmail,
  type OperatorManager,
  operatorProblem,
  ownerRefusal,
} from './manage-operators.ts'
import { actorOf, refusal, type SoleAct } from './operator-act.ts'
import { checkCode } from './operator-codes.ts'
import { recordOnProduction } from './record-on-production.ts'

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
  const operator: Operator = {
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
  const invitation = newInvitation(installation)
  // Recorded before the operator is added: the two databases share no transaction, and no role may be given unrecorded.
  await recordInvitation(installation, manager, { operator, invitation })
  if (!(await insertOperator(storage.control, operator)))
    return { problem: `${operator.email} is an operator of this organization already` }
  return send(installation, operator, invitation)
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
  const invitation = newInvitation(installation)
  await recordInvitation(installation, manager, { operator, invitation })
  return send(installation, operator, invitation)
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
  const { storage, nowMs } = installation
  const now = new Date(nowMs()).toISOString()
  const withdrawn = await withdrawInvitations(storage.control, { organizationId, operatorId, now })
  if (withdrawn.length === 0) return { problem: 'this operator has no open invitation' }
  for (const id of withdrawn)
    await recordOnProduction(
      installation,
      { organizationId, actor },
      {
        type: 'operator.invitation_withdrawn',
        trailId: operatorId,
        subject: { type: 'operator', id: operatorId },
        data: { invitation_id: id, reason: act.reason.trim(), ...(via && { via }) },
      },
    )
  return undefined
}

/** Reads the invitation of a link, for the page that accepts it. */
export async function openInvitation(
  installation: Installation,
  token: string,
): Promise<OpenedInvitation | { problem: string }> {
  const invitation = await findOpen(installation, token)
  if ('problem' in invitation) return invitation
  const { organization_name, email, name, role, expires_at } = invitation
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
  const { storage, newId, nowMs, masterKey } = installation
  const invitation = await findOpen(installation, token)
  if ('problem' in invitation) return invitation
  const problem = operatorProblem({ ...invitation, name: name.trim() }) ?? passwordProblem(password, invitation)
  if (problem !== undefined) return { problem }
  const { email } = invitation
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
    created_at: now,
  }
  if (known) {
    if (
      !(await acceptWithRenewedAccount(storage.control, {
        tokenHash: hashToken(masterKey, 'invitations', token),
        account,
        now,
      }))
    )
      return NO_LINK
    await recordJoined(installation, invitation)
    return { accountId: account.id, organizationId: invitation.org_id }
  }
  const accepted = await acceptWithNewAccount(storage.control, {
    tokenHash: hashToken(masterKey, 'invitations', token),
    account,
    now,
  })
  if (accepted === 'email_taken') return SIGN_IN_FIRST
  if (accepted === 'no_link') return NO_LINK
  await recordJoined(installation, invitation)
  return { accountId: account.id, organizationId: invitation.org_id }
}

/** Accepts an invitation with the account that is signed in. */
export async function joinByInvitation(
  installation: Installation,
  { token, accountId, sessionId, code }: { token: string; accountId: string; sessionId: string; code?: string },
): Promise<{ organizationId: string } | { problem: string }> {
  const { storage, nowMs, masterKey } = installation
  const invitation = await findOpen(installation, token)
  if ('problem' in invitation) return invitation
  const { org_id: organizationId } = invitation
  if (await findOperatorOfAccount(storage.control, organizationId, accountId))
    return { problem: `You are an operator of ${invitation.organization_name} already.` }
  const refused = await codeRefusal(installation, invitation, code)
  if (refused) return refused
  const now = new Date(nowMs()).toISOString()
  if (
    !(await acceptWithAccount(storage.control, {
      tokenHash: hashToken(masterKey, 'invitations', token),
      accountId,
      sessionId,
      now,
    }))
  )
    return NO_LINK
  await recordJoined(installation, invitation)
  return { organizationId }
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

async function hasCodes({ storage }: Installation, invitation: InvitationWithOperator): Promise<boolean> {
  const { org_id: organizationId, operator_id: operatorId } = invitation
  return (await codesLockedUntil(storage.control, { organizationId, operatorId })) !== undefined
}

/** An operator with one-time codes proves who they are: otherwise, the sender of the link could act as the operator. */
async function codeRefusal(
  installation: Installation,
  invitation: InvitationWithOperator,
  code: string | undefined,
): Promise<{ problem: string } | undefined> {
  if (!(await hasCodes(installation, invitation))) return undefined
  if (code === undefined) return { problem: 'Enter a code of your authenticator app, the one for the command line.' }
  const operator = await findOperatorById(installation.storage.control, invitation.org_id, invitation.operator_id)
  if (!operator) return NO_LINK
  return checkCode(installation, operator, { code: code.replace(/\s/g, ''), by: { type: 'system', id: 'invitation' } })
}

/** Whether an account acts for an organization, so that only its password may accept for it. */
async function isInUse({ storage }: Installation, accountId: string): Promise<boolean> {
  return (await operatorsOfAccount(storage.control, accountId)).length > 0
}

interface NewInvitation {
  id: string
  token: string
  createdAt: string
  expiresAt: string
}

function newInvitation({ newId, nowMs }: Installation): NewInvitation {
  const now = nowMs()
  return {
    id: newId('inv'),
    token: generateToken(),
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + VALID_DAYS * DAY_MS).toISOString(),
  }
}

async function send(
  { storage, config, masterKey }: Installation,
  operator: Operator,
  { id, token, createdAt, expiresAt }: NewInvitation,
): Promise<SentInvitation | { problem: string }> {
  const isNewest = await insertInvitation(storage.control, {
    org_id: operator.org_id,
    id,
    operator_id: operator.id,
    token_hash: hashToken(masterKey, 'invitations', token),
    created_at: createdAt,
    expires_at: expiresAt,
  })
  if (!isNewest)
    return { problem: `another link for ${operator.email} was made at the same moment: make a new one to replace it` }
  // In the fragment, which browsers do not send: neither a log nor a Referer header has it.
  const link = `${config.baseUrls.console}/invitation#${token}`
  return { operator, invitation_id: id, link, expires_at: expiresAt }
}

function recordInvitation(
  installation: Installation,
  { organizationId, actor, via }: OperatorManager,
  { operator, invitation }: { operator: Operator; invitation: NewInvitation },
): Promise<void> {
  return recordOnProduction(
    installation,
    { organizationId, actor },
    {
      type: 'operator.invited',
      trailId: operator.id,
      subject: { type: 'operator', id: operator.id },
      data: {
        role: operator.role,
        invitation_id: invitation.id,
        expires_at: invitation.expiresAt,
        ...(via && { via }),
      },
    },
  )
}

/** Recorded after it took effect: the role was recorded when it was given, with the invitation. */
function recordJoined(
  installation: Installation,
  { org_id, operator_id, role, id }: InvitationWithOperator,
): Promise<void> {
  return recordOnProduction(
    installation,
    { organizationId: org_id, actor: { type: 'operator', id: operator_id } },
    {
      type: 'operator.joined',
      trailId: operator_id,
      subject: { type: 'operator', id: operator_id },
      data: { role, invitation_id: id },
    },
  )
}
