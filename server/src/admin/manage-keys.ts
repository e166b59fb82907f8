import type { KeyObject } from 'node:crypto'
import type { Environment } from '../config.ts'
import type { AuditData, AuditEntryType } from '../core/audit/audit-data.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../installation/installation.ts'
import { generateApiKey, hashApiKey } from '../security/api-key.ts'
import { apiKeyState } from '../security/api-key-state.ts'
import type { Scope } from '../security/scopes.ts'
import type { Operator } from '../store/control/operators.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { ApiKey } from '../store/environment/api-keys.ts'
import { sealRow } from '../store/power/row-mac.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { KeyChange } from '../store/write-path/change.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { type AuditEntryRow, auditEntryRow } from '../store/write-path/record.ts'
import { apiKeySha256 } from '../store/write-path/record-hash.ts'
import { scopeRefusal } from './operator-act.ts'
import { recordContext } from './record-context.ts'

const HOUR_MS = 3_600_000
const CHANGE_TRIES_MAX = 5

/** How long a rotated key goes on working beside its successor. */
export const GRACE_MS = { now: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const

/** The name of a grace period. */
export type Grace = keyof typeof GRACE_MS

/** The user of the operating system, or the service itself: neither has a role, and each may give every scope. */
type RolelessActor = AdminActor & { type: 'os_user' | 'system' }

/** Who acts on keys: an operator, within their role, or an actor without one. */
export type KeyManager = Operator | RolelessActor

/** A key to create: its scopes, its expiry, and who creates it. */
export interface NewKey<Actor extends KeyManager = KeyManager> {
  environment: Environment
  organizationId: string
  name: string
  scopes: readonly Scope[]
  expiresAt: string | null
  actor: Actor
  reason?: string | undefined
}

/** An act on a stored key: by whom, and why. */
export interface KeyAct {
  key: ApiKey
  actor: KeyManager
  reason?: string | undefined
}

/** Why an operator may not give the scopes of a key. */
export interface ScopeProblem {
  problem: string
  code: 'scope_beyond_role'
}

/** Only an operator can ask for more than a role gives. */
type ProblemOf<Actor> = Actor extends RolelessActor ? never : ScopeProblem

/** A new key with its text, which cannot be shown again. */
export interface CreatedKey {
  id: string
  key: string
  expires_at: string | null
}

/** Creates a key and returns its text. Only its hash is stored, so the text cannot be shown again. */
export async function createKey<Actor extends KeyManager>(
  installation: Installation,
  wanted: NewKey<Actor>,
): Promise<CreatedKey | ProblemOf<Actor>> {
  const refused = beyondRole(wanted.actor, wanted.scopes)
  if (refused) return refused as ProblemOf<Actor>
  const { created, row, entry } = newKey(installation, wanted)
  await commitOrThrow(installation.stores[wanted.environment], {
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
): Promise<(CreatedKey & { retires_at: string }) | ScopeProblem | { problem: string; code?: undefined }> {
  const { stores, nowMs, masterKey } = installation
  const scopes = scopesOf(key)
  // The successor's text is shown to the operator, who would hold the scopes of another role with it.
  const refused = beyondRole(actor, scopes)
  if (refused) return refused
  const state = apiKeyState(key, nowMs())
  if (state === 'revoked') return { problem: `${key.id} is revoked: create a new key instead` }
  if (key.retires_at !== null) return { problem: `${key.id} was rotated already and ends at ${key.retires_at}` }
  const { org_id: organizationId, id: keyId, name } = key
  const lifetimeMs = key.expires_at === null ? null : Date.parse(key.expires_at) - Date.parse(key.created_at)
  const next = newKey(installation, {
    ...{ environment, organizationId, name, actor, scopes, reason, replaces: keyId },
    expiresAt: lifetimeMs === null ? null : new Date(nowMs() + lifetimeMs).toISOString(),
  })
  const retires_at = new Date(nowMs() + GRACE_MS[grace]).toISOString()
  const data = { name, replaced_by: next.row.id, retires_at, ...(reason && { reason }) }
  const entry = keyEntry(installation, { organizationId, keyId }, { type: 'api_key.rotated', actor, data })
  const { lost } = await stores[environment].commit({
    organizationId,
    rows: { api_keys: [next.row] },
    changedKeys: [nextVersion(masterKey.rowMacKey(environment), key, { change: { retires_at }, entry })],
    auditEntries: [next.entry, entry],
  })
  if (lost) return { problem: `another operator changed ${keyId} at the same moment: check its state and try again` }
  return { ...next.created, retires_at }
}

/** Stops a key from working until it is enabled again, on every node within a second; false if it has ended or is disabled. */
export function disableKey(installation: Installation, environment: Environment, act: KeyAct): Promise<boolean> {
  const disabled_at = new Date(installation.nowMs()).toISOString()
  return changeKey(installation, environment, { ...act, type: 'api_key.disabled', change: { disabled_at } })
}

/** Lets a disabled key work again; false if it is not disabled, or revoked. */
export async function enableKey(
  installation: Installation,
  environment: Environment,
  act: KeyAct,
): Promise<boolean | ScopeProblem> {
  const refused = beyondRole(act.actor, scopesOf(act.key))
  if (refused) return refused
  return changeKey(installation, environment, { ...act, type: 'api_key.enabled', change: { disabled_at: null } })
}

/** Revokes a key for good, on every node within a second; false if it was already revoked. */
export function revokeKey(installation: Installation, environment: Environment, act: KeyAct): Promise<boolean> {
  const revoked_at = new Date(installation.nowMs()).toISOString()
  return changeKey(installation, environment, { ...act, type: 'api_key.revoked', change: { revoked_at } })
}

type SwitchEntryType = 'api_key.disabled' | 'api_key.enabled' | 'api_key.revoked'
type KeySwitch = { disabled_at: string | null } | { revoked_at: string }

/** A change that loses to another one is tried again on the newer version: a revocation must not be lost. */
async function changeKey(
  installation: Installation,
  environment: Environment,
  {
    key: { org_id: organizationId, id: keyId },
    actor,
    reason,
    type,
    change,
  }: KeyAct & {
    type: SwitchEntryType
    change: KeySwitch
  },
): Promise<boolean> {
  const store = installation.stores[environment]
  for (let tries = 1; ; tries++) {
    const key = await store.apiKeys.ofOrganization(organizationId, keyId)
    const mayChange =
      key?.revoked_at === null &&
      ('revoked_at' in change || (key.disabled_at === null) === (change.disabled_at !== null))
    if (!mayChange) return false
    const data = { name: key.name, ...(reason && { reason }) }
    const entry = keyEntry(installation, { organizationId, keyId }, { type, actor, data })
    const next = nextVersion(installation.masterKey.rowMacKey(environment), key, { change, entry })
    const { lost } = await store.commit({ organizationId, changedKeys: [next], auditEntries: [entry] })
    if (lost === undefined) return true
    if (tries === CHANGE_TRIES_MAX) throw new DatabaseUnavailable(`nothing was recorded (${lost}): try again`)
  }
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
  { environment, organizationId, name, scopes, expiresAt, actor, reason, replaces }: NewKey & { replaces?: string },
): { created: CreatedKey; row: NewRow<'api_keys'>; entry: AuditEntryRow } {
  const { newId, nowMs, masterKey } = installation
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
  const cause = { ...(replaces && { replaces }), ...(reason && { reason }) }
  const data = { name, scopes, expires_at: expiresAt, ...cause, record_sha256 }
  const entry = keyEntry(installation, { organizationId, keyId: row.id }, { type: 'api_key.created', actor, data })
  const { org_id: _organization, ...sealed } = sealRow(masterKey.rowMacKey(environment), 'api_keys', {
    row: { ...row, org_id: organizationId },
    entryId: entry.id,
  })
  return { created: { id: row.id, key, expires_at: expiresAt }, row: sealed, entry }
}

function keyEntry<T extends Extract<AuditEntryType, `api_key.${string}`>>(
  installation: Installation,
  { organizationId, keyId }: { organizationId: string; keyId: string },
  { type, actor, data }: { type: T; actor: KeyManager; data: AuditData<T> },
): AuditEntryRow {
  return auditEntryRow(recordContext(installation, { organizationId, actor: recordedActor(actor) }), {
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

function beyondRole(actor: KeyManager, scopes: readonly Scope[]): ScopeProblem | undefined {
  const refused = 'role' in actor ? scopeRefusal(actor, scopes) : undefined
  return refused && { ...refused, code: 'scope_beyond_role' }
}

function recordedActor(actor: KeyManager): AdminActor {
  return 'role' in actor ? { type: 'operator', id: actor.id } : actor
}
