import type { Installation } from '../installation/installation.ts'
import { findOperatorById, type Operator } from '../store/control/operators.ts'
import { holds, type Permission } from './permissions.ts'

/** The operator who proposed something, unless they were removed or lost the role: then what they proposed is void. */
export async function standingOperator(
  { storage }: Installation,
  { organizationId, id, permission }: { organizationId: string; id: string; permission: Permission },
): Promise<Operator | undefined> {
  const operator = await findOperatorById(storage.control, organizationId, id)
  return operator && isStanding(operator, permission) ? operator : undefined
}

/** Whether an operator still acts and holds a permission. */
export function isStanding(operator: Operator, permission: Permission): boolean {
  return operator.disabled_at === null && holds(operator, permission)
}
