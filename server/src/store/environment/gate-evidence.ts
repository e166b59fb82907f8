/** What the checklist of the live gate reads in production. */
import type { Database, Row } from '../database/database.ts'

/** A delivery that a webhook endpoint answered with 2xx. */
export interface GateDelivery {
  endpoint_id: string
  /** Scheme and host, with a masked rest. */
  url: string
  event_id: string
  event_type: string
  delivered_at: string
}

/** An endpoint that failed for days may have a long backlog; its older deliveries prove nothing about now. */
const DELIVERIES_LOOKED_AT_MAX = 1_000

/** When the active policy of an organization was activated; undefined if it has none. */
export async function policyActivatedAt(database: Database, organizationId: string): Promise<string | undefined> {
  const [row] = await database.query<{ activated_at: string }>(
    'SELECT activated_at FROM active_policies WHERE org_id = $1',
    [organizationId],
  )
  return row?.activated_at
}

/** The newest event that an enabled webhook endpoint of an organization received. */
export function newestDelivery(database: Database, organizationId: string): Promise<GateDelivery | undefined> {
  return readNewest(database, { organizationId, eventType: null })
}

/** The newest test event that an enabled webhook endpoint of an organization received. */
export function newestTestDelivery(database: Database, organizationId: string): Promise<GateDelivery | undefined> {
  return readNewest(database, { organizationId, eventType: 'webhook.test' })
}

async function readNewest(
  database: Database,
  { organizationId, eventType }: { organizationId: string; eventType: string | null },
): Promise<GateDelivery | undefined> {
  const [delivery] = await database.query<GateDelivery & Row>(
    `SELECT endpoint.id AS endpoint_id, endpoint.shown_url AS url, newest.event_id, newest.event_type,
       newest.due_at AS delivered_at
     FROM webhook_endpoints AS endpoint
     JOIN LATERAL (
       SELECT event_id, event_type, due_at FROM (
         SELECT event_id, event_type, due_at, state FROM webhook_deliveries AS delivery
         WHERE delivery.org_id = endpoint.org_id AND delivery.endpoint_id = endpoint.id
           AND ($2::text IS NULL OR delivery.event_type = $2)
         ORDER BY event_id DESC LIMIT $3
       ) AS recent WHERE state = 'delivered' ORDER BY event_id DESC LIMIT 1
     ) AS newest ON true
     WHERE endpoint.org_id = $1 AND endpoint.state = 'enabled' ORDER BY newest.event_id DESC LIMIT 1`,
    [organizationId, eventType, DELIVERIES_LOOKED_AT_MAX],
  )
  return delivery
}
