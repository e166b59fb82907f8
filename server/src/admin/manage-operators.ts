import { forbidden, notFound } from './problem.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import { emailProblem, normalizedEmail, personNameProblem } from '../core/person-rules.ts'
import type { Installation } from '../installation/installation.ts'
import { enrolCodes } from '../store/control/operator-codes.ts'
import {
  findOperatorByEmail,
  insertOperator,
  listProvableOperators,
  type NewOperatorRow,
  type Operator,
  ROLES,
  type Role,
} from '../store/control/operators.ts'
import { operatorEntry } from './entries.ts'
import { holds } from './operator-act.ts'
import { type Enrolment, newCodes } from './operator-codes.ts'

const MANAGERS_THAT_VOUCH = 2

/** Who adds or enrols operators: the user of the operating system, and the owner or admin who vouches with a code. */
export interface OperatorManager {
  organizationId: string
  actor: AdminActor
  /** The user of the operating system, where the actor is an operator. */
  via?: string
  /** The operator, where the actor is one. */
  operator?: Operator
}

/** An operator to add to an organization. */
export interface NewOperator {
  email: string
  name: string
  role: string
}

/** An operator with the new secret of the one-time codes, which cannot be shown again. */
export type EnrolledOperator = Operator & Enrolment

/** Adds an operator to an organization, with a secret for one-time codes. */
export async function addOperator(
  installation: Installation,
  { organizationId, actor, via, operator: manager }: OperatorManager,
  { email, name, role }: NewOperator,
): Promise<EnrolledOperator | { problem: string }> {
  const refused = ownerRefusal(manager, role)
  if (refused) return refused
  const { storage, newId, nowMs } = installation
  const operator: NewOperatorRow = {
    org_id: organizationId,
    id: newId('opr'),
    email: normalizedEmail(email),
    name: name.trim(),
    role: role as Role,
    created_at: new Date(nowMs()).toISOString(),
    disabled_at: null,
    account_id: null,
  }
  const problem = operatorProblem(operator)
  if (problem !== undefined) return { problem }
  const taken = { problem: `${operator.email} is an operator of this organization already: operators list shows them` }
  if (await isOperator(installation, organizationId, operator.email)) return taken
  const entry = operatorEntry(
    installation,
    { organizationId, operatorId: operator.id, actor },
    { type: 'operator.added', data: { role, ...(via && { via }) } },
  )
  const { control } = storage
  const { row: codes, enrolment } = newCodes(installation, operator)
  const { mac: _mac, ...added } = control.seal('operators', operator, entry)
  const isAdded = await control.recorded(async (transaction, record) => {
    if (!(await insertOperator(transaction, control.seal('operators', operator, entry)))) return false
    await enrolCodes(transaction, control.seal('operator_codes', codes, entry))
    record(entry)
    return true
  })
  return isAdded ? { ...added, ...enrolment } : taken
}

/** Gives an operator a new secret for one-time codes, because the authenticator app was lost or may be known to others. */
export async function resetCode(
  installation: Installation,
  { organizationId, actor, via, operator: manager }: OperatorManager,
  operator: Operator,
): Promise<EnrolledOperator | { problem: string }> {
  const refused = ownerRefusal(manager, operator.role)
  if (refused) return refused
  const entry = operatorEntry(
    installation,
    { organizationId, operatorId: operator.id, actor },
    { type: 'operator.code_reset', data: { ...(via && { via }) } },
  )
  const { control } = installation.storage
  const { row: codes, enrolment } = newCodes(installation, operator)
  await control.recorded(async (transaction, record) => {
    await enrolCodes(transaction, control.seal('operator_codes', codes, entry))
    record(entry)
  })
  return { ...operator, ...enrolment }
}

/**
 * Whether an owner or admin has to vouch for a new operator or a new secret: as soon as the organization has two of
 * them. Otherwise one shell could add two operators, or take over two, and act as both.
 */
export async function needsVoucher({ storage }: Installation, organizationId: string): Promise<boolean> {
  const operators = await listProvableOperators(storage.control, organizationId)
  const managers = operators.filter((operator) => holds(operator, 'manage operators'))
  return managers.length >= MANAGERS_THAT_VOUCH
}

/** Why an operator who is no owner may neither make an owner nor change one; undefined for every other role. */
export function ownerRefusal(manager: Operator | undefined, role: string): { problem: string } | undefined {
  if (role !== 'owner' || !manager || manager.role === 'owner') return undefined
  return { problem: `${manager.email} is ${manager.role}: only an owner may make owners or change them` }
}

/** Finds an operator by email, unless the operator is disabled. */
export async function findOperator(
  { storage }: Installation,
  organizationId: string,
  email: string,
): Promise<Operator> {
  const operator = await findOperatorByEmail(storage.control, organizationId, normalizedEmail(email))
  if (!operator) throw notFound('operator_not_found', `There is no operator ${email}.`)
  if (operator.disabled_at !== null) throw forbidden('operator_disabled', `${operator.email} is disabled.`)
  return operator
}

async function isOperator({ storage }: Installation, organizationId: string, email: string): Promise<boolean> {
  const operator = await findOperatorByEmail(storage.control, organizationId, email)
  return operator?.disabled_at === null
}

/** Why this cannot be an operator: its email, its name or its role; undefined if it can. */
export function operatorProblem({ email, name, role }: Pick<Operator, 'email' | 'name' | 'role'>): string | undefined {
  const problem = emailProblem(email) ?? personNameProblem(name)
  if (problem !== undefined) return problem
  return ROLES.includes(role) ? undefined : `${JSON.stringify(role)} is not a role: the roles are ${ROLES.join(', ')}`
}
