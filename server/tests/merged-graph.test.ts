/** In the trust graph, merged entities are one node, whatever is recorded about any of them and in any order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, openMergingWorld } from './merging-world.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService({ nowMs: () => Date.parse(NOW) })
const store = api.service.installation.stores.sandbox

/** Gives an entity so many verified links that all others are beyond the fan-out. */
async function surround(organizationId: string, id: string): Promise<void> {
  const link = { type: 'same_as', verified: true, base_ppm: 900_000, since: 20_000, expires: 30_000, claim: '' }
  const neighbours = Array.from({ length: 42 }, (_, n) => `${id}-neighbour-${n}`)
  await store.commit({
    organizationId,
    links: neighbours.flatMap((other) => [
      { ...link, entity_id: id, neighbour_id: other, to_adverse: false },
      { ...link, entity_id: other, neighbour_id: id, to_adverse: false },
    ]),
  })
}

test('a new link of a merged entity does not hide the bad outcomes of the other from those that know it', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x, y] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity(), world.newEntity()])
  await world.identify(b, 'phone', '+49 30 7654321')
  await world.identify(x, 'phone', '+49 30 7654321')
  await surround(world.organizationId, x)
  await world.merge(a, b)
  await world.report(a, 'default')
  await world.drain()
  const { negativeExposure } = await world.exposureOf(x)
  assert.ok(negativeExposure > 0.2, String(negativeExposure))
  await world.identify(y, 'email', 'shared@example.com')
  await world.identify(b, 'email', 'shared@example.com')
  await world.identify(x, 'device', 'laptop')
  await world.identify(y, 'device', 'laptop')
  await world.drain()
  assert.deepEqual(await world.marksOf(x, b), [true])
  assert.equal((await world.exposureOf(x)).negativeExposure, negativeExposure)
})

test('a link to an entity that is merged with one with bad outcomes is marked from the start', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x, y] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity(), world.newEntity()])
  await world.merge(a, b)
  await world.report(a, 'default')
  await world.drain()
  await world.identify(b, 'email', 'b@example.com')
  await world.identify(x, 'email', 'b@example.com')
  await world.post(`/v1/entities/${y}/transactions`, {
    transactions: [
      {
        external_id: 'payment',
        occurred_at: NOW,
        amount: 500,
        currency: 'EUR',
        direction: 'debit',
        counterparty: { entity_id: b },
      },
    ],
  })
  assert.deepEqual([await world.marksOf(x, b), await world.marksOf(b, x)], [[true], [false]])
  assert.deepEqual([await world.marksOf(y, b), await world.marksOf(b, y)], [[true], [false]])
})
