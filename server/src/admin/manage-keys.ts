import type { Environment } from '../config.ts'
import type { AuditData } from '../core/audit/audit-data.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import { generateApiKey, hashApiKey } from '../security/api-key.ts'
import type { Scope } from '../security/scopes.ts'
import type { Installation } from '../service/installation.ts'
import type { ApiKey } from '../store/queries/api-keys.ts'
import type { NewRow } from '../store/schema/tables.ts'
import { type AuditEntryRow, auditEntryRow } from '../store/write-path/record.ts'
import { apiKeySha256 } from '../store/write-path/record-hash.ts'
import { recordContext } from './record-context.ts'

/** A key to create: its scopes, its expiry, and who creates it. */
export interface NewKey {
  environment: Environment
  organizationId: string
  name: string
  scopes: readonly Scope[]
  expiresAt: string | null
  actor: AdminActor
}

/** Creates a key and returns its text. Only its hash is stored, so the text cannot be shown again. */
export async function createKey(
  installation: Installation,
  { environment, organizationId, name, scopes, expiresAt, actor }: NewKey,
): Promise<{ id: string; key: string }> {
  const { stores, newId, nowMs } = installation
  const now = new Date(nowMs()).toISOString()
  const key = generateApiKey(environment)
  const row: NewRow<'api_keys'> = {
    id: newId('key'),
    name,
    key_hash: hashApiKey(key),
    last_four: key.slice(-4),
    scopes: scopes.join(' '),
    created_at: now,
    expires_at: expiresAt,
    revoked_at: null,
    last_used_at: null,
  }
  const record_sha256 = apiKeySha256(organizationId, row)
  const data = { name, scopes, expires_at: expiresAt, record_sha256 }
  await stores[environment].commit({
    organizationId,
    rows: { api_keys: [row] },
    auditEntries: [keyEntry(installation, { organizationId, keyId: row.id }, { type: 'api_key.created', actor, data })],
  })
  return { id: row.id, key }
}

/** Revokes a key for good, on every node within a second; false if it was already revoked. */
export async function revokeKey(
  installation: Installation,
  environment: Environment,
  { key, actor }: { key: ApiKey; actor: AdminActor },
): Promise<boolean> {
  const { stores, nowMs } = installation
  const { org_id: organizationId, id: keyId } = key
  const { lost } = await stores[environment].commit({
    organizationId,
    revokedKeys: [{ id: keyId, revoked_at: new Date(nowMs()).toISOString() }],
    auditEntries: [
      keyEntry(installation, { organizationId, keyId }, { type: 'api_key.revoked', actor, data: { name: key.name } }),
    ],
  })
  return lost === undefined
}

function keyEntry<T extends 'api_key.created' | 'api_key.revoked'>(
  installation: Installation,
  { organizationId, keyId }: { organizationId: string; keyId: string },
  { type, actor, data }: { type: T; actor: AdminActor; data: AuditData<T> },
): AuditEntryRow {
  return auditEntryRow(recordContext(installation, { organizationId, actor }), {
    type,
    trailId: keyId,
    subject: { type: 'api_key', id: keyId },
    data,
  })
}
