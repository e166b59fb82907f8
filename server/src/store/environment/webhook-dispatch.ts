import type { Database, Row } from '../database/database.ts'
import { Params, type RowOf, unnestAs } from '../schema/tables.ts'
import type { EntryData } from '../write-path/entry-data.ts'
import { eventWith, FREE, OVER, REFERENCE, sentData } from '../write-path/webhook-statements.ts'

/** A delivery that this node has leased, with its event. */
export interface LeasedDelivery {
  org_id: string
  endpoint_id: string
  event_id: string
  /** How often the delivery has been queued again. */
  cycle: number
  attempts: number
  schedule_step: number
  type: string
  created_at: string
  data: string
}

/** The key of a delivery. */
export type DeliveryKey = Pick<LeasedDelivery, 'org_id' | 'endpoint_id' | 'event_id'>

/** The columns of a webhook endpoint that sending needs. */
export type SendingEndpoint = Pick<
  RowOf<'webhook_endpoints'>,
  'org_id' | 'id' | 'url' | 'state' | 'secret' | 'previous_secret' | 'previous_secret_until' | 'version'
>

/** A webhook endpoint with due deliveries. */
export interface DueEndpoint {
  org_id: string
  endpoint_id: string
  /** Its last attempts failed. */
  failing: boolean
}

/** How many deliveries to lease, for each webhook endpoint. */
export interface LeaseRequest {
  now: string
  leaseSeconds: number
  wanted: readonly { org_id: string; endpoint_id: string; count: number }[]
}

/** One attempt, and the next state of its delivery. */
export interface SettledAttempt extends Omit<RowOf<'webhook_attempts'>, 'number'> {
  /** The number of this attempt. If another node has recorded an attempt of this number first, this one is dropped. */
  number: number
  /** `cycle` of the delivery when it was leased. An attempt of an earlier cycle does not settle the delivery. */
  cycle: number
  state: 'pending' | 'delivered' | 'failed'
  schedule_step: number
  due_at: string
}

/** A webhook endpoint that has only failed since `failing_since`. */
export interface FailingEndpoint {
  org_id: string
  id: string
  failing_since: string
}

/** When a webhook endpoint has been failing for too long. */
export interface FailingRule {
  /** Webhook endpoints that have only failed since this moment, or longer, have been failing for too long. */
  failingSince: string
  /** A failure after this long without an attempt starts the count again. */
  quietSeconds: number
}

/** How many webhook endpoints one statement scans. Only a few sizes, so that few statements have to be prepared. */
const ARMS = [1, 8, 64] as const

/** The queries of the dispatcher. */
export function webhookDispatchQueries(database: Database) {
  return {
    /** Reads enabled webhook endpoints with due, unleased deliveries: one index lookup each, for any backlog. */
    async endpointsWithDue(now: string): Promise<DueEndpoint[]> {
      // clock_timestamp() is volatile, so the planner cannot rewrite EXISTS as a join that starts with all due rows.
      return database.query<DueEndpoint & Row>(
        `SELECT endpoint.org_id, endpoint.id AS endpoint_id, endpoint.failing_since IS NOT NULL AS failing
         FROM webhook_endpoints AS endpoint
         WHERE endpoint.state = 'enabled' AND EXISTS (
           SELECT 1 FROM webhook_deliveries AS delivery
           WHERE delivery.org_id = endpoint.org_id AND delivery.endpoint_id = endpoint.id AND delivery.state = 'pending'
             AND delivery.due_at <= $1::timestamptz AND delivery.leased_until <= clock_timestamp())`,
        [now],
        { keepPlan: true },
      )
    },

    /** Reads the current rows of webhook endpoints. */
    async sendingEndpoints(keys: readonly { org_id: string; endpoint_id: string }[]): Promise<SendingEndpoint[]> {
      return database.query<SendingEndpoint & Row>(
        `SELECT endpoint.org_id, endpoint.id, endpoint.url, endpoint.state, endpoint.secret, endpoint.previous_secret,
           endpoint.previous_secret_until, endpoint.version
         FROM webhook_endpoints AS endpoint
         JOIN unnest($1::text[], $2::text[]) AS wanted (org_id, id)
           ON endpoint.org_id = wanted.org_id AND endpoint.id = wanted.id`,
        [keys.map(({ org_id }) => org_id), keys.map(({ endpoint_id }) => endpoint_id)],
        { keepPlan: true },
      )
    },

    /**
     * Leases due deliveries, the oldest of each webhook endpoint. Concurrent nodes may find the same deliveries; the
     * condition on `leased_until` leases each to one node only. `found` counts the deliveries that were found before.
     * Leases expire by the clock of the database, which all nodes share.
     */
    async lease(request: LeaseRequest): Promise<{ leased: LeasedDelivery[]; found: number }> {
      const due = await findDue(database, request)
      const leased = due.length > 0 ? await leaseFound(database, due, request) : []
      return { leased, found: due.length }
    },

    /** Releases the leases of deliveries that are not sent, so that other nodes need not wait for expiry. */
    async release(deliveries: readonly DeliveryKey[]): Promise<void> {
      const params = new Params()
      await database.query(
        `UPDATE webhook_deliveries AS delivery SET leased_until = '${FREE}' FROM ${unnestKeys(deliveries, params)}
         WHERE ${isWanted('delivery')} AND delivery.leased_until < '${OVER}'`,
        params.values,
      )
    },

    /**
     * Records attempts in one statement: the attempt, the new state of its delivery, the health of its webhook
     * endpoint, and usage. An attempt whose lease had expired is dropped if another node has recorded its number first.
     * Returns how many were recorded, and the webhook endpoints that have been failing for too long.
     */
    async settle(
      attempts: readonly SettledAttempt[],
      { day, node, ...rule }: { day: string; node: string } & FailingRule,
    ): Promise<{ recorded: number; failing: FailingEndpoint[] }> {
      const params = new Params()
      const sql = `WITH attempt AS (SELECT * FROM ${unnestAttempts(attempts, params)}),
        settled AS (${SETTLE}),
        recorded AS (
          INSERT INTO webhook_attempts (org_id, endpoint_id, event_id, number, started_at, duration_ms, status, error, response, signature, user_agent)
          SELECT org_id, endpoint_id, event_id, number, started_at, duration_ms, status, error, response, signature, user_agent FROM settled
        ),
        counted AS (
          INSERT INTO webhook_attempts_by_hour (org_id, endpoint_id, hour, node, delivered, failed, last_delivered_at)
          SELECT org_id, endpoint_id, date_trunc('hour', started_at, 'UTC'), ${params.add(node, 'text')},
            count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state <> 'delivered'),
            max(started_at) FILTER (WHERE state = 'delivered')
          FROM settled GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
          ON CONFLICT (org_id, endpoint_id, hour, node) DO UPDATE SET
            delivered = webhook_attempts_by_hour.delivered + excluded.delivered, failed = webhook_attempts_by_hour.failed + excluded.failed,
            last_delivered_at = greatest(webhook_attempts_by_hour.last_delivered_at, excluded.last_delivered_at)
        ),
        used AS (
          INSERT INTO usage_by_day (org_id, day, node, counter, count)
          SELECT org_id, ${params.add(day, 'date')}, ${params.add(node, 'text')}, 'webhook_deliveries', count(*) FROM settled
          WHERE state = 'delivered' GROUP BY org_id
          ON CONFLICT (org_id, day, node, counter) DO UPDATE SET count = usage_by_day.count + excluded.count
        ),
        ${healthOf(rule, params)}
        SELECT count(*) AS recorded, NULL AS org_id, NULL AS id, NULL::timestamptz AS failing_since FROM settled
        UNION ALL SELECT 0, org_id, id, failing_since FROM failing`
      const rows = await database.query<{ recorded: number } & FailingEndpoint & Row>(sql, params.values, {
        keepPlan: true,
      })
      const recorded = rows.reduce((sum, row) => sum + row.recorded, 0)
      return { recorded, failing: rows.filter(({ org_id }) => org_id !== null) }
    },
  }
}

/**
 * Finds the oldest due deliveries of each webhook endpoint, as many as are wanted. One index scan per webhook endpoint,
 * so the cost does not depend on the length of the backlog.
 */
async function findDue(database: Database, { now, wanted }: LeaseRequest): Promise<DeliveryKey[]> {
  const found: DeliveryKey[] = []
  for (let start = 0; start < wanted.length; ) {
    const left = wanted.length - start
    const arms = ARMS.find((size) => size >= left) ?? ARMS.at(-1)!
    const some = wanted.slice(start, start + arms)
    start += some.length
    const params = new Params()
    const due = params.add(now, 'timestamptz')
    const sql = Array.from({ length: arms }, (_, arm) => {
      const { org_id, endpoint_id, count } = some[arm] ?? { org_id: '', endpoint_id: '', count: 0 }
      return `(SELECT org_id, endpoint_id, event_id FROM webhook_deliveries
        WHERE org_id = ${params.add(org_id, 'text')} AND endpoint_id = ${params.add(endpoint_id, 'text')} AND state = 'pending'
          AND due_at <= ${due} AND leased_until <= now()
        ORDER BY due_at LIMIT ${params.add(count, 'bigint')})`
    })
    found.push(...(await database.query<DeliveryKey & Row>(sql.join(' UNION ALL '), params.values)))
  }
  return found
}

/**
 * Leases the deliveries that were found. The update finds rows by primary key alone: with a condition on `state`, the
 * planner would choose the index of due deliveries and scan the whole backlog for every row. The condition on `due_at`
 * excludes deliveries that another node has attempted and rescheduled since.
 */
async function leaseFound(
  database: Database,
  deliveries: readonly DeliveryKey[],
  { now, leaseSeconds }: LeaseRequest,
): Promise<LeasedDelivery[]> {
  const params = new Params()
  const leased = await database.query<LeasedDelivery & EntryData & { reference: string | null } & Row>(
    `WITH leased AS (
       UPDATE webhook_deliveries AS delivery SET leased_until = now() + make_interval(secs => ${params.add(leaseSeconds, 'double precision')})
       FROM ${unnestKeys(deliveries, params)}
       WHERE ${isWanted('delivery')} AND delivery.leased_until <= now() AND delivery.due_at <= ${params.add(now, 'timestamptz')}
       RETURNING delivery.org_id, delivery.endpoint_id, delivery.event_id, delivery.cycle, delivery.attempts, delivery.schedule_step
     )
     SELECT leased.*, event.type, event.created_at, event.data, event.trail_id, event.subject_id, event.hashes,
       ${REFERENCE} AS reference
     FROM leased CROSS JOIN LATERAL ${eventWith('leased.org_id', 'leased.event_id')} AS event`,
    params.values,
    { keepPlan: true },
  )
  return leased.map(({ trail_id, subject_id, hashes, reference, ...delivery }) => ({
    ...delivery,
    data: sentData({ ...delivery, trail_id, subject_id, hashes, reference }),
  }))
}

/** An attempt of an earlier `cycle` ends the lease, but does not settle the delivery: it was queued again since. */
const SETTLE = `
  UPDATE webhook_deliveries AS delivery SET attempts = attempt.number,
    last_answer = CASE WHEN attempt.status IS NULL THEN 'none' ELSE attempt.status / 100 || 'xx' END,
    state = CASE WHEN delivery.cycle = attempt.cycle THEN attempt.state ELSE delivery.state END,
    schedule_step = CASE WHEN delivery.cycle = attempt.cycle THEN attempt.schedule_step ELSE delivery.schedule_step END,
    due_at = CASE WHEN delivery.cycle = attempt.cycle THEN attempt.due_at ELSE delivery.due_at END,
    leased_until = CASE WHEN delivery.cycle = attempt.cycle AND attempt.state <> 'pending' THEN '${OVER}' ELSE '${FREE}' END::timestamptz
  FROM attempt
  WHERE delivery.org_id = attempt.org_id AND delivery.endpoint_id = attempt.endpoint_id AND delivery.event_id = attempt.event_id
    AND delivery.attempts = attempt.number - 1
  RETURNING delivery.org_id, delivery.endpoint_id, delivery.event_id, attempt.number, attempt.state,
    attempt.started_at, attempt.duration_ms, attempt.status, attempt.error, attempt.response, attempt.signature,
    attempt.user_agent, delivery.by_hand AND attempt.schedule_step = 1 AS is_by_hand`

/**
 * Updates the health of webhook endpoints. The first attempt after an operator queued a delivery by hand does not count:
 * trying one event by hand must not disable a webhook endpoint, nor hide that the others fail. One success makes a webhook endpoint healthy; a failure after a long time
 * without attempts starts `failing_since` again. A failing row is updated at most once a minute. `failing` selects the
 * webhook endpoints that have been failing for too long, judged by the row before this update.
 */
function healthOf({ failingSince, quietSeconds }: FailingRule, params: Params): string {
  const quiet = `make_interval(secs => ${params.add(quietSeconds, 'double precision')})`
  return `health AS (
      SELECT org_id, endpoint_id, bool_or(state = 'delivered') AS well, min(started_at) AS first, max(started_at) AS last
      FROM settled WHERE NOT is_by_hand GROUP BY org_id, endpoint_id
    ),
    examined AS (
      UPDATE webhook_endpoints AS endpoint
      SET failing_since = CASE WHEN health.well THEN NULL
            WHEN endpoint.failed_at >= health.first - ${quiet} THEN endpoint.failing_since ELSE health.first END,
          failed_at = CASE WHEN health.well THEN NULL ELSE health.last END
      FROM health
      WHERE endpoint.org_id = health.org_id AND endpoint.id = health.endpoint_id
        AND CASE WHEN health.well THEN endpoint.failing_since IS NOT NULL
              ELSE coalesce(endpoint.failed_at < health.last - interval '1 minute', true) END
    ),
    failing AS (
      SELECT endpoint.org_id, endpoint.id, endpoint.failing_since FROM health
      JOIN webhook_endpoints AS endpoint ON endpoint.org_id = health.org_id AND endpoint.id = health.endpoint_id
      WHERE NOT health.well AND endpoint.state = 'enabled' AND endpoint.failed_at >= health.first - ${quiet}
        AND endpoint.failing_since <= ${params.add(failingSince, 'timestamptz')}
    )`
}

const SETTLED_COLUMNS = {
  org_id: 'text',
  endpoint_id: 'text',
  event_id: 'text',
  number: 'integer',
  cycle: 'integer',
  started_at: 'timestamptz',
  duration_ms: 'integer',
  status: 'integer',
  error: 'text',
  response: 'text',
  signature: 'text',
  user_agent: 'text',
  state: 'text',
  schedule_step: 'integer',
  due_at: 'timestamptz',
} as const satisfies Record<keyof SettledAttempt, string>

function unnestAttempts(attempts: readonly SettledAttempt[], params: Params): string {
  return unnestAs('attempt', sortedByKey(attempts), SETTLED_COLUMNS, params)
}

function unnestKeys(deliveries: readonly DeliveryKey[], params: Params): string {
  const columns = { org_id: 'text', endpoint_id: 'text', event_id: 'text' }
  return unnestAs('wanted', sortedByKey(deliveries), columns, params)
}

function isWanted(table: string): string {
  return `${table}.org_id = wanted.org_id AND ${table}.endpoint_id = wanted.endpoint_id AND ${table}.event_id = wanted.event_id`
}

/** Sorts by key, so that all nodes lock rows in the same order and seldom deadlock. */
function sortedByKey<T extends DeliveryKey>(deliveries: readonly T[]): T[] {
  const keyed = deliveries.map((delivery) => ({
    delivery,
    key: `${delivery.org_id} ${delivery.endpoint_id} ${delivery.event_id}`,
  }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ delivery }) => delivery)
}
