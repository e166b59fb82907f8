/** When new facts would turn the verdict of an entity's latest decision. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newConsequenceWorker } from './consequence-worker.ts'
import { personas } from './personas.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const { installation } = api.service
const database = installation.storage.environments.sandbox
const worker = newConsequenceWorker(installation)
const [prime] = personas(new Date().toISOString())

async function identify(id: string, type: string, value: string): Promise<void> {
  const link = { identifier: { type, value }, verification: { status: 'verified' } }
  assert.equal((await acme.post(`/v1/entities/${id}/identity-links`, link)).status, 201)
}

/** Somebody with a good account, whom the sandbox policy approves once two identifiers are verified. */
async function newApplicant(name: string, identifiers: Record<string, string>): Promise<string> {
  const { id } = (await acme.post('/v1/entities', { ...prime!.entity, external_id: name })).body
  for (const consent of prime!.consents) await acme.post(`/v1/entities/${id}/consents`, consent)
  for (const [type, value] of Object.entries(identifiers)) await identify(id, type, value)
  const account = { transactions: prime!.transactions }
  await acme.post(`/v1/entities/${id}/transactions`, account, { 'Idempotency-Key': `${name}-account` })
  return id
}

function decideOn(id: string) {
  return acme.post('/v1/underwrite', { entity_id: id, ...prime!.underwrite }, { 'Idempotency-Key': `${id}-decision` })
}

function revokeConsent(id: string) {
  return acme.post(`/v1/entities/${id}/consents`, { purpose: 'credit_underwriting', status: 'revoked' })
}

/** What was announced about an entity, once everything has been followed up. */
async function announcements(id: string) {
  await worker.drain()
  const rows = await database.query<{ data: string }>(
    "SELECT data FROM events WHERE type = 'decision.reevaluation_due' AND data LIKE $1 ORDER BY id",
    [`%${id}%`],
  )
  return rows.map(({ data }) => JSON.parse(data))
}

test('a verdict that new facts turn is announced once per turn, not once per fact', async () => {
  const id = await newApplicant('turned', { government_id: 'turned-1', bank_account: 'turned-2' })
  assert.equal((await decideOn(id)).body.verdict, 'approve')
  const turns = async () =>
    (await announcements(id)).map(({ previous_verdict, current_verdict }) => [previous_verdict, current_verdict])
  assert.deepEqual(await turns(), [], 'nothing has turned yet')

  await revokeConsent(id)
  const turned = [['approve', 'manual_review']]
  assert.deepEqual(await turns(), turned)
  await revokeConsent(id)
  await acme.post(`/v1/entities/${id}/feature-snapshots`, {
    source: 's',
    as_of: '2026-11-01T00:00:00Z',
    features: { x: 1 },
  })
  assert.deepEqual(await turns(), turned, 'more facts of the same kind are no news')

  await acme.post(`/v1/entities/${id}/consents`, { purpose: 'credit_underwriting' })
  assert.deepEqual(await turns(), [...turned, ['manual_review', 'approve']])
  const trail = await acme.get(`/v1/entities/${id}/audit-trail`)
  assert.equal(trail.body.data.filter(({ type }: { type: string }) => type === 'decision.reevaluation_due').length, 2)
})

test('a fact that is recorded in the same moment as the first decision is not overlooked', async () => {
  const turned: string[] = []
  for (let n = 0; n < 8; n++) {
    const id = await newApplicant(`moment-${n}`, { government_id: `moment-${n}` })
    const [decided] = await Promise.all([decideOn(id), revokeConsent(id)])
    if (decided.body.verdict !== 'manual_review') turned.push(id)
  }
  for (const id of turned) assert.equal((await announcements(id)).length, 1)
})

test('an outcome in the neighbourhood turns the verdict of a neighbour', async () => {
  const id = await newApplicant('neighbour', { government_id: 'neighbour-1', tax_id: '33-3333333' })
  const decided = await decideOn(id)
  assert.equal(decided.body.verdict, 'approve')
  const other = await newApplicant('other', { tax_id: '33-3333333' })
  const { body: theirs } = await decideOn(other)
  const outcome = { type: 'default', occurred_at: '2026-11-01T00:00:00Z' }
  assert.equal((await acme.post(`/v1/decisions/${theirs.id}/outcomes`, outcome)).status, 201)

  const [{ decision_id, decided_verdict, current_verdict }] = await announcements(id)
  assert.deepEqual([decision_id, decided_verdict], [decided.body.id, 'approve'])
  assert.notEqual(current_verdict, 'approve')
})
