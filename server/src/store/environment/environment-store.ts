import type { KeyObject } from 'node:crypto'
import {
  entryMac,
  type FlushMacInput,
  flushMac,
  type HmacKeys,
  hasValidFlushMac,
  hasValidMac,
  type MacInput,
} from '../../core/audit/entry-mac.ts'
import type { Database } from '../database/database.ts'
import { RefusedRows } from '../power/refused-rows.ts'
import type { RowOf } from '../schema/tables.ts'
import type { Authenticate, FlushMac } from '../write-path/audit-insert.ts'
import type { Change, Committed } from '../write-path/change.ts'
import { GroupCommit } from '../write-path/group-commit.ts'
import { apiKeyQueries } from './api-keys.ts'
import { approvalQueries } from './approvals.ts'
import { auditLogQueries } from './audit-log.ts'
import { auditRecordQueries } from './audit-records.ts'
import { auditSealingQueries } from './audit-sealing.ts'
import { auditTrailQueries } from './audit-trail.ts'
import { auditVerificationQueries } from './audit-verification.ts'
import { auditVerificationRunQueries } from './audit-verification-runs.ts'
import { backtestCaseQueries } from './backtest-cases.ts'
import { backtestQueries, backtestRunQueries } from './backtests.ts'
import { caseQueries } from './cases.ts'
import { consequenceQueries } from './consequences.ts'
import { decisionLatencyQueries } from './decision-latencies.ts'
import { decisionListQueries } from './decision-list.ts'
import { decisionQueries } from './decisions.ts'
import { entityQueries } from './entities.ts'
import { entityMergeQueries } from './entity-merges.ts'
import { entityPageQueries } from './entity-pages.ts'
import { entityStepQueries } from './entity-steps.ts'
import { erasureQueries } from './erasures.ts'
import { grantByLogQueries } from './grants-by-log.ts'
import { graphQueries } from './graph.ts'
import { claimQueries } from './graph-claims.ts'
import { idempotencyQueries } from './idempotency-keys.ts'
import { membershipQueries } from './memberships.ts'
import { newestEntryQueries } from './newest-entries.ts'
import { openOfferQueries } from './open-offers.ts'
import { outcomeQueries } from './outcomes.ts'
import { overviewQueries } from './overview.ts'
import { paymentFlowQueries } from './payment-flows.ts'
import { policyQueries } from './policies.ts'
import { reviewBoundQueries } from './review-bounds.ts'
import { reviewQueries } from './reviews.ts'
import { scenarioQueries } from './scenarios.ts'
import { createIsAuthentic, type EntryKeys } from './stored-entry.ts'
import { transactionQueries } from './transactions.ts'
import { usageQueries } from './usage.ts'
import { usageByKeyQueries } from './usage-by-key.ts'
import { webhookDeliveryQueries } from './webhook-deliveries.ts'
import { webhookDispatchQueries } from './webhook-dispatch.ts'
import { webhookQueries } from './webhooks.ts'

/** The keys of one environment, which are derived from the master key. */
export interface EnvironmentKeys extends EntryKeys {
  /**
   * The first makes the MACs of audit entries: the store is the only writer of entries, so none can be written without
   * one. The others, of retired master keys, only verify.
   */
  auditKeys: HmacKeys
  /** Makes the MACs of rows that grant power. */
  rowKey: KeyObject
}

/** All reads and writes of one environment; it has no access to the other environment. */
export function openEnvironmentStore(database: Database, keys: EnvironmentKeys, refusedRows = new RefusedRows()) {
  const { auditKeys, rowKey } = keys
  const macOf: FlushMac = (flush) => flushMac(auditKeys[0], flush)
  const writes = new GroupCommit(database, macOf)
  const authenticate: Authenticate = (organizationId, entries) =>
    entries.map((entry) => ({ ...entry, mac: entryMac(auditKeys[0], { org_id: organizationId, ...entry }) }))
  const isAuthentic = createIsAuthentic(keys)
  const { cacheStates, ...entities } = entityQueries(database)
  return {
    approvals: approvalQueries(database, isAuthentic),
    apiKeys: apiKeyQueries(database, { rowKey, refusedRows }),
    auditLog: joined(auditLogQueries(database), joined(auditTrailQueries(database), newestEntryQueries(database))),
    auditRecords: auditRecordQueries(database),
    backtestRuns: backtestRunQueries(database),
    backtests: joined(backtestQueries(database), backtestCaseQueries(database)),
    cases: caseQueries(database),
    consequences: consequenceQueries(database),
    decisions: joined(decisionQueries(database, isAuthentic), decisionListQueries(database)),
    deliveries: webhookDeliveryQueries(database),
    dispatch: webhookDispatchQueries(database),
    entityMerges: entityMergeQueries(database, isAuthentic),
    entitySteps: entityStepQueries(database, isAuthentic),
    entities: joined(entities, entityPageQueries(database)),
    erasures: erasureQueries(database, isAuthentic),
    grants: joined(grantByLogQueries(database, isAuthentic), membershipQueries(database, isAuthentic)),
    graph: joined(graphQueries(database), joined(claimQueries(database), paymentFlowQueries(database))),
    idempotencyKeys: idempotencyQueries(database),
    latencies: decisionLatencyQueries(database),
    openOffers: openOfferQueries(database),
    outcomes: outcomeQueries(database, isAuthentic),
    overview: overviewQueries(database),
    policies: policyQueries(database, { authenticate, macOf, isAuthentic }),
    reviews: joined(reviewQueries(database), reviewBoundQueries(database, isAuthentic)),
    scenarios: scenarioQueries(database),
    sealing: auditSealingQueries(database),
    transactions: transactionQueries(database),
    usage: joined(usageQueries(database), usageByKeyQueries(database)),
    verification: auditVerificationQueries(database),
    verificationRuns: auditVerificationRunQueries(database),
    webhooks: webhookQueries(database),

    /** Whether this service wrote an entry under the current master key: what waits was written since the last rotation. */
    isOwn: (entry: RowOf<'audit_entries'>) => isAuthentic({ ...entry, sealed_leaf: null }),
    /** Whether this service gave an entry with this id and this leaf hash its MAC. */
    hasValidMac: (entry: MacInput & { mac: Uint8Array }) => hasValidMac(auditKeys, entry),
    /** Whether this service wrote the list of the entries of a statement. */
    hasValidFlushMac: (flush: FlushMacInput & { mac: Uint8Array }) => hasValidFlushMac(auditKeys, flush),
    /** Adds the MACs to entries of an organization that are written elsewhere first. */
    sealed: authenticate,
    /** Writes a change, in one batch with others that wait, and caches the states that it wrote. */
    async commit(change: Change): Promise<Committed> {
      const { auditEntries, ...rest } = change
      const committed = await writes.commit(
        auditEntries ? { ...rest, auditEntries: authenticate(change.organizationId, auditEntries) } : rest,
      )
      if (!committed.lost)
        cacheStates(change.organizationId, [...(change.newEntities ?? []), ...(change.changedEntities ?? [])])
      return committed
    },
    /** Reads what has to be as durable as a commit before it is answered. */
    durably: database.durably.bind(database),
    /** Resolves when every change that was handed in is settled. */
    drain: writes.drain.bind(writes),
    /** Registers the listener that is called after a commit of this node that queued webhook deliveries. */
    onDeliveriesQueued: writes.onDeliveriesQueued.bind(writes),
    /** The number of changes that wait for a flush. */
    waiting: () => writes.waiting,
  }
}

/** Two parts of a family of queries as one; equal names do not compile. */
function joined<A extends object, B extends object>(one: A, other: B & { [Name in keyof A & keyof B]: never }): A & B {
  return { ...one, ...other }
}

/** The store of one environment. */
export type EnvironmentStore = ReturnType<typeof openEnvironmentStore>
