import type { OperatorRole as Role } from '../../core/vocabularies.ts'
import type { Queryable, Row } from '../database/database.ts'
import type { ControlDatabase } from '../power/control-database.ts'
import { insertRow } from '../power/insert-row.ts'
import type { Seal } from '../power/row-mac.ts'

export { OPERATOR_ROLES as ROLES, type OperatorRole as Role } from '../../core/vocabularies.ts'

/** A person who works with an installation, on behalf of one organization. */
export interface Operator {
  org_id: string
  id: string
  email: string
  name: string
  role: Role
  created_at: string
  disabled_at: string | null
  /** The account that signs in to the console as this operator; null until an invitation is accepted. */
  account_id: string | null
  /** The audit entry that made the operator so. */
  entry_id: string
}

/** An operator before an entry makes it so. */
export type NewOperatorRow = Omit<Operator, 'entry_id'>

/** The columns of an operator, for queries that pass their rows to `ControlDatabase.genuine`. */
export const OPERATOR_COLUMNS =
  'org_id, id, email, name, role, created_at, disabled_at, account_id, entry_id, mac'.split(', ')

/** SQL: the columns of an operator that is joined as `operator`, in a row that has columns of its own. */
export const JOINED_OPERATOR_COLUMNS = OPERATOR_COLUMNS.map(
  (column) => `operator.${column} AS operator__${column}`,
).join(', ')

/** The operator that was joined to a row. */
export function operatorIn(row: Row): Row {
  return Object.fromEntries(OPERATOR_COLUMNS.map((column) => [column, row[`operator__${column}`]]))
}

/** Adds an operator; false if the organization has one with this email. */
export function insertOperator(control: Queryable, operator: NewOperatorRow & Seal): Promise<boolean> {
  return insertRow(control, 'operators', operator)
}

/** Stores the next version of an operator; false if another one was stored meanwhile. */
export async function updateOperator(
  control: Queryable,
  { org_id, id, role, disabled_at, account_id, entry_id, mac }: Operator & Seal,
  { was }: { was: string },
): Promise<boolean> {
  const updated = await control.query(
    `UPDATE operators SET role = $3, disabled_at = $4, account_id = $5, entry_id = $6, mac = $7
     WHERE org_id = $1 AND id = $2 AND entry_id = $8 RETURNING 1`,
    [org_id, id, role, disabled_at, account_id, entry_id, mac, was],
  )
  return updated.length === 1
}

/** Reads operators, and leaves out rows that are refused. `where` may use the name `operator`. */
async function readOperators(control: ControlDatabase, where: string, params: readonly unknown[]): Promise<Operator[]> {
  const columns = OPERATOR_COLUMNS.map((column) => `operator.${column}`).join(', ')
  const rows = await control.genuine('operators', () =>
    control.query<Operator & Seal & Row>(`SELECT ${columns} FROM operators AS operator WHERE ${where}`, params),
  )
  return rows.map(({ mac: _mac, ...operator }) => operator)
}

/** Lists the operators of an organization, oldest first. */
export function listOperators(control: ControlDatabase, organizationId: string): Promise<Operator[]> {
  return readOperators(control, 'operator.org_id = $1 ORDER BY operator.id', [organizationId])
}

/** Finds an operator of an organization by email, which must be lower case; a disabled one only if there is no other. */
export async function findOperatorByEmail(
  control: ControlDatabase,
  organizationId: string,
  email: string,
): Promise<Operator | undefined> {
  const where =
    'operator.org_id = $1 AND operator.email = $2 ORDER BY operator.disabled_at IS NULL DESC, operator.id DESC LIMIT 1'
  return (await readOperators(control, where, [organizationId, email]))[0]
}

/** Finds an operator of an organization by id. */
export async function findOperatorById(
  control: ControlDatabase,
  organizationId: string,
  operatorId: string,
): Promise<Operator | undefined> {
  return (await readOperators(control, 'operator.org_id = $1 AND operator.id = $2', [organizationId, operatorId]))[0]
}

/** Finds the operator as whom an account acts for an organization; undefined if it has none, or a disabled one. */
export async function findOperatorOfAccount(
  control: ControlDatabase,
  organizationId: string,
  accountId: string,
): Promise<Operator | undefined> {
  const where = 'operator.org_id = $1 AND operator.account_id = $2 AND operator.disabled_at IS NULL'
  return (await readOperators(control, where, [organizationId, accountId]))[0]
}

/** Lists the operators as whom an account acts, with the names of their organizations; none that is disabled. */
export async function operatorsOfAccount(
  control: ControlDatabase,
  accountId: string,
): Promise<(Operator & { organization_name: string })[]> {
  const columns = OPERATOR_COLUMNS.map((column) => `operator.${column}`).join(', ')
  const rows = await control.genuine('operators', () =>
    control.query<Operator & Seal & { organization_name: string } & Row>(
      `SELECT ${columns}, organization.name AS organization_name
       FROM operators AS operator JOIN organizations AS organization ON organization.id = operator.org_id
       WHERE operator.account_id = $1 AND operator.disabled_at IS NULL ORDER BY operator.id`,
      [accountId],
    ),
  )
  return rows.map(({ mac: _mac, ...operator }) => operator)
}

/** Lists the operators who can prove who they are: by one-time codes, or by signing in to the console. */
export function listProvableOperators(control: ControlDatabase, organizationId: string): Promise<Operator[]> {
  return readOperators(
    control,
    `operator.org_id = $1 AND operator.disabled_at IS NULL AND (operator.account_id IS NOT NULL
       OR EXISTS (SELECT 1 FROM operator_codes AS code WHERE code.org_id = $1 AND code.operator_id = operator.id))
     ORDER BY operator.id`,
    [organizationId],
  )
}

/** Whether an account acts for an organization as another operator; the row of the account is locked by the caller. */
export async function actsFor(
  control: Queryable,
  { organizationId, accountId }: { organizationId: string; accountId: string },
): Promise<boolean> {
  const rows = await control.query(
    'SELECT 1 FROM operators WHERE org_id = $1 AND account_id = $2 AND disabled_at IS NULL',
    [organizationId, accountId],
  )
  return rows.length > 0
}

/** Whether an operator with this e-mail was removed from an organization. */
export async function wasRemoved(
  control: Queryable,
  { organizationId, email }: { organizationId: string; email: string | null },
): Promise<boolean> {
  const rows = await control.query(
    'SELECT 1 FROM operators WHERE org_id = $1 AND email = $2 AND disabled_at IS NOT NULL LIMIT 1',
    [organizationId, email],
  )
  return rows.length === 1
}
