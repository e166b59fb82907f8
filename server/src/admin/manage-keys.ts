import type { KeyObject } from 'node:crypto'
import type { AuditData, AuditEntryType } from '../core/audit/audit-data.ts'
import type { Installation } from '../installation/installation.ts'
import { generateApiKey, hashApiKey } from '../security/api-key.ts'
import { apiKeyState } from '../security/api-key-state.ts'
import type { Scope } from '../security/scopes.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { ApiKey } from '../store/environment/api-keys.ts'
import { sealRow } from '../store/power/row-mac.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { KeyChange } from '../store/write-path/change.ts'
import { commitOrThrow, commitUnlessForestalled } from '../store/write-path/commit-or-throw.ts'
import { type AuditEntryRow, auditEntryRow } from '../store/write-path/record.ts'
import { apiKeySha256 } from '../store/write-path/record-hash.ts'
import { contextOf, type EnvironmentAct, permitted, reasonOf } from './act.ts'
import { requireScopes } from './permissions.ts'
import { changedMeanwhile, conflict, notFound, type Problem } from './problem.ts'

const HOUR_MS = 3_600_000
const CHANGE_TRIES_MAX = 5

/** How long a rotated key goes on working beside its successor. */
export const GRACE_MS = { now: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const

/** The name of a grace period. */
export type Grace = keyof typeof GRACE_MS

/** A key to create: what it is for, what it may do, and until when. */
export interface NewKey {
  name: string
  scopes: readonly Scope[]
  expiresAt: string | null
}

/** A new key with its text, which cannot be shown again. */
export interface CreatedKey {
  id: string
  key: string
  expires_at: string | null
}

/** Creates a key and returns its text. Only its hash is stored, so the text cannot be shown again. */
export const createKey = permitted(
  'manage API keys',
  async (installation, act: EnvironmentAct, wanted: NewKey): Promise<CreatedKey> => {
    requireScopesOf(act, wanted.scopes)
    const { created, row, entry } = newKey(installation, act, wanted)
    await commitOrThrow(installation.stores[act.environment], {
      organizationId: act.organizationId,
      rows: { api_keys: [row] },
      auditEntries: [entry],
    })
    return created
  },
)

/**
 * Makes a new key with the name, the scopes and the lifetime of a key, which goes on working for a grace period. One
 * write does both, so that no crash leaves a key without its successor.
 */
export const rotateKey = permitted(
  'manage API keys',
  async (
    installation,
    act: EnvironmentAct,
    { id, grace }: { id: string; grace: Grace },
  ): Promise<CreatedKey & { retires_at: string; replaced: ApiKey }> => {
    const { stores, nowMs, masterKey } = installation
    const { environment, organizationId } = act
    const key = await findKey(installation, act, id)
    const scopes = scopesOf(key)
    // The successor's text is shown to the operator, who would hold the scopes of another role with it.
    requireScopesOf(act, scopes)
    if (apiKeyState(key, nowMs()) === 'revoked') throw conflict('key_revoked', `${id} is revoked.`)
    if (key.retires_at !== null)
      throw conflict('key_rotated', `${id} was rotated already and ends at ${key.retires_at}.`)
    const { name } = key
    const lifetimeMs = key.expires_at === null ? null : Date.parse(key.expires_at) - Date.parse(key.created_at)
    const next = newKey(installation, act, {
      name,
      scopes,
      expiresAt: lifetimeMs === null ? null : new Date(nowMs() + lifetimeMs).toISOString(),
      replaces: id,
    })
    const retires_at = new Date(nowMs() + GRACE_MS[grace]).toISOString()
    const data = { name, replaced_by: next.row.id, retires_at, ...reasonOf(act) }
    const entry = keyEntry(installation, act, { keyId: id, type: 'api_key.rotated', data })
    const isRotated = await commitUnlessForestalled(stores[environment], {
      organizationId,
      rows: { api_keys: [next.row] },
      changedKeys: [nextVersion(masterKey.rowMacKey(environment), key, { change: { retires_at }, entry })],
      auditEntries: [next.entry, entry],
    })
    if (!isRotated) throw changedMeanwhile(id)
    return { ...next.created, retires_at, replaced: key }
  },
)

/** Stops a key from working until it is enabled again, on every node within a second. */
export const disableKey = permitted(
  'manage API keys',
  async (installation, act: EnvironmentAct, id: string): Promise<{ id: string }> => {
    const disabled_at = new Date(installation.nowMs()).toISOString()
    return switchKey(installation, act, {
      id,
      type: 'api_key.disabled',
      change: { disabled_at },
      refusal: () => conflict('key_ended', `${id} is disabled or revoked already.`),
    })
  },
)

/** Lets a disabled key work again. */
export const enableKey = permitted(
  'manage API keys',
  async (installation, act: EnvironmentAct, id: string): Promise<{ id: string }> => {
    requireScopesOf(act, scopesOf(await findKey(installation, act, id)))
    return switchKey(installation, act, {
      id,
      type: 'api_key.enabled',
      change: { disabled_at: null },
      refusal: () => conflict('key_not_disabled', `${id} is not disabled, or it is revoked.`),
    })
  },
)

/** Revokes a key for good, on every node within a second. */
export const revokeKey = permitted(
  'manage API keys',
  async (installation, act: EnvironmentAct, id: string): Promise<{ id: string }> => {
    const revoked_at = new Date(installation.nowMs()).toISOString()
    return switchKey(installation, act, {
      id,
      type: 'api_key.revoked',
      change: { revoked_at },
      refusal: () => conflict('key_ended', `${id} is revoked already.`),
    })
  },
)

type KeySwitch = { disabled_at: string | null } | { revoked_at: string }

/** A change that loses to another one is tried again on the newer version: a revocation must not be lost. */
async function switchKey(
  installation: Installation,
  act: EnvironmentAct,
  {
    id,
    type,
    change,
    refusal,
  }: {
    id: string
    type: 'api_key.disabled' | 'api_key.enabled' | 'api_key.revoked'
    change: KeySwitch
    /** Why a key that is in another state is not changed. */
    refusal: () => Problem
  },
): Promise<{ id: string }> {
  const { environment, organizationId } = act
  const store = installation.stores[environment]
  for (let tries = 1; ; tries++) {
    const key = await findKey(installation, act, id)
    const mayChange =
      key.revoked_at === null &&
      ('revoked_at' in change || (key.disabled_at === null) === (change.disabled_at !== null))
    if (!mayChange) throw refusal()
    const entry = keyEntry(installation, act, { keyId: id, type, data: { name: key.name, ...reasonOf(act) } })
    const next = nextVersion(installation.masterKey.rowMacKey(environment), key, { change, entry })
    const { lost } = await store.commit({ organizationId, changedKeys: [next], auditEntries: [entry] })
    if (lost === undefined) return { id }
    if (tries === CHANGE_TRIES_MAX) throw new DatabaseUnavailable(`nothing was recorded (${lost}): try again`)
  }
}

async function findKey({ stores }: Installation, act: EnvironmentAct, id: string): Promise<ApiKey> {
  const key = await stores[act.environment].apiKeys.ofOrganization(act.organizationId, id)
  if (!key) throw notFound('key_not_found', `There is no key ${id} in ${act.environment}.`)
  return key
}

/** The version of a key that an entry makes, and the entry of the version that it replaces. */
function nextVersion(
  rowKey: KeyObject,
  key: ApiKey,
  { change, entry }: { change: KeySwitch | { retires_at: string }; entry: AuditEntryRow },
): KeyChange {
  const { id, retires_at, disabled_at, revoked_at, entry_id, mac } = sealRow(rowKey, 'api_keys', {
    row: { ...key, ...change },
    entryId: entry.id,
  })
  return { id, retires_at, disabled_at, revoked_at, entry_id, mac, was: key.entry_id }
}

function newKey(
  installation: Installation,
  act: EnvironmentAct,
  { name, scopes, expiresAt, replaces }: NewKey & { replaces?: string },
): { created: CreatedKey; row: NewRow<'api_keys'>; entry: AuditEntryRow } {
  const { newId, nowMs, masterKey } = installation
  const { environment, organizationId } = act
  const key = generateApiKey(environment)
  const row = {
    id: newId('key'),
    name,
    key_hash: hashApiKey(masterKey.apiKeyHashKey(environment), key),
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
  const cause = { ...(replaces && { replaces }), ...reasonOf(act) }
  const data = { name, scopes, expires_at: expiresAt, ...cause, record_sha256 }
  const entry = keyEntry(installation, act, { keyId: row.id, type: 'api_key.created', data })
  const { org_id: _organization, ...sealed } = sealRow(masterKey.rowMacKey(environment), 'api_keys', {
    row: { ...row, org_id: organizationId },
    entryId: entry.id,
  })
  return { created: { id: row.id, key, expires_at: expiresAt }, row: sealed, entry }
}

function keyEntry<T extends Extract<AuditEntryType, `api_key.${string}`>>(
  installation: Installation,
  act: EnvironmentAct,
  { keyId, type, data }: { keyId: string; type: T; data: AuditData<T> },
): AuditEntryRow {
  return auditEntryRow(contextOf(installation, act), {
    type,
    trailId: keyId,
    subject: { type: 'api_key', id: keyId },
    data,
  })
}

/** The scopes of a stored key. */
export function scopesOf({ scopes }: Pick<ApiKey, 'scopes'>): Scope[] {
  return scopes.split(' ') as Scope[]
}

/** An operator gives no scope that the role does not have. */
function requireScopesOf({ by }: EnvironmentAct, scopes: readonly Scope[]): void {
  if (by.type === 'operator') requireScopes(by.operator, scopes)
}
