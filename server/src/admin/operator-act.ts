import type { Operator, Role } from '../store/queries/operators.ts'

/** The roles that hold each permission. */
const ROLES_FOR = {
  'propose policies': ['owner', 'admin', 'policy_author'],
  'approve policies': ['owner', 'admin', 'policy_approver'],
  'reject policies': ['owner', 'admin', 'policy_approver'],
  'activate policies': ['owner', 'admin', 'policy_approver'],
  'open or close the live gate': ['owner', 'admin'],
} as const satisfies Record<string, readonly Role[]>

const REASON_CHARACTERS_MAX = 2_000

/** An action that only some roles may take. */
export type Permission = keyof typeof ROLES_FOR

/** The fields of every act of an operator: for which organization, by whom, and why. */
export interface OperatorAct {
  organizationId: string
  operator: Operator
  reason: string
  /** What identified the operator, such as the command line and its user. */
  via?: string
}

/** Why an operator may not take this action, or gave no usable reason; undefined if the act may proceed. */
export function refusal(act: OperatorAct, permission: Permission): { problem: string } | undefined {
  const { operator, reason, organizationId } = act
  if (operator.org_id !== organizationId || operator.disabled_at !== null)
    return { problem: `${operator.email} cannot act for this organization` }
  const roles: readonly Role[] = ROLES_FOR[permission]
  if (!roles.includes(operator.role))
    return { problem: `${operator.email} is ${operator.role}: only ${roles.join(', ')} may ${permission}` }
  const length = reason.trim().length
  if (length === 0 || length > REASON_CHARACTERS_MAX)
    return {
      problem: `the reason is empty or too long: say why in 1 to ${REASON_CHARACTERS_MAX} characters, for the audit log`,
    }
  return undefined
}
