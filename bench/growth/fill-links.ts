import { setTimeout as sleep } from 'node:timers/promises'
import { emptyState } from '../../server/src/core/facts/entity-state.ts'
import { dayOf } from '../../server/src/core/graph/decay.ts'
import { expiryDay, linkOf } from '../../server/src/core/graph/link.ts'
import { tallyOutcome } from '../../server/src/core/graph/track-record.ts'
import type { MeasuredService } from '../load/measured-service.ts'
import type { Sql } from '../load/sandbox-sql.ts'

/** An entity and the number of neighbours it gets. */
export interface Hub {
  entityId: string
  count: number
}

const NEIGHBOUR = "'ent_1' || lpad(n::text, 25, '0')"
/** Every tenth neighbour has defaulted. */
const IS_ADVERSE = 'n % 10 = 1'
const EXPOSURE_WITHIN_MS = 60_000

/** Links each hub with its number of neighbours. All hubs share the same neighbours. */
export async function fillLinks(sql: Sql, hubs: readonly Hub[]): Promise<void> {
  await createNeighbours(sql, hubs[0]!.entityId, Math.max(...hubs.map(({ count }) => count)))
  for (const hub of hubs) await linkWithNeighbours(sql, hub)
}

/** Waits until the service has computed the exposure of each hub. */
export async function untilExposed({ port, key }: MeasuredService, hubs: readonly Hub[]): Promise<void> {
  const deadline = Date.now() + EXPOSURE_WITHIN_MS
  for (const { entityId } of hubs) {
    for (let isExposed = false; !isExposed; await sleep(50)) {
      const headers = { Authorization: `Bearer ${key}` }
      const response = await fetch(`http://127.0.0.1:${port}/v1/entities/${entityId}`, { headers })
      const { trust } = (await response.json()) as { trust: { evidence_count: number } }
      isExposed = trust.evidence_count > 0
      if (!isExposed && Date.now() > deadline) throw new Error('the service did not compute the exposure of the hubs')
    }
  }
}

async function createNeighbours(sql: Sql, hubId: string, count: number): Promise<void> {
  await sql(
    `INSERT INTO entities (org_id, id, external_id, type, metadata, state, version, created_at, updated_at)
     SELECT org_id, ${NEIGHBOUR}, 'neighbour-' || n, 'person', '{}', $3, 1, created_at, updated_at
     FROM entities, generate_series(1, $2::bigint) AS n WHERE id = $1`,
    [hubId, count, JSON.stringify(emptyState())],
  )
  const tallies = tallyOutcome([], { type: 'default', occurredAt: new Date().toISOString() })
  await sql(
    `INSERT INTO graph_track_records (org_id, entity_id, tallies, is_adverse, version)
     SELECT org_id, ${NEIGHBOUR}, $3, true, 1 FROM entities, generate_series(1, $2::bigint) AS n WHERE id = $1 AND ${IS_ADVERSE}`,
    [hubId, count, JSON.stringify(tallies)],
  )
}

async function linkWithNeighbours(sql: Sql, { entityId, count }: Hub): Promise<void> {
  const since = dayOf(new Date().toISOString())
  const link = linkOf({ neighbour: '', type: 'business_partner', verification: 'unverified', since })!
  const values = [link.type, link.verified, link.basePpm, since, expiryDay(link)]
  const ends = [
    { from: '$1', to: NEIGHBOUR, isAdverse: IS_ADVERSE },
    { from: NEIGHBOUR, to: '$1', isAdverse: 'false' },
  ]
  for (const { from, to, isAdverse } of ends) {
    await sql(
      `INSERT INTO graph_links (org_id, entity_id, neighbour_id, type, verified, base_ppm, since, expires, to_adverse)
       SELECT org_id, ${from}, ${to}, $3, $4, $5, $6, $7, ${isAdverse} FROM entities, generate_series(1, $2::bigint) AS n WHERE id = $1`,
      [entityId, count, ...values],
    )
  }
  await sql(
    "INSERT INTO consequences (org_id, kind, entity_id, mark) SELECT org_id, 'exposure', id, 'filled' FROM entities WHERE id = $1",
    [entityId],
  )
}
