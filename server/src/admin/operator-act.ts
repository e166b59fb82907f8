import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Scope } from '../security/scopes.ts'
import type { Operator, Role } from '../store/control/operators.ts'
import type { Teammate } from '../store/control/team.ts'

/** The roles that hold each permission. */
const ROLES_FOR = {
  'propose policies': ['owner', 'admin', 'policy_author'],
  'comment on policies': ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer'],
  'backtest policies': ['owner', 'admin', 'policy_author', 'policy_approver'],
  'approve policies': ['owner', 'admin', 'policy_approver'],
  'reject policies': ['owner', 'admin', 'policy_approver'],
  'activate policies': ['owner', 'admin', 'policy_approver'],
  'review decisions': ['owner', 'admin', 'reviewer'],
  'set review bounds': ['owner', 'admin'],
  'retract outcomes': ['owner', 'admin', 'reviewer'],
  'open or close the live gate': ['owner', 'admin'],
  'manage operators': ['owner', 'admin'],
  'manage API keys': ['owner', 'admin', 'developer'],
  'manage webhooks': ['owner', 'admin', 'developer'],
  'record decisions': ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer'],
  'keep scenarios': ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer'],
  'verify the audit log': ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer'],
  'see the console': ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer', 'viewer'],
} as const satisfies Record<string, readonly Role[]>

const KEY_MANAGERS = ROLES_FOR['manage API keys']

/**
 * The roles that may give each scope to an API key. A key stays within the role of the operator who makes it: a developer
 * does not review, so a developer makes no key that does.
 */
const ROLES_FOR_SCOPE: Record<Scope, readonly Role[]> = {
  'entities:read': KEY_MANAGERS,
  'entities:write': KEY_MANAGERS,
  'identity_links:write': KEY_MANAGERS,
  'consents:write': KEY_MANAGERS,
  'transactions:write': KEY_MANAGERS,
  'feature_snapshots:write': KEY_MANAGERS,
  'audit_trail:read': KEY_MANAGERS,
  'decisions:write': KEY_MANAGERS,
  'decisions:read': KEY_MANAGERS,
  'reviews:write': ['owner', 'admin'],
  'outcomes:write': KEY_MANAGERS,
  'usage:read': KEY_MANAGERS,
  'webhooks:write': KEY_MANAGERS,
}

const REASON_CHARACTERS_MAX = 2_000

/** An action that only some roles may take. */
export type Permission = keyof typeof ROLES_FOR

/** The fields of every act of an operator who proved who they are: for which organization, by whom, and why. */
export interface OperatorAct {
  organizationId: string
  operator: Operator
  reason: string
  /** The user of the operating system who typed the command. */
  via?: string
}

/** An act of a user of the operating system, who holds no role. Enough for steps that one person may take alone. */
export interface OsUserAct {
  organizationId: string
  operator?: undefined
  reason: string
  /** The user of the operating system. */
  via: string
}

/** An act that one person may take alone: an operator, or the user of the operating system. */
export type SoleAct = OperatorAct | OsUserAct

/** Who the audit log names for an act, and what else it says about them. */
export function actorOf(act: SoleAct): { actor: AdminActor; via?: string } {
  if (!act.operator) return { actor: { type: 'os_user', id: act.via } }
  return { actor: { type: 'operator', id: act.operator.id }, ...(act.via && { via: act.via }) }
}

/** Why this act may not proceed: the operator has not the role for it, or there is no usable reason; otherwise undefined. */
export function refusal(act: SoleAct, permission: Permission): { problem: string } | undefined {
  const refused = act.operator && roleRefusal(act.operator, act.organizationId, permission)
  if (refused) return refused
  const length = act.reason.trim().length
  if (length === 0 || length > REASON_CHARACTERS_MAX)
    return {
      problem: `the reason is empty or too long: say why in 1 to ${REASON_CHARACTERS_MAX} characters, for the audit log`,
    }
  return undefined
}

/** Why an operator does not hold a permission in an organization; undefined if the operator does. */
export function roleRefusal(
  operator: Operator,
  organizationId: string,
  permission: Permission,
): { problem: string } | undefined {
  if (operator.org_id !== organizationId || operator.disabled_at !== null)
    return { problem: `${operator.email} cannot act for this organization` }
  if (holds(operator, permission)) return undefined
  return {
    problem: `${operator.email} is ${operator.role}: only ${ROLES_FOR[permission].join(', ')} may ${permission}`,
  }
}

/** Whether two operators are one person, who was perhaps removed and added again. */
export function isSamePerson(one: Operator, other: Operator): boolean {
  const hasSameAccount = one.account_id !== null && one.account_id === other.account_id
  return one.id === other.id || one.email === other.email || hasSameAccount
}

/** The permissions of a role. */
export function permissionsOf(role: Role): Permission[] {
  return (Object.keys(ROLES_FOR) as Permission[]).filter((permission) => holds({ role }, permission))
}

/** Whether the role of an operator includes a permission. */
export function holds({ role }: Pick<Operator, 'role'>, permission: Permission): boolean {
  const roles: readonly Role[] = ROLES_FOR[permission]
  return roles.includes(role)
}

/** The roles that may give a scope to an API key. */
export function rolesThatGive(scope: Scope): readonly Role[] {
  return ROLES_FOR_SCOPE[scope]
}

/** Why an operator may not give these scopes to an API key; undefined if the operator may. */
export function scopeRefusal({ email, role }: Operator, scopes: readonly Scope[]): { problem: string } | undefined {
  const wider = scopes.find((scope) => !rolesThatGive(scope).includes(role))
  return (
    wider && {
      problem: `${email} is ${role}: only ${rolesThatGive(wider).join(', ')} may give ${wider} to an API key, so leave it out or ask one of them`,
    }
  )
}

/** Whether an operator can sign in, or act at the command line: an invited one can do neither before accepting. */
export function canAct({ disabled_at, account_id, has_codes }: Teammate): boolean {
  return disabled_at === null && (account_id !== null || has_codes)
}
