import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../service/installation.ts'
import { findOperatorByEmail, insertOperator, type Operator, ROLES, type Role } from '../store/queries/operators.ts'
import { recordOnProduction } from './record-on-production.ts'

const NAME_CHARACTERS_MAX = 255
const EMAIL_CHARACTERS_MAX = 254

/** An operator to add to an organization. */
export interface NewOperator {
  organizationId: string
  email: string
  name: string
  role: string
  actor: AdminActor
}

/** Adds an operator to an organization. */
export async function addOperator(
  installation: Installation,
  { organizationId, email, name, role, actor }: NewOperator,
): Promise<Operator | { problem: string }> {
  const { storage, newId, nowMs } = installation
  const operator: Operator = {
    org_id: organizationId,
    id: newId('opr'),
    email: normalizedEmail(email),
    name: name.trim(),
    role: role as Role,
    created_at: new Date(nowMs()).toISOString(),
    disabled_at: null,
  }
  const problem = operatorProblem(operator)
  if (problem !== undefined) return { problem }
  const taken = { problem: `${operator.email} is an operator of this organization already: operators list shows them` }
  if (await findOperatorByEmail(storage.control, organizationId, operator.email)) return taken
  // Recorded before the operator is added: the two databases share no transaction, and no role may be given unrecorded.
  await recordOnProduction(
    installation,
    { organizationId, actor },
    {
      type: 'operator.added',
      trailId: operator.id,
      subject: { type: 'operator', id: operator.id },
      data: { role },
    },
  )
  return (await insertOperator(storage.control, operator)) ? operator : taken
}

/** Finds an operator by email, unless the operator is disabled. */
export async function findOperator(
  { storage }: Installation,
  organizationId: string,
  email: string,
): Promise<Operator | { problem: string }> {
  const operator = await findOperatorByEmail(storage.control, organizationId, normalizedEmail(email))
  if (!operator) return { problem: `there is no operator ${email}: operators list shows them, operators add adds one` }
  return operator.disabled_at === null
    ? operator
    : { problem: `${operator.email} is disabled: another operator has to act` }
}

/** Emails are compared in lower case, as every mail provider does in practice. */
function normalizedEmail(email: string): string {
  return email.trim().toLowerCase()
}

function operatorProblem({ email, name, role }: Operator): string | undefined {
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > EMAIL_CHARACTERS_MAX)
    return `${JSON.stringify(email)} is not an email address`
  if (name.length === 0 || name.length > NAME_CHARACTERS_MAX)
    return `the name of an operator must have 1 to ${NAME_CHARACTERS_MAX} characters`
  return ROLES.includes(role) ? undefined : `${JSON.stringify(role)} is not a role: the roles are ${ROLES.join(', ')}`
}
