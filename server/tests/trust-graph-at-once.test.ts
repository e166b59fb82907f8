/** What is told at the same moment counts as if it had been told one after another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const store = api.service.installation.stores.sandbox

let count = 0
async function newEntities(number: number): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: number }, () => acme.post('/v1/entities', { external_id: `at-once-${count++}` })),
  )
  return answers.map(({ body }) => body.id)
}

async function state(entityId: string, link: Record<string, unknown>, status = 'verified'): Promise<void> {
  const answer = await acme.post(`/v1/entities/${entityId}/identity-links`, { ...link, verification: { status } })
  assert.equal(answer.status, 201, answer.text)
}

const has = (entityId: string, value: string, status?: string) =>
  state(entityId, { identifier: { type: 'tax_id', value } }, status)

/** The links of each entity: to whom, and whether they are verified. */
async function linksOf(entityIds: readonly string[]): Promise<[string, boolean][][]> {
  const today = Math.floor(Date.now() / 86_400_000)
  const links = await store.followedLinks(acme.id, entityIds, today)
  return entityIds.map((id) =>
    links
      .get(id)!
      .ranked.map(({ neighbour, verified }): [string, boolean] => [neighbour, verified])
      .sort(),
  )
}

test('all who state one identifier at once are linked with each other, however they write it', async () => {
  const entities = await newEntities(12)
  const spellings = ['33-3333333', '333333333', '33 333 3333', '333-333-333']
  await Promise.all(entities.map((id, n) => has(id, spellings[n % spellings.length]!)))
  const everyone = entities.map((id) =>
    entities
      .filter((other) => other !== id)
      .map((other) => [other, true])
      .sort(),
  )
  assert.deepEqual(await linksOf(entities), everyone)
})

test('two who verify what they share at once have a verified link, and two of whom one fails it have none', async () => {
  for (const [verdict, expected] of [
    ['verified', true],
    ['failed', false],
  ] as const) {
    const [one, other] = (await newEntities(2)) as [string, string]
    const value = `44-44444${count}`
    for (const id of [one, other]) await has(id, value, 'unverified')
    await Promise.all([has(one, value), has(other, value.replace('-', ''), verdict)])
    assert.deepEqual(await linksOf([one, other]), expected ? [[[other, true]], [[one, true]]] : [[], []])
  }
})

test('what two share besides is not overlooked when each states another identifier at once', async () => {
  const [one, other] = (await newEntities(2)) as [string, string]
  await has(one, '55-5555551', 'unverified')
  await has(other, '55-5555552')
  await Promise.all([has(one, '55-5555552'), has(other, '55-5555551')])
  assert.deepEqual(await linksOf([one, other]), [[[other, true]], [[one, true]]])
})

test('of a relationship that both ends state at once, the stronger word holds', async () => {
  for (const [word, otherWord] of [
    ['verified', 'unverified'],
    ['unverified', 'verified'],
    ['failed', 'verified'],
  ]) {
    const [one, other] = (await newEntities(2)) as [string, string]
    const relate = (from: string, to: string, status: string) =>
      state(from, { related_entity_id: to, relationship: 'same_as' }, status)
    await Promise.all([relate(one, other, word!), relate(other, one, otherWord!)])
    assert.deepEqual(await linksOf([one, other]), [[[other, true]], [[one, true]]])
  }
})

test('every statement takes the next version of what it speaks of', async () => {
  const [one, other] = (await newEntities(2)) as [string, string]
  const between = { from: one, to: other, relationship: 'same_as' }
  const versions = async () => (await store.nextRelationshipClaims(acme.id, between)).map(({ version }) => version)
  assert.deepEqual(await versions(), [1])
  await state(one, { related_entity_id: other, relationship: 'same_as' })
  await state(other, { related_entity_id: one, relationship: 'same_as' })
  await state(one, { related_entity_id: other, relationship: 'owner' })
  assert.deepEqual(await versions(), [3])
})

test('a statement made with what was read before another of the same claim is not written', async () => {
  const [one, other] = (await newEntities(2)) as [string, string]
  const claim = { from: one, to: other, relationship: 'same_as' }
  const [first, second] = [
    await store.nextRelationshipClaims(acme.id, claim),
    await store.nextRelationshipClaims(acme.id, { ...claim, from: other, to: one }),
  ]
  const answers = await Promise.all([first, second].map((claims) => store.commit({ claims })))
  assert.deepEqual(answers, [{}, { lost: 'claim_version' }])
})
