/** Changes of operators that must leave every organization with an owner. */
import type { Queryable } from '../database/database.ts'
import type { Seal } from '../power/row-mac.ts'
import type { Operator } from './operators.ts'

/** The next version of an operator, and the entry of the version that it replaces. */
export interface OperatorVersion {
  operator: Operator & Seal
  was: string
  now: string
}

/** What removing an operator ended with it. */
export interface Removal {
  approvals_withdrawn: number
  sessions_ended: number
}

/**
 * SQL: the owners of organization `$1` who can act: they sign in, or have one-time codes. The rows are locked, so that
 * of two owners who step down at the same moment, the second sees that the first no longer counts.
 */
const OWNERS = `owners AS MATERIALIZED (
  SELECT operator.id FROM operators AS operator
  WHERE operator.org_id = $1 AND operator.role = 'owner' AND operator.disabled_at IS NULL
    AND (operator.account_id IS NOT NULL OR EXISTS (
      SELECT 1 FROM operator_codes AS codes WHERE codes.org_id = operator.org_id AND codes.operator_id = operator.id))
  ORDER BY operator.id FOR UPDATE OF operator)`

/** SQL: operator `$2` is no owner, or there is another one. */
const LEAVES_AN_OWNER = "(role <> 'owner' OR EXISTS (SELECT 1 FROM owners WHERE owners.id <> $2))"

/** SQL: withdraws the open invitations of the operator in `changed`: a link must not give what its sender never had. */
const INVITATIONS_WITHDRAWN = `withdrawn AS (
  UPDATE invitations AS invitation SET withdrawn_at = $3 FROM changed
  WHERE invitation.org_id = changed.org_id AND invitation.operator_id = changed.id
    AND invitation.accepted_at IS NULL AND invitation.withdrawn_at IS NULL
  RETURNING invitation.id)`

/** SQL: withdraws the approvals of the live gate of the operator in `changed`, if a condition holds. */
const approvalsWithdrawn = (condition: string) => `approvals AS (
  UPDATE live_gate_approvals AS approval SET withdrawn_at = $3 FROM changed
  WHERE approval.org_id = changed.org_id AND approval.operator_id = changed.id AND approval.withdrawn_at IS NULL
    AND ${condition}
  RETURNING 1)`

/** What a change of role ended with it. */
export interface RoleUpdate {
  approvals_withdrawn: number
  /** Ids of the invitations whose links stopped working. */
  invitations_withdrawn: string[]
}

/**
 * Stores an operator with another role, and withdraws their open invitations and, if the new role may not approve the
 * live gate, their approvals. Undefined if the operator was changed meanwhile, or is the last owner.
 */
export async function updateRole(
  control: Queryable,
  { operator, was, mayApproveGate, now }: OperatorVersion & { mayApproveGate: boolean },
): Promise<RoleUpdate | undefined> {
  const [update] = await control.query<RoleUpdate & Record<string, unknown>>(
    `WITH ${OWNERS},
     changed AS (
       UPDATE operators SET role = $5, entry_id = $7, mac = $8
       WHERE org_id = $1 AND id = $2 AND entry_id = $4 AND disabled_at IS NULL AND ${LEAVES_AN_OWNER} RETURNING org_id, id),
     ${approvalsWithdrawn('NOT $6::boolean')},
     ${INVITATIONS_WITHDRAWN}
     SELECT (SELECT count(*) FROM approvals) AS approvals_withdrawn,
       ARRAY(SELECT id FROM withdrawn ORDER BY id) AS invitations_withdrawn
     FROM changed`,
    [operator.org_id, operator.id, now, was, operator.role, mayApproveGate, operator.entry_id, operator.mac],
  )
  return update
}

/**
 * Stores an operator as disabled, withdraws their approvals of the live gate and their open invitations, and ends the
 * sessions of their account: all at once, because a removed person must not act for another moment. Undefined if the
 * operator was changed meanwhile, or is the last owner.
 */
export async function disableOperator(
  control: Queryable,
  { operator, was, now }: OperatorVersion,
): Promise<Removal | undefined> {
  const [removal] = await control.query<Removal & Record<string, unknown>>(
    `WITH ${OWNERS},
     changed AS (
       UPDATE operators SET disabled_at = $3, entry_id = $5, mac = $6
       WHERE org_id = $1 AND id = $2 AND entry_id = $4 AND disabled_at IS NULL AND ${LEAVES_AN_OWNER}
       RETURNING org_id, id, account_id),
     ${approvalsWithdrawn('true')},
     ${INVITATIONS_WITHDRAWN},
     ended AS (DELETE FROM sessions USING changed WHERE sessions.account_id = changed.account_id RETURNING 1)
     SELECT (SELECT count(*) FROM approvals) AS approvals_withdrawn, (SELECT count(*) FROM ended) AS sessions_ended
     FROM changed`,
    [operator.org_id, operator.id, now, was, operator.entry_id, operator.mac],
  )
  return removal
}
