import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import type { RowOf } from '../schema/tables.ts'
import type { TransactionName } from './transactions.ts'

/** A month of the cash flow in one currency. */
export interface FlowMonth {
  currency: string
  month: string
}

/** At most seven partners can each have a share of a month's flow that is large enough for a link. */
const LARGEST_OF_MONTH = 8

/** How many payment links of an entity are computed again when its cash flow changes. */
const LINKS_UPDATED_MAX = 40

/** Reads of the payments between entities. The cost of each is bounded, however many payments there are. */
export function paymentFlowQueries(database: Database) {
  return {
    /** Whether an entity has any payments to or from another. Every ingest asks, so concurrent reads share a round trip. */
    hasPaymentFlows: batchedRead<{ organizationId: string; id: string }, true>({
      keyText: ({ organizationId, id }) => `${organizationId} ${id}`,
      async load(keys) {
        const rows = await database.query<{ org_id: string; id: string }>(
          `SELECT wanted.org_id, wanted.id FROM unnest($1::text[], $2::text[]) AS wanted (org_id, id)
           WHERE EXISTS (SELECT 1 FROM payment_flows AS flow WHERE flow.org_id = wanted.org_id AND flow.entity_id = wanted.id)
             OR EXISTS (SELECT 1 FROM payment_flows AS flow WHERE flow.org_id = wanted.org_id AND flow.counterparty_id = wanted.id)`,
          [keys.map(({ organizationId }) => organizationId), keys.map(({ id }) => id)],
        )
        return new Map(rows.map(({ org_id, id }) => [`${org_id} ${id}`, true]))
      },
    }),

    /**
     * The entities that may have a payment link with this one: the partners with the largest flow of each given month, as
     * reported by either end, and those with a payment link now.
     */
    async paymentPartners(
      organizationId: string,
      entityId: string,
      months: readonly FlowMonth[],
    ): Promise<{ id: string; isLinked: boolean }[]> {
      const largest = (from: string, to: string) => `(SELECT ${to} AS id FROM payment_flows AS flow
        WHERE flow.org_id = $1 AND flow.${from} = $2 AND flow.currency = given.currency AND flow.month = given.month
        ORDER BY flow.amount DESC, ${to} LIMIT ${LARGEST_OF_MONTH})`
      const rows = await database.query<{ id: string; is_linked: boolean }>(
        `SELECT id, bool_or(is_linked) AS is_linked FROM (
           SELECT largest.id, false AS is_linked FROM unnest($3::text[], $4::text[]) AS given (currency, month)
           CROSS JOIN LATERAL (${largest('entity_id', 'counterparty_id')} UNION ALL ${largest('counterparty_id', 'entity_id')}) AS largest
           UNION ALL
           (SELECT neighbour_id, true FROM graph_links
            WHERE org_id = $1 AND entity_id = $2 AND (NOT verified) AND (type = 'payment')
            ORDER BY base_ppm DESC LIMIT ${LINKS_UPDATED_MAX})
         ) AS partner GROUP BY id ORDER BY id`,
        [organizationId, entityId, months.map(({ currency }) => currency), months.map(({ month }) => month)],
      )
      return rows.map(({ id, is_linked: isLinked }) => ({ id, isLinked }))
    },

    /** The monthly flows between an entity and each of the others, as reported by either end. */
    async paymentFlows(
      organizationId: string,
      entityId: string,
      otherIds: readonly string[],
    ): Promise<RowOf<'payment_flows'>[]> {
      return database.query<RowOf<'payment_flows'> & Row>(
        `SELECT flow.* FROM unnest($3::text[]) AS other (id) CROSS JOIN LATERAL (
           SELECT * FROM payment_flows WHERE org_id = $1 AND entity_id = $2 AND counterparty_id = other.id
           UNION ALL
           SELECT * FROM payment_flows WHERE org_id = $1 AND entity_id = other.id AND counterparty_id = $2
         ) AS flow`,
        [organizationId, entityId, otherIds],
      )
    },

    /**
     * The time of the newest payment between an entity and each of the others, as reported by either end, without those of its
     * transactions that are named.
     */
    async newestPayments(
      organizationId: string,
      entityId: string,
      otherIds: readonly string[],
      except: readonly TransactionName[],
    ): Promise<Map<string, string>> {
      const newest = (from: string, to: string) => `(SELECT occurred_at FROM transactions
        WHERE org_id = $1 AND entity_id || ' ' || counterparty_entity_id = ${from} || ' ' || ${to} AND counterparty_entity_id IS NOT NULL
          AND void_batch_id IS NULL
          AND NOT (entity_id = $2 AND EXISTS (SELECT 1 FROM unnest($4::text[], $5::text[]) AS named (account, external_id)
            WHERE named.account = transactions.account AND named.external_id = transactions.external_id))
        ORDER BY occurred_at DESC LIMIT 1)`
      const rows = await database.query<{ id: string; newest_at: string | null }>(
        `SELECT other.id, greatest(${newest('$2::text', 'other.id')}, ${newest('other.id', '$2::text')}) AS newest_at
         FROM unnest($3::text[]) AS other (id)`,
        [
          organizationId,
          entityId,
          otherIds,
          except.map(({ account }) => account),
          except.map(({ external_id }) => external_id),
        ],
      )
      return new Map(rows.flatMap(({ id, newest_at }) => (newest_at === null ? [] : [[id, newest_at] as const])))
    },
  }
}
