import type { AnyEndpoint } from './define-endpoint.ts'
import { createEntity } from './endpoints/create-entity.ts'
import { createIdentityLink } from './endpoints/create-identity-link.ts'
import { ingestTransactions } from './endpoints/ingest-transactions.ts'
import { listAuditTrail } from './endpoints/list-audit-trail.ts'
import { recordConsent } from './endpoints/record-consent.ts'
import { recordOutcome } from './endpoints/record-outcome.ts'
import { replayDecision } from './endpoints/replay-decision.ts'
import { retrieveDecision } from './endpoints/retrieve-decision.ts'
import { retrieveEntity } from './endpoints/retrieve-entity.ts'
import { retrieveUsage } from './endpoints/retrieve-usage.ts'
import { sendWebhookTest } from './endpoints/send-webhook-test.ts'
import { submitFeatureSnapshot } from './endpoints/submit-feature-snapshot.ts'
import { submitReview } from './endpoints/submit-review.ts'
import { underwrite } from './endpoints/underwrite.ts'

/** Every endpoint of the public API. `GET /openapi.json`, which needs no key, is generated from this table. */
export const routes: readonly AnyEndpoint[] = [
  createEntity,
  retrieveEntity,
  createIdentityLink,
  recordConsent,
  ingestTransactions,
  submitFeatureSnapshot,
  listAuditTrail,
  underwrite,
  retrieveDecision,
  replayDecision,
  submitReview,
  recordOutcome,
  retrieveUsage,
  sendWebhookTest,
]
