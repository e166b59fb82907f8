import { batchedRead } from './batched-read.ts'
import type { Database, Row } from './database.ts'
import { columnsOf, type RowOf } from './tables.ts'

/** An entity with everything that is kept of it, and what the trust graph says about it (null: nothing yet). */
export type EntityRow = RowOf<'entities'> & { graph: string | null; trust: string | null }

const COLUMNS = columnsOf('entities')
  .map((column) => `entities.${column}`)
  .join(', ')

/** Reads of entities; those on hot paths share their round trips. */
export function entityQueries(database: Database) {
  return {
    /** The entity of that id, if the organization has it. */
    entity: batchedRead<{ organizationId: string; id: string }, EntityRow>({
      keyText: ({ organizationId, id }) => `${organizationId} ${id}`,
      load: (keys) =>
        readBy(
          database,
          'id',
          keys.map(({ organizationId, id }) => [organizationId, id]),
        ),
    }),

    /** The entity of that caller-side id, if the organization has it. */
    entityByExternalId: batchedRead<{ organizationId: string; externalId: string }, EntityRow>({
      keyText: ({ organizationId, externalId }) => `${organizationId} ${externalId}`,
      load: (keys) =>
        readBy(
          database,
          'external_id',
          keys.map(({ organizationId, externalId }) => [organizationId, externalId]),
        ),
    }),

    /** Which of these transactions the entity already has. */
    async knownTransactions(
      organizationId: string,
      entityId: string,
      externalIds: readonly string[],
    ): Promise<Set<string>> {
      const rows = await database.query<{ external_id: string }>(
        // One look-up for each: a list to filter by would let the planner read all the entity ever had.
        `SELECT sent.external_id FROM unnest($3::text[]) AS sent (external_id) CROSS JOIN LATERAL (
           SELECT 1 FROM transactions WHERE org_id = $1 AND entity_id = $2 AND external_id = sent.external_id LIMIT 1) AS known`,
        [organizationId, entityId, externalIds],
      )
      return new Set(rows.map((row) => row.external_id))
    },
  }
}

async function readBy(
  database: Database,
  column: 'id' | 'external_id',
  keys: readonly (readonly [string, string])[],
): Promise<Map<string, EntityRow>> {
  const rows = await database.query<EntityRow & Row>(
    `SELECT ${COLUMNS}, exposure.summary AS graph, exposure.trust FROM entities
     JOIN unnest($1::text[], $2::text[]) AS wanted (org_id, key) ON entities.org_id = wanted.org_id AND entities.${column} = wanted.key
     LEFT JOIN graph_exposures AS exposure ON exposure.org_id = entities.org_id AND exposure.entity_id = entities.id`,
    [keys.map(([organizationId]) => organizationId), keys.map(([, key]) => key)],
  )
  return new Map(rows.map((row) => [`${row.org_id} ${row[column]}`, row]))
}
