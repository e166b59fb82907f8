import { normalizedEmail } from '../core/person-rules.ts'
import type { Installation } from '../installation/installation.ts'
import { enrolCodes } from '../store/control/operator-codes.ts'
import {
  findOperatorByEmail,
  insertOperator,
  listProvableOperators,
  type NewOperatorRow,
  type Operator,
  type Role,
} from '../store/control/operators.ts'
import { actorOf, type OrganizationAct, permitted, viaOf } from './act.ts'
import { operatorEntry } from './entries.ts'
import { type Enrolment, newCodes } from './operator-codes.ts'
import { holds, requireOwnerForOwners } from './permissions.ts'
import { conflict, forbidden, notFound } from './problem.ts'
import { requireValidOperator } from './require-valid-operator.ts'

const MANAGERS_THAT_VOUCH = 2

/** An operator to add to an organization. */
export interface NewOperator {
  email: string
  name: string
  role: string
}

/** An operator with the new secret of the one-time codes, which cannot be shown again. */
export type EnrolledOperator = Operator & Enrolment

/** Adds an operator to an organization, with a secret for one-time codes. */
export const addOperator = permitted(
  'manage operators',
  async (installation, act: OrganizationAct, { email, name, role }: NewOperator): Promise<EnrolledOperator> => {
    await requireMayManageRole(installation, act, role)
    const { organizationId } = act
    const operator: NewOperatorRow = {
      org_id: organizationId,
      id: installation.newId('opr'),
      email: normalizedEmail(email),
      name: name.trim(),
      role: role as Role,
      created_at: new Date(installation.nowMs()).toISOString(),
      disabled_at: null,
      account_id: null,
    }
    requireValidOperator(operator)
    const taken = () => conflict('operator_exists', `${operator.email} is an operator of this organization already.`)
    if (await findCurrentOperator(installation, organizationId, operator.email)) throw taken()
    const entry = operatorEntry(
      installation,
      { organizationId, operatorId: operator.id, actor: actorOf(act) },
      { type: 'operator.added', data: { role, ...viaOf(act) } },
    )
    const { control } = installation.storage
    const { row: codes, enrolment } = newCodes(installation, operator)
    const { mac: _mac, ...added } = control.seal('operators', operator, entry)
    const isAdded = await control.recorded(async (transaction, record) => {
      if (!(await insertOperator(transaction, control.seal('operators', operator, entry)))) return false
      await enrolCodes(transaction, control.seal('operator_codes', codes, entry))
      record(entry)
      return true
    })
    if (!isAdded) throw taken()
    return { ...added, ...enrolment }
  },
)

/** Gives an operator a new secret for one-time codes, because the authenticator app was lost or may be known to others. */
export const resetCode = permitted(
  'manage operators',
  async (installation, act: OrganizationAct, operator: Operator): Promise<EnrolledOperator> => {
    await requireMayManageRole(installation, act, operator.role)
    const entry = operatorEntry(
      installation,
      { organizationId: act.organizationId, operatorId: operator.id, actor: actorOf(act) },
      { type: 'operator.code_reset', data: viaOf(act) },
    )
    const { control } = installation.storage
    const { row: codes, enrolment } = newCodes(installation, operator)
    await control.recorded(async (transaction, record) => {
      await enrolCodes(transaction, control.seal('operator_codes', codes, entry))
      record(entry)
    })
    return { ...operator, ...enrolment }
  },
)

/**
 * Refuses an act on operators of a role. Only an owner makes owners or changes them. At the command line an owner or admin
 * has to vouch as soon as the organization has two of them: otherwise one shell could add two operators, or take over two,
 * and act as both.
 */
export async function requireMayManageRole(
  installation: Installation,
  act: OrganizationAct,
  role: string,
): Promise<void> {
  const { by, channel, organizationId } = act
  if (by.type === 'operator') return requireOwnerForOwners(by.operator, role)
  if (channel === 'command_line' && (await countManagers(installation, organizationId)) >= MANAGERS_THAT_VOUCH)
    throw forbidden(
      'voucher_missing',
      'This organization has at least two owners or admins, so one of them has to vouch.',
    )
}

async function countManagers({ storage }: Installation, organizationId: string): Promise<number> {
  const operators = await listProvableOperators(storage.control, organizationId)
  return operators.filter((operator) => holds(operator, 'manage operators')).length
}

/** Finds an operator by email, who is to act and was not removed. */
export async function findActingOperator(
  installation: Installation,
  organizationId: string,
  email: string,
): Promise<Operator> {
  const operator = await requireOperator(installation, organizationId, email)
  if (operator.disabled_at !== null)
    throw forbidden('operator_cannot_act', `${operator.email} was removed and cannot act for this organization.`)
  return operator
}

/** Finds an operator by email, who is to be changed and was not removed. */
export async function findOperatorToChange(
  installation: Installation,
  organizationId: string,
  email: string,
): Promise<Operator> {
  const operator = await requireOperator(installation, organizationId, email)
  requireNotRemoved(operator)
  return operator
}

/** Refuses a change of an operator who was removed. */
export function requireNotRemoved({ email, disabled_at }: Pick<Operator, 'email' | 'disabled_at'>): void {
  if (disabled_at !== null) throw conflict('operator_removed', `${email} was removed already.`)
}

async function requireOperator({ storage }: Installation, organizationId: string, email: string): Promise<Operator> {
  const operator = await findOperatorByEmail(storage.control, organizationId, normalizedEmail(email))
  if (!operator) throw notFound('operator_not_found', `There is no operator ${email}.`)
  return operator
}

/** Finds an operator who was not removed, by email. */
export async function findCurrentOperator(
  { storage }: Installation,
  organizationId: string,
  email: string,
): Promise<Operator | undefined> {
  const operator = await findOperatorByEmail(storage.control, organizationId, normalizedEmail(email))
  return operator?.disabled_at === null ? operator : undefined
}
