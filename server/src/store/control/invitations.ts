import type { Queryable, Row } from '../database/database.ts'
import type { ControlDatabase } from '../power/control-database.ts'
import { insertRow } from '../power/insert-row.ts'
import type { Seal } from '../power/row-mac.ts'
import { Undone } from '../power/undone.ts'
import { type Account, insertAccount, type NewAccount } from './accounts.ts'
import { JOINED_OPERATOR_COLUMNS, type Operator, operatorIn, updateOperator } from './operators.ts'

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
export type InvitationWithOperator = Invitation & { organization_name: string; operator: Operator }

/** An invitation to add. */
export type NewInvitation = Omit<Invitation, 'accepted_at' | 'withdrawn_at'> & { token_hash: string }

const COLUMNS =
  'org_id, id, operator_id, token_hash, created_at, expires_at, accepted_at, withdrawn_at, entry_id, mac'.split(', ')

/** SQL: invitations that can still be accepted at a time. */
const open = (now: string) => `accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > ${now}::timestamptz`

/** Adds an invitation, and withdraws the earlier ones of the operator: only the newest link works. */
export async function insertInvitation(control: Queryable, invitation: NewInvitation & Seal): Promise<void> {
  const { org_id, operator_id, created_at } = invitation
  await control.query(
    `UPDATE invitations SET withdrawn_at = $3
     WHERE org_id = $1 AND operator_id = $2 AND accepted_at IS NULL AND withdrawn_at IS NULL`,
    [org_id, operator_id, created_at],
  )
  await insertRow(control, 'invitations', invitation)
}

/** Finds the invitation of a link with its operator, whatever became of it; undefined if the operator was removed. */
export async function findInvitation(
  control: ControlDatabase,
  tokenHash: string,
): Promise<InvitationWithOperator | undefined> {
  const columns = COLUMNS.map((column) => `invitation.${column}`)
  const [row] = await control.genuineParts(
    () =>
      control.query<Invitation & Row & { organization_name: string }>(
        `SELECT ${columns.join(', ')}, ${JOINED_OPERATOR_COLUMNS}, organization.name AS organization_name
         FROM invitations AS invitation
         JOIN operators AS operator ON operator.org_id = invitation.org_id AND operator.id = invitation.operator_id
         JOIN organizations AS organization ON organization.id = invitation.org_id
         WHERE invitation.token_hash = $1 AND operator.disabled_at IS NULL
           AND invitation.accepted_at IS NULL AND invitation.withdrawn_at IS NULL`,
        [tokenHash],
      ),
    (invitation) => [
      { table: 'invitations', row: invitation },
      { table: 'operators', row: operatorIn(invitation) },
    ],
  )
  if (!row) return undefined
  const { org_id, id, operator_id, created_at, expires_at, accepted_at, withdrawn_at, organization_name } = row
  const { mac: _mac, ...operator } = operatorIn(row) as unknown as Operator & Seal
  return {
    org_id,
    id,
    operator_id,
    created_at,
    expires_at,
    accepted_at,
    withdrawn_at,
    organization_name,
    operator,
  }
}

/** Withdraws the open invitation of an operator and returns its id, in a list of one at most. */
export async function withdrawInvitations(
  control: Queryable,
  { organizationId, operatorId, now }: { organizationId: string; operatorId: string; now: string },
): Promise<string[]> {
  const withdrawn = await control.query<{ id: string }>(
    `UPDATE invitations SET withdrawn_at = $3 WHERE org_id = $1 AND operator_id = $2 AND ${open('$3')} RETURNING id`,
    [organizationId, operatorId, now],
  )
  return withdrawn.map(({ id }) => id)
}

/** An invitation that is accepted: the operator bound to the account, and the entry of the version before. */
export interface Acceptance {
  tokenHash: string
  operator: Operator & Seal
  was: string
  now: string
}

/**
 * Marks the open invitation of a link as accepted, and binds its operator to an account; false if the link no longer works
 * or the operator was changed meanwhile, by another link or by single sign-on. Throws `Undone` if only one of them did.
 */
async function accept(control: Queryable, { tokenHash, operator, was, now }: Acceptance): Promise<boolean> {
  if (!(await updateOperator(control, operator, { was }))) return false
  const accepted = await control.query(
    `UPDATE invitations SET accepted_at = $2 WHERE token_hash = $1 AND ${open('$2')} RETURNING 1`,
    [tokenHash, now],
  )
  if (accepted.length === 0) throw new Undone()
  return true
}

/**
 * Binds the operator of an invitation to the account of a session; false if the link no longer works, or the session has
 * ended. Account and session are locked, because `acceptWithRenewedAccount` may give the account to the reader of another
 * link at the same moment.
 */
export async function acceptWithAccount(
  control: Queryable,
  { sessionId, ...acceptance }: Acceptance & { sessionId: string },
): Promise<boolean> {
  const accountId = acceptance.operator.account_id
  await control.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [accountId])
  const session = await control.query('SELECT 1 FROM sessions WHERE id = $1 AND account_id = $2 FOR UPDATE', [
    sessionId,
    accountId,
  ])
  return session.length === 1 && accept(control, acceptance)
}

/** Adds an account and binds the operator of an invitation to it; throws a unique violation if the e-mail is taken. */
export async function acceptWithNewAccount(
  control: Queryable,
  { account, ...acceptance }: Acceptance & { account: NewAccount & Seal },
): Promise<'accepted' | 'no_link' | 'email_taken'> {
  if (!(await insertAccount(control, account))) return 'email_taken'
  if (!(await accept(control, acceptance))) throw new Undone()
  return 'accepted'
}

/** The tables of what signs in as an account. */
const SIGN_INS = 'account_codes, recovery_codes, sign_in_challenges, sessions, passkeys, account_identities'.split(', ')

/**
 * Binds the operator of an invitation to an account that acts for no organization any more, with a new password: its
 * person may have forgotten the earlier one. Whatever else signed in as the account no longer does.
 */
export async function acceptWithRenewedAccount(
  control: Queryable,
  { account, accountWas, ...acceptance }: Acceptance & { account: Account & Seal; accountWas: string },
): Promise<boolean> {
  const { id, name, password_hash, entry_id, mac } = account
  // Locked by a statement of its own: the next one then sees whether another link has taken the account up meanwhile.
  await control.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [id])
  const renewed = await control.query(
    `UPDATE accounts SET name = $2, password_hash = $3, two_factor_since = NULL, entry_id = $4, mac = $5
     WHERE id = $1 AND entry_id = $6
       AND NOT EXISTS (SELECT 1 FROM operators WHERE account_id = $1 AND disabled_at IS NULL) RETURNING 1`,
    [id, name, password_hash, entry_id, mac, accountWas],
  )
  if (renewed.length === 0) return false
  if (!(await accept(control, acceptance))) throw new Undone()
  for (const table of SIGN_INS) await control.query(`DELETE FROM ${table} WHERE account_id = $1`, [id])
  return true
}
