import type { Environment } from '../config.ts'
import type { AuditData, AuditEntryType } from '../core/audit/audit-data.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import { generateApiKey, hashApiKey } from '../security/api-key.ts'
import { apiKeyState } from '../security/api-key-state.ts'
import type { Scope } from '../security/scopes.ts'
import type { Installation } from '../service/installation.ts'
import type { ApiKey } from '../store/queries/api-keys.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { KeyChange } from '../store/write-path/change.ts'
import { type AuditEntryRow, auditEntryRow } from '../store/write-path/record.ts'
import { apiKeySha256 } from '../store/write-path/record-hash.ts'
import { recordContext } from './record-context.ts'

const HOUR_MS = 3_600_000

/** How long a rotated key goes on working beside its successor. */
export const GRACE_MS = { now: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const

/** The name of a grace period. */
export type Grace = keyof typeof GRACE_MS

/** A key to create: its scopes, its expiry, and who creates it. */
export interface NewKey {
  environment: Environment
  organizationId: string
  name: string
  scopes: readonly Scope[]
  expiresAt: string | null
  actor: AdminActor
  reason?: string | undefined
}

/** An act on a stored key: by whom, and why. */
export interface KeyAct {
  key: ApiKey
  actor: AdminActor
  reason?: string | undefined
}

/** A new key with its text, which cannot be shown again. */
export interface CreatedKey {
  id: string
  key: string
  expires_at: string | null
}

/** Creates a key and returns its text. Only its hash is stored, so the text cannot be shown again. */
export async function createKey(installation: Installation, wanted: NewKey): Promise<CreatedKey> {
  const { created, row, entry } = newKey(installation, wanted)
  await installation.stores[wanted.environment].commit({
    organizationId: wanted.organizationId,
    rows: { api_keys: [row] },
    auditEntries: [entry],
  })
  return created
}

/**
 * Makes a new key with the name, the scopes and the lifetime of a key, which goes on working for a grace period. One
 * write does both, so that no crash leaves a key without its successor.
 */
export async function rotateKey(
  installation: Installation,
  environment: Environment,
  { key, actor, reason, grace }: KeyAct & { grace: Grace },
): Promise<(CreatedKey & { retires_at: string }) | { problem: string }> {
  const { stores, nowMs } = installation
  const state = apiKeyState(key, nowMs())
  if (state === 'revoked') return { problem: `${key.id} is revoked: create a new key instead` }
  if (key.retires_at !== null) return { problem: `${key.id} was rotated already and ends at ${key.retires_at}` }
  const { org_id: organizationId, id: keyId, name } = key
  const lifetimeMs = key.expires_at === null ? null : Date.parse(key.expires_at) - Date.parse(key.created_at)
  const next = newKey(installation, {
    ...{ environment, organizationId, name, actor, reason, replaces: keyId },
    scopes: key.scopes.split(' ') as Scope[],
    expiresAt: lifetimeMs === null ? null : new Date(nowMs() + lifetimeMs).toISOString(),
  })
  const retires_at = new Date(nowMs() + GRACE_MS[grace]).toISOString()
  const data = { name, replaced_by: next.row.id, retires_at, ...(reason && { reason }) }
  const { lost } = await stores[environment].commit({
    organizationId,
    rows: { api_keys: [next.row] },
    changedKeys: [{ id: keyId, column: 'retires_at', at: retires_at }],
    auditEntries: [
      next.entry,
      keyEntry(installation, { organizationId, keyId }, { type: 'api_key.rotated', actor, data }),
    ],
  })
  if (lost) return { problem: `another operator changed ${keyId} at the same moment: check its state and try again` }
  return { ...next.created, retires_at }
}

/** Stops a key from working until it is enabled again, on every node within a second; false if it has ended or is disabled. */
export function disableKey(installation: Installation, environment: Environment, act: KeyAct): Promise<boolean> {
  const at = new Date(installation.nowMs()).toISOString()
  return changeKey(installation, environment, { ...act, type: 'api_key.disabled', column: 'disabled_at', at })
}

/** Lets a disabled key work again; false if it is not disabled, or revoked. */
export function enableKey(installation: Installation, environment: Environment, act: KeyAct): Promise<boolean> {
  return changeKey(installation, environment, { ...act, type: 'api_key.enabled', column: 'disabled_at', at: null })
}

/** Revokes a key for good, on every node within a second; false if it was already revoked. */
export function revokeKey(installation: Installation, environment: Environment, act: KeyAct): Promise<boolean> {
  const at = new Date(installation.nowMs()).toISOString()
  return changeKey(installation, environment, { ...act, type: 'api_key.revoked', column: 'revoked_at', at })
}

type SwitchEntryType = 'api_key.disabled' | 'api_key.enabled' | 'api_key.revoked'

async function changeKey(
  installation: Installation,
  environment: Environment,
  { key, actor, reason, type, column, at }: KeyAct & { type: SwitchEntryType } & Omit<KeyChange, 'id'>,
): Promise<boolean> {
  const { org_id: organizationId, id: keyId, name } = key
  const data = { name, ...(reason && { reason }) }
  const { lost } = await installation.stores[environment].commit({
    organizationId,
    changedKeys: [{ id: keyId, column, at }],
    auditEntries: [keyEntry(installation, { organizationId, keyId }, { type, actor, data })],
  })
  return lost === undefined
}

function newKey(
  installation: Installation,
  { environment, organizationId, name, scopes, expiresAt, actor, reason, replaces }: NewKey & { replaces?: string },
): { created: CreatedKey; row: NewRow<'api_keys'>; entry: AuditEntryRow } {
  const { newId, nowMs } = installation
  const key = generateApiKey(environment)
  const row: NewRow<'api_keys'> = {
    id: newId('key'),
    name,
    key_hash: hashApiKey(key),
    last_four: key.slice(-4),
    scopes: scopes.join(' '),
    created_at: new Date(nowMs()).toISOString(),
    expires_at: expiresAt,
    replaces: replaces ?? null,
    retires_at: null,
    disabled_at: null,
    revoked_at: null,
    last_used_at: null,
  }
  const record_sha256 = apiKeySha256(organizationId, row)
  const cause = { ...(replaces && { replaces }), ...(reason && { reason }) }
  const data = { name, scopes, expires_at: expiresAt, ...cause, record_sha256 }
  const entry = keyEntry(installation, { organizationId, keyId: row.id }, { type: 'api_key.created', actor, data })
  return { created: { id: row.id, key, expires_at: expiresAt }, row, entry }
}

function keyEntry<T extends Extract<AuditEntryType, `api_key.${string}`>>(
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
