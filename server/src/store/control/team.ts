/** What the page Team shows of the operators of an organization. */
import type { AdminActor } from '../../core/audit/audit-entry.ts'
import type { Database, Row } from '../database/database.ts'
import type { ControlDatabase } from '../power/control-database.ts'
import { OPERATOR_COLUMNS, type Operator } from './operators.ts'
import { SESSION_IDLE_SECONDS } from './sessions.ts'

/** An operator with what is known of the account, the open invitation and the approval of the live gate. */
export type Teammate = Operator & {
  /** Whether an authenticator app or a passkey protects the account. */
  has_two_factor: boolean
  has_single_sign_on: boolean
  /** Whether the command line accepts one-time codes of this operator. */
  has_codes: boolean
  has_approved_gate: boolean
  sessions: number
  invitation_id: string | null
  /** In the past: the invitation has expired. */
  invited_until: string | null
}

/** Lists the operators of an organization, removed ones last. A team is small, so the page shows all of it. */
export function listTeam(
  control: ControlDatabase,
  { organizationId, now }: { organizationId: string; now: string },
): Promise<Teammate[]> {
  return control.genuine('operators', () => readTeam(control, organizationId, now))
}

function readTeam(control: Database, organizationId: string, now: string): Promise<(Teammate & Row)[]> {
  return control.query<Teammate & Row>(
    `SELECT ${OPERATOR_COLUMNS.map((column) => `operator.${column}`).join(', ')},
       EXISTS (SELECT 1 FROM account_codes AS codes WHERE codes.account_id = operator.account_id AND codes.confirmed_at IS NOT NULL)
         OR EXISTS (SELECT 1 FROM passkeys WHERE passkeys.account_id = operator.account_id) AS has_two_factor,
       EXISTS (SELECT 1 FROM account_identities AS identity WHERE identity.account_id = operator.account_id) AS has_single_sign_on,
       EXISTS (SELECT 1 FROM operator_codes AS codes WHERE codes.org_id = operator.org_id AND codes.operator_id = operator.id) AS has_codes,
       EXISTS (SELECT 1 FROM live_gate_approvals AS approval WHERE approval.org_id = operator.org_id
         AND approval.operator_id = operator.id AND approval.withdrawn_at IS NULL) AS has_approved_gate,
       (SELECT count(*) FROM sessions WHERE sessions.account_id = operator.account_id AND sessions.expires_at > $2::timestamptz
         AND sessions.last_used_at > $2::timestamptz - interval '${SESSION_IDLE_SECONDS} seconds') AS sessions,
       invitation.id AS invitation_id, invitation.expires_at AS invited_until
     FROM operators AS operator
     LEFT JOIN LATERAL (
       SELECT id, expires_at FROM invitations WHERE org_id = operator.org_id AND operator_id = operator.id
         AND accepted_at IS NULL AND withdrawn_at IS NULL ORDER BY id DESC LIMIT 1
     ) AS invitation ON operator.account_id IS NULL AND operator.disabled_at IS NULL
     WHERE operator.org_id = $1 ORDER BY operator.disabled_at IS NOT NULL, operator.id`,
    [organizationId, now],
  )
}

/** When operators last signed in, by the audit log of production; operators who never did are left out. */
export async function lastSignIns(
  production: Database,
  { organizationId, operatorIds }: { organizationId: string; operatorIds: readonly string[] },
): Promise<Map<string, string>> {
  const rows = await production.query<{ trail_id: string; occurred_at: string }>(
    `SELECT operator.id AS trail_id, newest.occurred_at FROM unnest($2::text[]) AS operator (id)
     JOIN LATERAL (
       SELECT occurred_at FROM audit_entries WHERE org_id = $1 AND trail_id = operator.id AND type = 'operator.signed_in'
       ORDER BY seq DESC LIMIT 1
     ) AS newest ON true`,
    [organizationId, operatorIds],
  )
  return new Map(rows.map(({ trail_id, occurred_at }) => [trail_id, occurred_at]))
}

/** How an operator came to an organization, by the audit log of production. */
export interface Introduction {
  /** Who added the operator or made the newest link for them; null for a first owner, and for single sign-on. */
  invited_by: AdminActor | null
  invited_at: string | null
  /** When an account was bound to the operator. */
  joined_at: string | null
}

/** How operators came to an organization: who invited each of them and when they joined. */
export async function readIntroductions(
  production: Database,
  { organizationId, operatorIds }: { organizationId: string; operatorIds: readonly string[] },
): Promise<Map<string, Introduction>> {
  const newest = (types: string) =>
    `LEFT JOIN LATERAL (SELECT actor_type, actor_id, occurred_at FROM audit_entries
       WHERE org_id = $1 AND trail_id = operator.id AND type IN (${types}) ORDER BY seq DESC LIMIT 1)`
  const rows = await production.query<{
    id: string
    actor_type: AdminActor['type'] | null
    actor_id: string
    invited_at: string | null
    joined_at: string | null
  }>(
    `SELECT operator.id, invited.actor_type, invited.actor_id, invited.occurred_at AS invited_at,
       joined.occurred_at AS joined_at
     FROM unnest($2::text[]) AS operator (id)
     ${newest("'operator.added', 'operator.invited'")} AS invited ON true
     ${newest("'operator.joined'")} AS joined ON true`,
    [organizationId, operatorIds],
  )
  return new Map(
    rows.map(({ id, actor_type, actor_id, invited_at, joined_at }) => [
      id,
      { invited_by: actor_type && { type: actor_type, id: actor_id }, invited_at, joined_at },
    ]),
  )
}
