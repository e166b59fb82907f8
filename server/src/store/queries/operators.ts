import type { Database, Row } from '../database/database.ts'

/** The roles of operators. */
export const ROLES = ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer', 'viewer'] as const

/** The role of an operator. */
export type Role = (typeof ROLES)[number]

/** A person who works with an installation, on behalf of one organization. */
export interface Operator {
  org_id: string
  id: string
  email: string
  name: string
  role: Role
  created_at: string
  disabled_at: string | null
}

const COLUMNS = 'org_id, id, email, name, role, created_at, disabled_at'

/** Adds an operator; false if the organization has one with this email. */
export async function insertOperator(control: Database, operator: Operator): Promise<boolean> {
  const { org_id, id, email, name, role, created_at, disabled_at } = operator
  const inserted = await control.query(
    `INSERT INTO operators (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING 1`,
    [org_id, id, email, name, role, created_at, disabled_at],
  )
  return inserted.length === 1
}

/** Lists the operators of an organization, oldest first. */
export async function listOperators(control: Database, organizationId: string): Promise<Operator[]> {
  return control.query<Operator & Row>(`SELECT ${COLUMNS} FROM operators WHERE org_id = $1 ORDER BY id`, [
    organizationId,
  ])
}

/** Finds an operator of an organization by email, which must be lower case. */
export async function findOperatorByEmail(
  control: Database,
  organizationId: string,
  email: string,
): Promise<Operator | undefined> {
  const [operator] = await control.query<Operator & Row>(
    `SELECT ${COLUMNS} FROM operators WHERE org_id = $1 AND email = $2`,
    [organizationId, email],
  )
  return operator
}
