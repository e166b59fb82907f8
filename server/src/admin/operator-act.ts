import type { Operator, Role } from '../store/queries/operators.ts'

/** Who may do what. */
const ROLES_FOR = {
  'propose policies': ['owner', 'admin', 'policy_author'],
  'approve policies': ['owner', 'admin', 'policy_approver'],
  'reject policies': ['owner', 'admin', 'policy_approver'],
  'activate policies': ['owner', 'admin', 'policy_approver'],
  'open or close the live gate': ['owner', 'admin'],
} as const satisfies Record<string, readonly Role[]>

const REASON_CHARACTERS_MAX = 2_000

/** Something that only some operators may do. */
export type Power = keyof typeof ROLES_FOR

/** What every act of an operator carries: for whom, by whom, why. */
export interface OperatorAct {
  organizationId: string
  operator: Operator
  reason: string
  /** What vouches for the operator, such as the command line and its user. */
  via?: string
}

/** Why an act is refused before anything is looked at; nothing when it may go on. */
export function refusal(act: OperatorAct, power: Power): { problem: string } | undefined {
  const { operator, reason, organizationId } = act
  if (operator.org_id !== organizationId || operator.disabled_at !== null)
    return { problem: `${operator.email} cannot act for this organization` }
  const roles: readonly Role[] = ROLES_FOR[power]
  if (!roles.includes(operator.role))
    return { problem: `${operator.email} is ${operator.role}; only ${roles.join(', ')} may ${power}` }
  const length = reason.trim().length
  if (length === 0 || length > REASON_CHARACTERS_MAX)
    return { problem: `say why in 1 to ${REASON_CHARACTERS_MAX} characters: the reason goes on record` }
  return undefined
}
