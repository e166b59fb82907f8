import { readApiKeys, touchApiKeys } from './api-keys.ts'
import { auditSealingQueries } from './audit-sealing.ts'
import { auditTrailQueries } from './audit-trail.ts'
import { auditVerificationQueries } from './audit-verification.ts'
import { batchedRead } from './batched-read.ts'
import type { Change, Committed } from './change.ts'
import { consequenceQueries } from './consequences.ts'
import type { Database } from './database.ts'
import { decisionQueries } from './decisions.ts'
import { entityQueries } from './entities.ts'
import { graphQueries } from './graph.ts'
import { GroupCommit } from './group-commit.ts'
import { idempotencyQueries } from './idempotency-keys.ts'
import { policyQueries } from './policies.ts'
import { usageQueries } from './usage.ts'
import { webhookDispatchQueries } from './webhook-dispatch.ts'
import { webhookQueries } from './webhooks.ts'

/** All reads and writes of one environment. It does not know that there is another. */
export function openEnvironmentStore(database: Database) {
  const writes = new GroupCommit(database)
  const { rememberStates, ...entities } = entityQueries(database)
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

    /** Writes a change, together with all others that wait. */
    async commit(change: Change): Promise<Committed> {
      const committed = await writes.commit(change)
      if (!committed.lost) rememberStates([...(change.newEntities ?? []), ...(change.changedEntities ?? [])])
      return committed
    },
    /** Resolves when everything that was handed in has been written. */
    drain: writes.drain.bind(writes),
    /** Has one listener told when a change that this node wrote has put webhooks on their way. */
    tellOfDeliveries: writes.tellOfDeliveries.bind(writes),
    /** Changes that wait for a flush. */
    waiting: () => writes.waiting,
  }
}

/** What `openEnvironmentStore` opens. */
export type EnvironmentStore = ReturnType<typeof openEnvironmentStore>
