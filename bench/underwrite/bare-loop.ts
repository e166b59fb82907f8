import { underwrite } from '../../server/src/api/endpoints/underwrite.ts'
import { entryMac, flushMac } from '../../server/src/core/audit/entry-mac.ts'
import { createNewId } from '../../server/src/ids/new-id.ts'
import type { Database } from '../../server/src/store/database/database.ts'
import { type EnvironmentKeys, openEnvironmentStore } from '../../server/src/store/environment/environment-store.ts'
import { keyHashOf } from '../../server/src/store/environment/idempotency-keys.ts'
import { batchStatement } from '../../server/src/store/write-path/batch-statement.ts'
import type { AuthenticatedChange } from '../../server/src/store/write-path/change.ts'
import { packDocuments } from '../../server/src/store/write-path/decision-statements.ts'
import { ActivePolicies } from '../../server/src/underwriting/active-policies.ts'

const BATCH = 64

/** Makes the changes that underwriting these entities writes, by calling the endpoint itself, without committing them. */
export async function makeChanges(
  database: Database,
  { keys, entityIds, count, run }: { keys: EnvironmentKeys; entityIds: readonly string[]; count: number; run: string },
): Promise<AuthenticatedChange[]> {
  const store = openEnvironmentStore(database, keys)
  const [organization] = await database.query<{ org_id: string }>('SELECT org_id FROM entities WHERE id = $1', [
    entityIds[0],
  ])
  const organizationId = organization!.org_id
  const shared = {
    store,
    policies: new ActivePolicies({ store, nowMs: Date.now }),
    newId: createNewId(Date.now),
    environment: 'sandbox',
    caller: { organizationId, keyId: 'key_bench' },
    readClock: () => new Date().toISOString(),
    isLive: async () => true,
  } as const
  const makeOne = async (index: number): Promise<AuthenticatedChange> => {
    const now = shared.readClock()
    const body = {
      entity_id: entityIds[index % entityIds.length]!,
      product: 'personal_loan',
      requested_amount: 1000 + (index % 500) * 10,
      currency: 'EUR',
    }
    const reply = await underwrite.handle({ ...shared, body, now, requestId: shared.newId('req') } as never)
    if (!('change' in reply)) throw new Error('underwriting was refused')
    const key_hash = keyHashOf('POST /v1/underwrite', `${run}-${index}`)
    const kept = {
      fingerprint: Buffer.alloc(16),
      decision_id: reply.decisionId!,
      status: null,
      body: null,
      created_at: now,
    }
    const { auditEntries = [], ...change } = reply.change!
    const authenticated = auditEntries.map((entry) => ({
      ...entry,
      mac: entryMac(keys.auditKeys[0], { org_id: organizationId, ...entry }),
    }))
    return { ...change, auditEntries: authenticated, idempotencyKey: { key_hash, ...kept } }
  }
  return Promise.all(Array.from({ length: count }, (_, index) => makeOne(index)))
}

/** Commits ready-made changes in batches, one batch after the other, and returns the decisions per second. */
export async function writeBare(
  database: Database,
  changes: readonly AuthenticatedChange[],
  { auditKeys }: EnvironmentKeys,
): Promise<number> {
  const startedMs = performance.now()
  for (let written = 0; written < changes.length; written += BATCH) {
    const batch = changes.slice(written, written + BATCH)
    const packed = await packDocuments(batch)
    const { sql, params } = batchStatement(batch, { macOf: (flush) => flushMac(auditKeys[0], flush), packed })
    await database.query(sql, params)
  }
  return (changes.length * 1000) / (performance.now() - startedMs)
}
