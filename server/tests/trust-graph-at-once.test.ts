/** Concurrent assertions have the same effect as sequential ones. */
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

async function assertLink(entityId: string, link: Record<string, unknown>, status = 'verified'): Promise<void> {
  const answer = await acme.post(`/v1/entities/${entityId}/identity-links`, { ...link, verification: { status } })
  assert.equal(answer.status, 201, answer.text)
}

const has = (entityId: string, value: string, status?: string) =>
  assertLink(entityId, { identifier: { type: 'tax_id', value } }, status)

/** The links of each entity: the neighbour, and whether the link is verified. */
async function linksOf(entityIds: readonly string[]): Promise<[string, boolean][][]> {
  const today = Math.floor(Date.now() / 86_400_000)
  const links = await store.graph.followedLinks(acme.id, entityIds, today)
  return entityIds.map((id) =>
    links
      .get(id)!
      .ranked.map(({ neighbour, verified }): [string, boolean] => [neighbour, verified])
      .sort(),
  )
}

test('entities that are given one identifier concurrently, in any spelling, are all linked with each other', async () => {
  const entities = await newEntities(12)
  const spellings = ['33-3333333', '333333333', '33 333 3333', '333-333-333']
  await Promise.all(entities.map((id, n) => has(id, spellings[n % spellings.length]!)))
  const allOthers = entities.map((id) =>
    entities
      .filter((other) => other !== id)
      .map((other) => [other, true])
      .sort(),
  )
  assert.deepEqual(await linksOf(entities), allOthers)
})

test('two concurrent verifications of a shared identifier make a verified link, and a failed one among them removes it', async () => {
  for (const [status, expected] of [
    ['verified', true],
    ['failed', false],
  ] as const) {
    const [one, other] = (await newEntities(2)) as [string, string]
    const value = `44-44444${count}`
    for (const id of [one, other]) await has(id, value, 'unverified')
    await Promise.all([has(one, value), has(other, value.replace('-', ''), status)])
    assert.deepEqual(await linksOf([one, other]), expected ? [[[other, true]], [[one, true]]] : [[], []])
  }
})

test("two entities that are concurrently given each other's identifier are linked by each of the two", async () => {
  const [one, other] = (await newEntities(2)) as [string, string]
  await has(one, '55-5555551', 'unverified')
  await has(other, '55-5555552')
  await Promise.all([has(one, '55-5555552'), has(other, '55-5555551')])
  assert.deepEqual(await linksOf([one, other]), [
    [
      [other, false],
      [other, true],
    ],
    [
      [one, false],
      [one, true],
    ],
  ])
})

test('of concurrent assertions by both ends of a relationship, the stronger holds, unless one of them failed', async () => {
  for (const [status, otherStatus, isLinked] of [
    ['verified', 'unverified', true],
    ['unverified', 'verified', true],
    ['failed', 'verified', false],
  ] as const) {
    const [one, other] = (await newEntities(2)) as [string, string]
    const relate = (from: string, to: string, verification: string) =>
      assertLink(from, { related_entity_id: to, relationship: 'same_as' }, verification)
    await Promise.all([relate(one, other, status), relate(other, one, otherStatus)])
    assert.deepEqual(await linksOf([one, other]), isLinked ? [[[other, true]], [[one, true]]] : [[], []])
  }
})

test('every assertion writes the next version of its claim', async () => {
  const [one, other] = (await newEntities(2)) as [string, string]
  const between = { from: one, to: other, relationship: 'same_as' }
  const versions = async () =>
    (await store.graph.nextRelationshipClaims(acme.id, between)).map(({ version }) => version)
  assert.deepEqual(await versions(), [1])
  await assertLink(one, { related_entity_id: other, relationship: 'same_as' })
  await assertLink(other, { related_entity_id: one, relationship: 'same_as' })
  await assertLink(one, { related_entity_id: other, relationship: 'owner' })
  assert.deepEqual(await versions(), [3])
})

test('an assertion that read its claim before another assertion was committed is not written', async () => {
  const [one, other] = (await newEntities(2)) as [string, string]
  const claim = { from: one, to: other, relationship: 'same_as' }
  const [first, second] = [
    await store.graph.nextRelationshipClaims(acme.id, claim),
    await store.graph.nextRelationshipClaims(acme.id, { ...claim, from: other, to: one }),
  ]
  const answers = await Promise.all([first, second].map((claims) => store.commit({ organizationId: acme.id, claims })))
  assert.deepEqual(answers, [{}, { lost: 'claim_version' }])
})
