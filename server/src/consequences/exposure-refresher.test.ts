/** Refreshes that share statements have the same effect as single ones; on PGlite and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { entityRow } from '../../tests/entity-row.ts'
import { newOrganizationId } from '../../tests/new-organization.ts'
import { createTestStorage } from '../../tests/test-storage.ts'
import { readConfig } from '../config.ts'
import { openInstallation } from '../installation/installation.ts'
import { ExposureRefresher } from './exposure-refresher.ts'

const place = await createTestStorage()
const nowMs = () => Date.parse('2026-11-15T09:30:00Z')
const installation = await openInstallation(readConfig(place.env), { nowMs })
await installation.storage.migrate()
const store = installation.stores.sandbox
after(async () => {
  await installation.close()
  await place.remove()
})

/** A refresher, and the entities of each batch that it has written. */
function newRefresher() {
  const written: string[][] = []
  const watched: typeof store = {
    ...store,
    graph: {
      ...store.graph,
      writeExposures(rows, parts) {
        written.push(rows.map(({ entity_id }) => entity_id))
        return store.graph.writeExposures(rows, parts)
      },
    },
  }
  return { refresher: new ExposureRefresher({ store: watched, nowMs }), written }
}

/** New entities of an organization, each with a cause that asks for its exposure. */
async function newEntities(organizationId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => installation.newId('ent'))
  await store.commit({
    organizationId,
    newEntities: ids.map((id) => entityRow(id, new Date(nowMs()).toISOString())),
    consequences: ids.map((id) => ({ kind: 'exposure', entity_id: id, mark: `mark ${id}` })),
  })
  return ids
}

const refreshOf = (id: string, near = [id]) => ({ entityId: id, near, mark: `mark ${id}` })

async function queued(organizationId: string): Promise<string[]> {
  const rows = await installation.storage.environments.sandbox.query<{ entity_id: string }>(
    'SELECT entity_id FROM consequences WHERE org_id = $1 ORDER BY entity_id',
    [organizationId],
  )
  return rows.map(({ entity_id }) => entity_id)
}

test('changes that are committed together share one refresh, which ends the causes of all of them', async () => {
  const organizationId = await newOrganizationId(installation)
  const ids = await newEntities(organizationId, 10)
  const { refresher, written } = newRefresher()
  await Promise.all(ids.map((id) => refresher.refresh(organizationId, refreshOf(id))))
  assert.deepEqual(written, [ids])
  assert.deepEqual(await queued(organizationId), [])
})

test('a change that comes while a refresh runs gets one of its own, so that it is seen', async () => {
  const organizationId = await newOrganizationId(installation)
  const [first, second] = (await newEntities(organizationId, 2)) as [string, string]
  const { refresher, written } = newRefresher()
  const running = refresher.refresh(organizationId, refreshOf(first))
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  await Promise.all([running, refresher.refresh(organizationId, refreshOf(second, [second, first]))])
  assert.deepEqual(written, [[first], [second, first]])
})

test('a batch is bounded, and organizations do not wait for each other', async () => {
  const [one, other] = [await newOrganizationId(installation), await newOrganizationId(installation)]
  const [many, few] = [await newEntities(one, 100), await newEntities(other, 1)]
  const { refresher, written } = newRefresher()
  const refreshes = many.map((id) => refresher.refresh(one, refreshOf(id)))
  await refresher.refresh(other, refreshOf(few[0]!))
  await Promise.all(refreshes)
  assert.deepEqual(written.map(({ length }) => length).sort(), [1, 36, 64])
})

test('one that cannot be computed is rejected alone', async () => {
  const organizationId = await newOrganizationId(installation)
  const ids = await newEntities(organizationId, 3)
  const broken = { entity_id: ids[1]!, tallies: 'nonsense', is_adverse: true, version: 1 }
  await store.commit({ organizationId, changedTrackRecords: [broken] })
  const { refresher } = newRefresher()
  const results = await Promise.allSettled(ids.map((id) => refresher.refresh(organizationId, refreshOf(id))))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await queued(organizationId), [ids[1]])
})
