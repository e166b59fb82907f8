import type { Environment } from '../config.ts'
import { keyId } from '../core/audit/checkpoint.ts'
import type { MasterKey, SealingKeys } from '../security/master-key.ts'
import type { Database } from '../store/database/database.ts'
import { type EnvironmentStore, openEnvironmentStore } from '../store/environment/environment-store.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow, type RecordContext } from '../store/write-path/record.ts'
import { extendTrees } from './extend-trees.ts'
import type { KnownErasures } from './known-erasures.ts'
import type { KnownHeads } from './known-heads.ts'
import { Sealer } from './sealer.ts'

/** The logs of one environment whose key changes with the master key. */
export interface LogsToChange {
  environment: Environment
  database: Database
  organizationIds: readonly string[]
  knownHeads: KnownHeads
  knownErasures: KnownErasures
  context: Omit<RecordContext, 'organizationId'>
  reason: string
  nowMs: () => number
}

/** Says what stops a log from being extended, before anything is written to the logs. */
export async function findUnextendable(logs: LogsToChange, current: MasterKey): Promise<string[]> {
  const { environment, database, organizationIds, knownHeads, nowMs } = logs
  const store = openEnvironmentStore(database, current.storeKeys(environment))
  const { errors } = await extendTrees(
    organizationIds.map((organizationId) => ({ organizationId, flushes: [] })),
    { environment, store, keys: current.sealingKeys(environment), knownHeads, nowMs },
  )
  return Array.from(errors.values(), ({ message }) => message)
}

/**
 * Says on every log, under the current key, which key follows, so that an outsider who trusts the one can trust the other.
 * Returns what stops a log from being extended; then nothing may be rotated.
 */
export async function announceLogKey(logs: LogsToChange, current: MasterKey, next: MasterKey): Promise<string[]> {
  const { environment, database } = logs
  const data = { ...keyIds(environment, current, next), reason: logs.reason }
  const store = openEnvironmentStore(database, current.storeKeys(environment))
  return record(logs, { store, keys: current.sealingKeys(environment), type: 'master_key.rotation_begun', data })
}

/** Says on every log, under the new key, that it signs from here on. Logs that it has signed already are left alone. */
export async function adoptLogKey(logs: LogsToChange, current: MasterKey, next: MasterKey): Promise<string[]> {
  const { environment, database } = logs
  const ids = keyIds(environment, current, next)
  const store = openEnvironmentStore(database, next.storeKeys(environment))
  const ends = await store.sealing.logEnds(logs.organizationIds)
  const left = ends.filter(({ head }) => head?.key_id !== ids.next_key_id).map(({ org_id }) => org_id)
  const data = { ...ids, reason: logs.reason }
  return record(
    { ...logs, organizationIds: left },
    { store, keys: next.rotationKeys(environment), type: 'master_key.rotated', data },
  )
}

function keyIds(environment: Environment, current: MasterKey, next: MasterKey) {
  return {
    key_id: keyId(current.auditSigningKey(environment).publicKey),
    next_key_id: keyId(next.auditSigningKey(environment).publicKey),
  }
}

interface Recorded {
  store: EnvironmentStore
  keys: SealingKeys
  type: 'master_key.rotation_begun' | 'master_key.rotated'
  data: { key_id: string; next_key_id: string; reason: string }
}

async function record(logs: LogsToChange, { store, keys, type, data }: Recorded): Promise<string[]> {
  const { environment, database, organizationIds, knownHeads, context, nowMs } = logs
  for (const organizationId of organizationIds) {
    const subject = { type: 'organization', id: organizationId } as const
    const entry = auditEntryRow({ ...context, organizationId }, { type, trailId: organizationId, subject, data })
    await commitOrThrow(store, { organizationId, auditEntries: [entry] })
  }
  const problems: string[] = []
  const sealer = new Sealer({
    environment,
    database,
    store,
    keys,
    knownHeads,
    knownErasures: logs.knownErasures,
    newId: context.newId,
    nowMs,
    onError: (error) => problems.push((error as Error).message),
    // A forged entry stays in the queue, as evidence; it must not stop a rotation.
    onRefused: () => {},
  })
  await sealer.sealAll()
  const signedBy = keyId(keys.signing.publicKey)
  for (const { org_id, head } of await store.sealing.logEnds(organizationIds))
    if (head?.key_id !== signedBy) problems.push(`the log of ${org_id} was not signed with the key ${signedBy}`)
  return problems
}
