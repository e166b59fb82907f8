import { batchedRead } from './database/batched-read.ts'
import type { Database } from './database/database.ts'
import { readApiKeys, touchApiKeys } from './queries/api-keys.ts'
import { auditSealingQueries } from './queries/audit-sealing.ts'
import { auditTrailQueries } from './queries/audit-trail.ts'
import { auditVerificationQueries } from './queries/audit-verification.ts'
import { consequenceQueries } from './queries/consequences.ts'
import { decisionQueries } from './queries/decisions.ts'
import { entityQueries } from './queries/entities.ts'
import { graphQueries } from './queries/graph.ts'
import { idempotencyQueries } from './queries/idempotency-keys.ts'
import { policyQueries } from './queries/policies.ts'
import { usageQueries } from './queries/usage.ts'
import { webhookDispatchQueries } from './queries/webhook-dispatch.ts'
import { webhookQueries } from './queries/webhooks.ts'
import type { Change, Committed } from './write-path/change.ts'
import { GroupCommit } from './write-path/group-commit.ts'

/** All reads and writes of one environment; it has no access to the other environment. */
export function openEnvironmentStore(database: Database) {
  const writes = new GroupCommit(database)
  const { cacheStates, ...entities } = entityQueries(database)
  return {
    ...entities,
    ...decisionQueries(database),
    ...graphQueries(database),
    ...consequenceQueries(database),
    ...idempotencyQueries(database),
    ...auditTrailQueries(database),
    ...auditSealingQueries(database),
    ...auditVerificationQueries(database),
    ...usageQueries(database),
    ...policyQueries(database),
    ...webhookQueries(database),
    ...webhookDispatchQueries(database),

    apiKeyByHash: batchedRead({ keyText: (hash: string) => hash, load: (hashes) => readApiKeys(database, hashes) }),
    touchApiKeys: (uses: Parameters<typeof touchApiKeys>[1]) => touchApiKeys(database, uses),

    /** Writes a change, in one batch with others that wait, and caches the states that it wrote. */
    async commit(change: Change): Promise<Committed> {
      const committed = await writes.commit(change)
      if (!committed.lost)
        cacheStates(change.organizationId, [...(change.newEntities ?? []), ...(change.changedEntities ?? [])])
      return committed
    },
    /** Resolves when every change that was handed in is settled. */
    drain: writes.drain.bind(writes),
    /** Registers the listener that is called after a commit of this node that queued webhook deliveries. */
    onDeliveriesQueued: writes.onDeliveriesQueued.bind(writes),
    /** The number of changes that wait for a flush. */
    waiting: () => writes.waiting,
  }
}

/** The store of one environment. */
export type EnvironmentStore = ReturnType<typeof openEnvironmentStore>
