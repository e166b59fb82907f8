import { canonicalSha256 } from '../../core/canonical-json.ts'
import type { NewRow } from '../schema/tables.ts'

/** The tables whose rows an audit entry hashes as a whole: every column, so that no part of a record can be edited. */
export type HashedTable =
  | 'case_notes'
  | 'case_signatures'
  | 'consents'
  | 'entity_merges'
  | 'entity_steps'
  | 'feature_snapshots'
  | 'identity_links'
  | 'outcome_retractions'
  | 'outcomes'
  | 'policies'
  | 'policy_backtests'
  | 'policy_comments'
  | 'policy_steps'
  | 'reviews'
  | 'transaction_corrections'

/** The hash of a whole stored record: SHA-256 of its columns, with `org_id`, as canonical JSON. */
export function recordSha256<T extends HashedTable>(organizationId: string, record: NewRow<T>): string {
  return canonicalSha256({ ...record, org_id: organizationId })
}

/** The columns of an API key that never change. The audit log has an entry for each change of the others but `last_used_at`. */
export type FixedKeyColumns = Omit<
  NewRow<'api_keys'>,
  'retires_at' | 'disabled_at' | 'revoked_at' | 'last_used_at' | 'entry_id' | 'mac'
>

/** The hash of an API key's record without the columns that change. */
export function apiKeySha256(organizationId: string, key: FixedKeyColumns): string {
  const { id, name, key_hash, last_four, scopes, created_at, expires_at, replaces } = key
  const org_id = organizationId
  return canonicalSha256({ created_at, expires_at, id, key_hash, last_four, name, org_id, replaces, scopes })
}
