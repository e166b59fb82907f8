import { changeRole, endSessionsOf, removeOperator } from '../../admin/change-operators.ts'
import { inviteOperator, type SentInvitation, withdrawInvitation } from '../../admin/invitations.ts'
import { requireNotRemoved } from '../../admin/manage-operators.ts'
import { canAct, mayManage, ROLE_DESCRIPTIONS, requireOwnerForOwners } from '../../admin/permissions.ts'
import { notFound } from '../../admin/problem.ts'
import { Id, OneOf, Strict, Text } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import type { Installation } from '../../installation/installation.ts'
import { singleSignOnOrganization } from '../../sign-in/single-sign-on.ts'
import { findOperatorById, type Operator, ROLES } from '../../store/control/operators.ts'
import { listSessions } from '../../store/control/sessions.ts'
import { lastSignIns, listTeam, type Teammate } from '../../store/control/team.ts'
import { defineOperation, type OperatorContext } from '../define-operation.ts'
import { deviceOf } from '../device-of.ts'

const operatorId = Id('opr', 'Id of the operator.')
const Reason = Text(2_000, 'Why; recorded in the audit log.')

/** The operators of the organization, what each role may do, and how single sign-on gives roles. */
const listTeammates = defineOperation({
  summary: 'List the operators of the organization',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ installation, organizationId, operator, now }) {
    const { storage } = installation
    const team = await listTeam(storage.control, { organizationId, now })
    const operatorIds = team.map(({ id }) => id)
    const signIns = await lastSignIns(storage.environments.production, { organizationId, operatorIds })
    const owners = team.filter((teammate) => teammate.role === 'owner' && canAct(teammate))
    return {
      operators: team.map((teammate) => ({
        ...describeTeammate(teammate, now),
        last_sign_in_at: signIns.get(teammate.id) ?? null,
        is_you: teammate.id === operator.id,
        is_last_owner: owners.length === 1 && owners[0]!.id === teammate.id,
        /** Whether the caller may change or remove this operator. */
        may_manage: teammate.disabled_at === null && mayManage(operator, teammate.role),
      })),
      roles: ROLES.map((role) => ({
        role,
        description: ROLE_DESCRIPTIONS[role],
        /** Whether the caller may give it. */
        may_give: mayManage(operator, role),
      })),
      single_sign_on: await describeSingleSignOn(installation, organizationId),
    }
  },
})

/** Invites a person by a link, which is shown once. */
const inviteTeammate = defineOperation({
  summary: 'Invite a person as an operator, by a link that is shown once',
  access: inviteOperator.permission,
  input: Strict({
    email: Text(254, 'E-mail of the person.'),
    name: Text(255, 'Name of the person.'),
    role: OneOf(ROLES),
  }),
  audit: ['operator.invited'],
  handle: async ({ installation, act, input }) => describeInvitation(await inviteOperator(installation, act, input)),
})

/** Makes a new link for an operator who has no account yet; the earlier link stops working. */
const renewTeammateInvitation = defineOperation({
  summary: 'Make a new invitation link for an operator without an account',
  access: inviteOperator.permission,
  input: Strict({ operator_id: operatorId }),
  audit: ['operator.invited'],
  async handle(context) {
    const operator = await findTeammate(context)
    requireNotRemoved(operator)
    return describeInvitation(await inviteOperator(context.installation, context.act, operator))
  },
})

/** Withdraws the open invitation of an operator. */
const withdrawTeammateInvitation = defineOperation({
  summary: 'Withdraw the open invitation of an operator; its link stops working',
  access: withdrawInvitation.permission,
  input: Strict({ operator_id: operatorId, reason: Reason }),
  audit: ['operator.invitation_withdrawn'],
  async handle(context) {
    const operator = await findTeammate(context)
    await withdrawInvitation(context.installation, context.act, operator)
    return { operator_id: operator.id }
  },
})

/** Gives an operator another role. */
const changeTeammateRole = defineOperation({
  summary: 'Give an operator another role',
  access: changeRole.permission,
  input: Strict({ operator_id: operatorId, role: OneOf(ROLES), reason: Reason }),
  audit: ['operator.role_changed', 'operator.invitation_withdrawn', 'live_gate.approval_withdrawn'],
  async handle(context) {
    const { installation, act, input } = context
    const operator = await findTeammate(context)
    const { id, role } = await changeRole(installation, act, { operator, role: input.role })
    return { operator_id: id, role }
  },
})

/** Removes an operator from the organization. */
const removeTeammate = defineOperation({
  summary: 'Remove an operator; sessions end at once',
  access: removeOperator.permission,
  input: Strict({ operator_id: operatorId, reason: Reason }),
  audit: ['operator.removed', 'live_gate.approval_withdrawn'],
  handle: async (context) => removeOperator(context.installation, context.act, await findTeammate(context)),
})

/** The browsers in which an operator is signed in. */
const listTeammateSessions = defineOperation({
  summary: 'List the sessions of an operator',
  access: 'manage operators',
  input: Strict({ operator_id: operatorId }),
  audit: [],
  async handle(context) {
    const { installation, account, now } = context
    const operator = await findTeammate(context)
    requireOwnerForOwners(context.operator, operator.role)
    const sessions =
      operator.account_id && operator.disabled_at === null
        ? await listSessions(installation.storage.control, { accountId: operator.account_id, now })
        : []
    return {
      sessions: sessions.map(({ id, method, address, user_agent, created_at, last_used_at }) => ({
        id,
        method,
        address,
        device: deviceOf(user_agent),
        created_at,
        last_used_at,
        is_this: id === account.sessionId,
      })),
    }
  },
})

/** Ends one session of an operator, or all of them. */
const endTeammateSessions = defineOperation({
  summary: 'End one session of an operator, or all of them',
  access: endSessionsOf.permission,
  input: Strict({
    operator_id: operatorId,
    session_id: Type.Optional(Id('ses', 'Id of the session; all without it.')),
    reason: Reason,
  }),
  audit: ['operator.session_ended'],
  async handle(context) {
    const { installation, act, input } = context
    return endSessionsOf(installation, act, {
      operator: await findTeammate(context),
      ...(input.session_id !== undefined && { sessionId: input.session_id }),
    })
  },
})

function describeInvitation({ operator, link, expires_at }: SentInvitation) {
  return { operator_id: operator.id, email: operator.email, role: operator.role, link, expires_at }
}

async function findTeammate({
  installation,
  organizationId,
  input,
}: OperatorContext<{ operator_id: string }>): Promise<Operator> {
  const operator = await findOperatorById(installation.storage.control, organizationId, input.operator_id)
  if (!operator) throw notFound('operator_not_found', 'There is no such operator in this organization.')
  return operator
}

function describeTeammate(teammate: Teammate, now: string) {
  const { id, name, email, role, created_at, disabled_at, account_id, invited_until } = teammate
  const isInvited = account_id === null && invited_until !== null
  return {
    id,
    name,
    email,
    role,
    state:
      disabled_at !== null
        ? ('removed' as const)
        : account_id !== null
          ? ('active' as const)
          : !isInvited
            ? ('not_invited' as const)
            : invited_until > now
              ? ('invited' as const)
              : ('invitation_expired' as const),
    created_at,
    removed_at: disabled_at,
    invited_until: isInvited ? invited_until : null,
    /** Null while there is no account. */
    has_two_factor: account_id === null ? null : teammate.has_two_factor,
    has_single_sign_on: teammate.has_single_sign_on,
    has_codes: teammate.has_codes,
    has_approved_gate: teammate.has_approved_gate,
    sessions: teammate.sessions,
  }
}

/** How single sign-on is set up; null if it is not, or if it is for another organization. */
async function describeSingleSignOn(installation: Installation, organizationId: string) {
  const { oidc } = installation.config
  if (!oidc || (await singleSignOnOrganization(installation)) !== organizationId) return null
  return { issuer: oidc.issuer, groups_claim: oidc.groupsClaim, roles: oidc.roles.map((entry) => ({ ...entry })) }
}

/** The operations `team.<verb>`. */
export const team = {
  list: listTeammates,
  invite: inviteTeammate,
  'renew-invitation': renewTeammateInvitation,
  'withdraw-invitation': withdrawTeammateInvitation,
  'change-role': changeTeammateRole,
  remove: removeTeammate,
  'list-sessions': listTeammateSessions,
  'end-sessions': endTeammateSessions,
}
