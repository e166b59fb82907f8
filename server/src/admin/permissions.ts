import type { Scope } from '../security/scopes.ts'
import type { Operator, Role } from '../store/control/operators.ts'
import type { Teammate } from '../store/control/team.ts'
import { forbidden } from './problem.ts'

/** What each role may do, in words for the people who give roles. */
export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: 'May do everything, and alone may make, change and remove owners.',
  admin: 'May do everything except make, change or remove owners.',
  policy_author:
    'Writes and proposes policies, and exports decisions. Sees everything else but names, identifiers, transactions and free text.',
  policy_approver:
    'Approves, rejects and activates policies that others wrote. Sees everything else but names, identifiers, transactions and free text.',
  reviewer:
    'Decides review cases; with a second person, takes mistaken outcomes back, merges entities, and sets and lifts legal holds. Sees everything else.',
  developer: 'Manages API keys and webhooks. Sees everything else but transactions.',
  viewer: 'Sees decisions and figures without names, identifiers, transactions and free text, and changes nothing.',
}

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
  'set approval limits': ['owner'],
  'retract outcomes': ['owner', 'admin', 'reviewer'],
  'merge entities': ['owner', 'admin', 'reviewer'],
  'erase entities': ['owner', 'admin'],
  'set and lift legal holds': ['owner', 'admin', 'reviewer'],
  'open or close the live gate': ['owner', 'admin'],
  'manage operators': ['owner', 'admin'],
  'manage API keys': ['owner', 'admin', 'developer'],
  'manage webhooks': ['owner', 'admin', 'developer'],
  'record decisions': ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer'],
  'keep scenarios': ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer'],
  'verify the audit log': ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer'],
  'see names': ['owner', 'admin', 'reviewer', 'developer'],
  'see identifiers': ['owner', 'admin', 'reviewer', 'developer'],
  'see transactions': ['owner', 'admin', 'reviewer'],
  'see free text': ['owner', 'admin', 'reviewer', 'developer'],
  'export data': ['owner', 'admin', 'policy_author'],
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

/** An action that only some roles may take. */
export type Permission = keyof typeof ROLES_FOR

/** Every permission, in the order of the table. */
export const PERMISSIONS = Object.keys(ROLES_FOR) as Permission[]

/** Refuses an operator who does not hold a permission in an organization. */
export function requirePermission(operator: Operator, organizationId: string, permission: Permission): void {
  if (operator.org_id !== organizationId || operator.disabled_at !== null)
    throw forbidden('operator_cannot_act', `${operator.email} cannot act for this organization.`)
  if (!holds(operator, permission))
    throw forbidden(
      'role_lacks_permission',
      `${operator.email} is ${operator.role}. Only ${ROLES_FOR[permission].join(', ')} may ${permission}.`,
    )
}

/** Refuses an operator whose role may not give one of these scopes to an API key. */
export function requireScopes({ email, role }: Operator, scopes: readonly Scope[]): void {
  const wider = scopes.find((scope) => !rolesThatGive(scope).includes(role))
  if (wider !== undefined)
    throw forbidden(
      'scope_beyond_role',
      `${email} is ${role}. Only ${rolesThatGive(wider).join(', ')} may give ${wider} to an API key.`,
    )
}

/** Refuses an operator who is no owner and would make an owner or change one. */
export function requireOwnerForOwners(manager: Operator, role: string): void {
  if (!reaches(manager, role))
    throw forbidden(
      'owner_needed',
      `${manager.email} is ${manager.role}. Only an owner may make owners or change them.`,
    )
}

/** Whether two operators are one person, who was perhaps removed and added again. */
export function isSamePerson(one: Operator, other: Operator): boolean {
  const hasSameAccount = one.account_id !== null && one.account_id === other.account_id
  return one.id === other.id || one.email === other.email || hasSameAccount
}

/** The permissions of a role. */
export function permissionsOf(role: Role): Permission[] {
  return PERMISSIONS.filter((permission) => holds({ role }, permission))
}

/** The roles that hold a permission. */
export function rolesWith(permission: Permission): readonly Role[] {
  return ROLES_FOR[permission]
}

/** Whether the role of an operator includes a permission. */
export function holds({ role }: Pick<Operator, 'role'>, permission: Permission): boolean {
  return rolesWith(permission).includes(role)
}

/** Whether an operator may add, change and remove operators of a role. */
export function mayManage(manager: Pick<Operator, 'role'>, role: Role): boolean {
  return holds(manager, 'manage operators') && reaches(manager, role)
}

/** Only an owner makes, changes and removes owners. */
function reaches(manager: Pick<Operator, 'role'>, role: string): boolean {
  return role !== 'owner' || manager.role === 'owner'
}

/** The roles that may give a scope to an API key. */
export function rolesThatGive(scope: Scope): readonly Role[] {
  return ROLES_FOR_SCOPE[scope]
}

/** Whether an operator can sign in, or act at the command line: an invited one can do neither before accepting. */
export function canAct({ disabled_at, account_id, has_codes }: Teammate): boolean {
  return disabled_at === null && (account_id !== null || has_codes)
}
