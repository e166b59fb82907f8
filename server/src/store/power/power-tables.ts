import { hash } from 'node:crypto'
import type { AuditEntryType } from '../../core/audit/audit-data.ts'
import type { Row } from '../database/database.ts'

/** The log of what belongs to no organization, such as accounts and their sessions. It is one of production's logs. */
export const INSTALLATION_LOG = 'installation'

/** How the rows of a table are authenticated. */
interface PowerDefinition {
  /** The columns that the MAC covers, besides `entry_id`; the others change without an entry. */
  columns: readonly string[]
  /** The log of a row's entries; `environment` is the log of its organization in the row's own database. */
  log: 'organization' | 'installation' | 'environment'
  /** The subject of a row's entries. All entries of a subject that are listed here are on one trail. */
  subjectOf: (row: Row) => string
  /** The types of entries that make a row so, or end it: a row counts only while the newest of them is its own. */
  entryTypes: readonly AuditEntryType[]
  /** The types of entries about an account that end all its rows at once: a row counts only if it was made after them. */
  endedByAccount?: readonly AuditEntryType[]
  /** Set if rows are kept after the entry that ends them, as a record of what was. */
  isKept?: true
}

const ROLE_GIVEN = ['operator.added', 'operator.invited', 'operator.joined', 'operator.role_changed'] as const

/**
 * The tables whose rows grant power. Each row has the id of the audit entry that made it so (`entry_id`) and a MAC under
 * a key derived from the master key (`mac`). A row is used only if its MAC is valid and its entry is the newest of its
 * subject; otherwise it is refused as if it did not exist, so that neither a forged row nor an earlier version that was
 * put back has an effect. A row that ends with all others of its account has the id of the newest entry that ended them
 * when it was made (`after_entry_id`), so that a row which was out of sight at their end does not count either. The active policy is authenticated by its trail alone (`queries/policies.ts`).
 */
export const POWER_TABLES = {
  api_keys: {
    columns: [
      ...['org_id', 'id', 'name', 'key_hash', 'last_four', 'scopes', 'created_at', 'expires_at', 'replaces'],
      ...['retires_at', 'disabled_at', 'revoked_at'],
    ],
    log: 'environment',
    subjectOf: ({ id }) => String(id),
    entryTypes: ['api_key.created', 'api_key.rotated', 'api_key.disabled', 'api_key.enabled', 'api_key.revoked'],
  },
  operators: {
    columns: ['org_id', 'id', 'email', 'name', 'role', 'created_at', 'disabled_at', 'account_id'],
    log: 'organization',
    subjectOf: ({ id }) => String(id),
    entryTypes: [...ROLE_GIVEN, 'operator.removed'],
  },
  operator_codes: {
    columns: ['org_id', 'operator_id', 'secret', 'enrolled_at'],
    log: 'organization',
    subjectOf: ({ operator_id }) => String(operator_id),
    entryTypes: ['operator.added', 'operator.code_reset'],
  },
  /** One link of an operator works at a time, and none after a change of the operator. */
  invitations: {
    columns: ['org_id', 'id', 'operator_id', 'token_hash', 'created_at', 'expires_at'],
    log: 'organization',
    subjectOf: ({ operator_id }) => String(operator_id),
    entryTypes: [...ROLE_GIVEN, 'operator.invitation_withdrawn', 'operator.removed'],
    isKept: true,
  },
  live_gate_approvals: {
    columns: ['org_id', 'operator_id', 'reason', 'approved_at'],
    log: 'organization',
    subjectOf: ({ operator_id }) => String(operator_id),
    entryTypes: ['live_gate.approved', 'live_gate.approval_withdrawn'],
    isKept: true,
  },
  first_link: {
    columns: ['token_hash', 'expires_at'],
    log: 'installation',
    subjectOf: () => 'first_link',
    entryTypes: ['first_link.made', 'first_link.used'],
    isKept: true,
  },
  accounts: {
    columns: ['id', 'email', 'password_hash', 'two_factor_since', 'created_at'],
    log: 'installation',
    subjectOf: ({ id }) => String(id),
    entryTypes: [
      ...(['account.created', 'account.renewed', 'account.password_changed'] as const),
      ...(['account.two_factor_enabled', 'account.two_factor_disabled'] as const),
    ],
  },
  account_codes: {
    columns: ['account_id', 'secret', 'confirmed_at'],
    log: 'installation',
    subjectOf: ({ account_id }) => String(account_id),
    entryTypes: ['account.renewed', 'account.two_factor_enabled', 'account.two_factor_disabled'],
  },
  recovery_codes: {
    columns: ['account_id', 'code_hash'],
    log: 'installation',
    subjectOf: ({ account_id }) => String(account_id),
    entryTypes: [
      ...(['account.renewed', 'account.two_factor_enabled', 'account.two_factor_disabled'] as const),
      ...(['account.recovery_codes_replaced', 'account.recovery_code_used'] as const),
    ],
  },
  passkeys: {
    columns: ['id', 'account_id', 'credential_id', 'public_key', 'transports', 'created_at', 'after_entry_id'],
    log: 'installation',
    subjectOf: ({ id }) => String(id),
    entryTypes: ['account.passkey_added', 'account.passkey_removed'],
    endedByAccount: ['account.renewed'],
  },
  account_identities: {
    columns: ['issuer', 'subject', 'account_id', 'created_at', 'after_entry_id'],
    log: 'installation',
    subjectOf: ({ issuer, subject }) => identityId(String(issuer), String(subject)),
    entryTypes: ['account.identity_connected'],
    endedByAccount: ['account.renewed', 'account.identities_disconnected'],
  },
  sessions: {
    columns: [
      ...['token_hash', 'id', 'account_id', 'method', 'address', 'user_agent', 'created_at', 'expires_at'],
      'after_entry_id',
    ],
    log: 'installation',
    subjectOf: ({ id }) => String(id),
    entryTypes: ['account.session_started', 'account.session_ended'],
    endedByAccount: ['account.renewed', 'account.password_changed', 'account.sessions_ended'],
  },
} as const satisfies Record<string, PowerDefinition>

/** The name of a table whose rows grant power. */
export type PowerTable = keyof typeof POWER_TABLES

/**
 * The tables whose rows a person can let count again after one of the databases was set back (`access.restored`). Links,
 * approvals and sessions are not among them: they are given again.
 */
export const RESTORABLE_TABLES = [
  ...(['operators', 'operator_codes', 'accounts', 'account_codes'] as const),
  ...(['recovery_codes', 'passkeys', 'account_identities'] as const),
]

/** How a table's rows are authenticated. */
export function powerDefinition(table: PowerTable): PowerDefinition {
  const definition: PowerDefinition = POWER_TABLES[table]
  if (!(RESTORABLE_TABLES as readonly string[]).includes(table)) return definition
  return { ...definition, entryTypes: [...definition.entryTypes, 'access.restored'] }
}

/** How entries name the person at an identity provider, whose subject may be personal data. */
export function identityId(issuer: string, subject: string): string {
  return `identity_${hash('sha256', JSON.stringify([issuer, subject]))}`
}
