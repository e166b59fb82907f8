import type { OperatorRole as Role } from '../../core/vocabularies.ts'
import type { Database, Queryable, Row } from '../database/database.ts'

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
}

const COLUMNS = 'org_id, id, email, name, role, created_at, disabled_at, account_id'

/** Adds an operator; false if the organization has one with this email. */
export async function insertOperator(control: Queryable, operator: Operator): Promise<boolean> {
  const { org_id, id, email, name, role, created_at, disabled_at, account_id } = operator
  const inserted = await control.query(
    `INSERT INTO operators (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING 1`,
    [org_id, id, email, name, role, created_at, disabled_at, account_id],
  )
  return inserted.length === 1
}

/** Lists the operators of an organization, oldest first. */
export async function listOperators(control: Database, organizationId: string): Promise<Operator[]> {
  return control.query<Operator & Row>(`SELECT ${COLUMNS} FROM operators WHERE org_id = $1 ORDER BY id`, [
    organizationId,
  ])
}

/** Finds an operator of an organization by email, which must be lower case; a disabled one only if there is no other. */
export async function findOperatorByEmail(
  control: Database,
  organizationId: string,
  email: string,
): Promise<Operator | undefined> {
  const [operator] = await control.query<Operator & Row>(
    `SELECT ${COLUMNS} FROM operators WHERE org_id = $1 AND email = $2 ORDER BY disabled_at IS NULL DESC, id DESC LIMIT 1`,
    [organizationId, email],
  )
  return operator
}

/** Finds an operator of an organization by id. */
export async function findOperatorById(
  control: Database,
  organizationId: string,
  operatorId: string,
): Promise<Operator | undefined> {
  const [operator] = await control.query<Operator & Row>(
    `SELECT ${COLUMNS} FROM operators WHERE org_id = $1 AND id = $2`,
    [organizationId, operatorId],
  )
  return operator
}

/** Finds the operator as whom an account acts for an organization; undefined if it has none, or a disabled one. */
export async function findOperatorOfAccount(
  control: Database,
  organizationId: string,
  accountId: string,
): Promise<Operator | undefined> {
  const [operator] = await control.query<Operator & Row>(
    `SELECT ${COLUMNS} FROM operators WHERE org_id = $1 AND account_id = $2 AND disabled_at IS NULL`,
    [organizationId, accountId],
  )
  return operator
}

/** Lists the operators as whom an account acts, with the names of their organizations; none that is disabled. */
export async function operatorsOfAccount(
  control: Database,
  accountId: string,
): Promise<(Operator & { organization_name: string })[]> {
  const columns = COLUMNS.split(', ').map((column) => `operator.${column}`)
  return control.query<Operator & { organization_name: string } & Row>(
    `SELECT ${columns.join(', ')}, organization.name AS organization_name
     FROM operators AS operator JOIN organizations AS organization ON organization.id = operator.org_id
     WHERE operator.account_id = $1 AND operator.disabled_at IS NULL ORDER BY operator.org_id`,
    [accountId],
  )
}

/** Lists the operators who can prove who they are: by one-time codes, or by signing in to the console. */
export async function listProvableOperators(control: Database, organizationId: string): Promise<Operator[]> {
  return control.query<Operator & Row>(
    `SELECT ${COLUMNS} FROM operators AS operator WHERE org_id = $1 AND disabled_at IS NULL AND (account_id IS NOT NULL
       OR EXISTS (SELECT 1 FROM operator_codes AS code WHERE code.org_id = $1 AND code.operator_id = operator.id))
     ORDER BY id`,
    [organizationId],
  )
}

/** Binds an operator to an account; false if the operator has one, was removed, or the account has another operator. */
export async function bindOperator(
  control: Queryable,
  { organizationId, operatorId, accountId }: { organizationId: string; operatorId: string; accountId: string },
): Promise<boolean> {
  const bound = await control.query(
    `UPDATE operators SET account_id = $3 WHERE org_id = $1 AND id = $2 AND account_id IS NULL AND disabled_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM operators AS other
         WHERE other.org_id = $1 AND other.account_id = $3 AND other.disabled_at IS NULL) RETURNING 1`,
    [organizationId, operatorId, accountId],
  )
  return bound.length === 1
}

/** Whether an operator of this account, or with this e-mail, was removed from an organization. */
export async function wasRemoved(
  control: Database,
  { organizationId, accountId, email }: { organizationId: string; accountId: string; email: string | null },
): Promise<boolean> {
  const rows = await control.query(
    `SELECT 1 FROM operators WHERE org_id = $1 AND (account_id = $2 OR email = $3) AND disabled_at IS NOT NULL LIMIT 1`,
    [organizationId, accountId, email],
  )
  return rows.length === 1
}
