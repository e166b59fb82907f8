/** What webhooks can announce. Names are only ever added. */
export const EVENT_TYPES = [
  'entity.created',
  'entity.updated',
  'identity_link.created',
  'consent.granted',
  'consent.revoked',
  'transactions.ingested',
  'feature_snapshot.created',
  'decision.created',
  'decision.reviewed',
  'decision.outcome_recorded',
  'decision.reevaluation_due',
  'policy.activated',
  'audit.checkpoint',
  'webhook.test',
] as const

export type EventType = (typeof EVENT_TYPES)[number]
