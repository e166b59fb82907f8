import { type Database, DatabaseError, type Row } from '../database/database.ts'
import type { Account } from './accounts.ts'
import type { Role } from './operators.ts'

/** A link by which an operator gets an account, or binds the one they have. */
export interface Invitation {
  org_id: string
  id: string
  operator_id: string
  created_at: string
  expires_at: string
  accepted_at: string | null
  withdrawn_at: string | null
}

/** An invitation with the operator that it is for, and the name of the organization. */
export type InvitationWithOperator = Invitation & {
  organization_name: string
  email: string
  name: string
  role: Role
}

const COLUMNS = 'org_id, id, operator_id, created_at, expires_at, accepted_at, withdrawn_at'

/** SQL: invitations that can still be accepted at a time. */
const open = (now: string) => `accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > ${now}::timestamptz`

/**
 * Adds an invitation, and withdraws the earlier ones of the operator: only the newest link works. False if another one
 * was added at the same moment.
 */
export async function insertInvitation(
  control: Database,
  invitation: Omit<Invitation, 'accepted_at' | 'withdrawn_at'> & { token_hash: string },
): Promise<boolean> {
  const { org_id, id, operator_id, token_hash, created_at, expires_at } = invitation
  try {
    // The count makes PostgreSQL withdraw before it inserts: the index allows one open invitation of an operator.
    await control.query(
      `WITH earlier AS (
         UPDATE invitations SET withdrawn_at = $5
         WHERE org_id = $1 AND operator_id = $3 AND accepted_at IS NULL AND withdrawn_at IS NULL RETURNING 1)
       INSERT INTO invitations (org_id, id, operator_id, token_hash, created_at, expires_at)
       SELECT $1, $2, $3, $4, $5, $6 FROM (SELECT count(*) FROM earlier) AS withdrawn`,
      [org_id, id, operator_id, token_hash, created_at, expires_at],
    )
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation) return false
    throw error
  }
}

/** Finds the invitation of a link with its operator, whatever became of it; undefined if the operator was removed. */
export async function findInvitation(
  control: Database,
  tokenHash: string,
): Promise<InvitationWithOperator | undefined> {
  const columns = COLUMNS.split(', ').map((column) => `invitation.${column}`)
  const [invitation] = await control.query<InvitationWithOperator & Row>(
    `SELECT ${columns.join(', ')}, organization.name AS organization_name, operator.email, operator.name, operator.role
     FROM invitations AS invitation
     JOIN operators AS operator ON operator.org_id = invitation.org_id AND operator.id = invitation.operator_id
     JOIN organizations AS organization ON organization.id = invitation.org_id
     WHERE invitation.token_hash = $1 AND operator.disabled_at IS NULL`,
    [tokenHash],
  )
  return invitation
}

/** Withdraws the open invitations of an operator and returns their ids. */
export async function withdrawInvitations(
  control: Database,
  { organizationId, operatorId, now }: { organizationId: string; operatorId: string; now: string },
): Promise<string[]> {
  const withdrawn = await control.query<{ id: string }>(
    `UPDATE invitations SET withdrawn_at = $3 WHERE org_id = $1 AND operator_id = $2 AND ${open('$3')} RETURNING id`,
    [organizationId, operatorId, now],
  )
  return withdrawn.map(({ id }) => id)
}

/**
 * SQL: marks the open invitation of a link as accepted, if its operator has no account yet. The operator is locked, so
 * that of two acceptances at the same moment, by this link or by single sign-on, the second sees the account of the first.
 */
const accepted = (condition = 'true') => `free AS MATERIALIZED (
  SELECT operator.org_id, operator.id FROM invitations AS invitation
  JOIN operators AS operator ON operator.org_id = invitation.org_id AND operator.id = invitation.operator_id
  WHERE invitation.token_hash = $1 AND operator.account_id IS NULL AND operator.disabled_at IS NULL AND ${condition}
  FOR UPDATE OF operator),
accepted AS (
  UPDATE invitations AS invitation SET accepted_at = $2 FROM free
  WHERE invitation.token_hash = $1 AND ${open('$2')} AND free.org_id = invitation.org_id
    AND free.id = invitation.operator_id
  RETURNING invitation.org_id, invitation.operator_id)`

/**
 * Binds the operator of an invitation to the account of a session; false if the link no longer works, the session has
 * ended, or the account is another operator of the organization. Account and session are locked, because
 * `acceptWithRenewedAccount` may give the account to the reader of another link at the same moment.
 */
export async function acceptWithAccount(
  control: Database,
  { tokenHash, accountId, sessionId, now }: { tokenHash: string; accountId: string; sessionId: string; now: string },
): Promise<boolean> {
  try {
    const bound = await control.query(
      `WITH account AS MATERIALIZED (SELECT id FROM accounts WHERE id = $3 FOR UPDATE),
       session AS MATERIALIZED (
         SELECT sessions.id FROM account JOIN sessions ON sessions.account_id = account.id
         WHERE sessions.id = $4 FOR UPDATE OF sessions),
       ${accepted('EXISTS (SELECT 1 FROM session)')}
       UPDATE operators AS operator SET account_id = $3 FROM accepted
       WHERE operator.org_id = accepted.org_id AND operator.id = accepted.operator_id RETURNING 1`,
      [tokenHash, now, accountId, sessionId],
    )
    return bound.length === 1
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation) return false
    throw error
  }
}

/** Adds an account and binds the operator of an invitation to it, both or neither. */
export async function acceptWithNewAccount(
  control: Database,
  { tokenHash, account, now }: { tokenHash: string; account: Account; now: string },
): Promise<'accepted' | 'no_link' | 'email_taken'> {
  const { id, email, name, password_hash } = account
  try {
    const bound = await control.query(
      `WITH ${accepted()}, added AS (
         INSERT INTO accounts (id, email, name, password_hash, created_at)
         SELECT $3, $4, $5, $6, $2 FROM accepted RETURNING id)
       UPDATE operators AS operator SET account_id = added.id FROM accepted, added
       WHERE operator.org_id = accepted.org_id AND operator.id = accepted.operator_id RETURNING 1`,
      [tokenHash, now, id, email, name, password_hash],
    )
    return bound.length === 1 ? 'accepted' : 'no_link'
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation) return 'email_taken'
    throw error
  }
}

/**
 * Binds the operator of an invitation to an account that acts for no organization any more, with a new password: its
 * person may have forgotten the earlier one. Whatever else signed in as the account no longer does.
 */
export async function acceptWithRenewedAccount(
  control: Database,
  { tokenHash, account, now }: { tokenHash: string; account: Account; now: string },
): Promise<boolean> {
  const others = ['sessions', 'account_codes', 'recovery_codes', 'passkeys', 'account_identities', 'sign_in_challenges']
  const ended = others.map(
    (table) => `${table}_ended AS (DELETE FROM ${table} WHERE account_id IN (SELECT id FROM renewed))`,
  )
  return control.transaction(async (transaction) => {
    // Locked by a statement of its own: the next one then sees whether another link has taken the account up meanwhile.
    await transaction.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [account.id])
    const bound = await transaction.query(
      `WITH ${accepted('NOT EXISTS (SELECT 1 FROM operators WHERE account_id = $3 AND disabled_at IS NULL)')},
       renewed AS (
         UPDATE accounts SET name = $4, password_hash = $5 WHERE id = $3 AND EXISTS (SELECT 1 FROM accepted) RETURNING id),
       ${ended.join(', ')}
       UPDATE operators AS operator SET account_id = renewed.id FROM accepted, renewed
       WHERE operator.org_id = accepted.org_id AND operator.id = accepted.operator_id RETURNING 1`,
      [tokenHash, now, account.id, account.name, account.password_hash],
    )
    return bound.length === 1
  })
}
