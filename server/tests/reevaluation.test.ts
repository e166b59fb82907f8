/** Re-evaluation of an entity's latest decision when new facts would change its verdict. */
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

/** An applicant with good transactions, whom the sandbox policy approves once two identifiers are verified. */
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

/** The re-evaluations announced for an entity, once the worker has drained its backlog. */
async function announcements(id: string) {
  await worker.drain()
  const rows = await database.query<{ data: string }>(
    "SELECT data FROM audit_entries WHERE type = 'decision.reevaluation_due' AND data LIKE $1 ORDER BY id",
    [`%${id}%`],
  )
  return rows.map(({ data }) => JSON.parse(data))
}

test('a changed verdict is announced once for each change, not once for each new fact', async () => {
  const id = await newApplicant('changed', { government_id: 'changed-1', bank_account: 'changed-2' })
  assert.equal((await decideOn(id)).body.verdict, 'approve')
  const changes = async () =>
    (await announcements(id)).map(({ previous_verdict, current_verdict }) => [previous_verdict, current_verdict])
  assert.deepEqual(await changes(), [], 'nothing has changed yet')

  await revokeConsent(id)
  const changed = [['approve', 'manual_review']]
  assert.deepEqual(await changes(), changed)
  await revokeConsent(id)
  await acme.post(`/v1/entities/${id}/feature-snapshots`, {
    source: 's',
    as_of: '2026-11-01T00:00:00Z',
    features: { x: 1 },
  })
  assert.deepEqual(await changes(), changed, 'more facts with the same verdict announce nothing')

  await acme.post(`/v1/entities/${id}/consents`, { purpose: 'credit_underwriting' })
  assert.deepEqual(await changes(), [...changed, ['manual_review', 'approve']])
  const trail = await acme.get(`/v1/entities/${id}/audit-trail`)
  assert.equal(trail.body.data.filter(({ type }: { type: string }) => type === 'decision.reevaluation_due').length, 2)
})

test('a fact that is recorded concurrently with the first decision is not missed', async () => {
  const decidedBefore: string[] = []
  for (let n = 0; n < 8; n++) {
    const id = await newApplicant(`concurrent-${n}`, { government_id: `concurrent-${n}` })
    const [decided] = await Promise.all([decideOn(id), revokeConsent(id)])
    if (decided.body.verdict !== 'manual_review') decidedBefore.push(id)
  }
  for (const id of decidedBefore) assert.equal((await announcements(id)).length, 1)
})

test('an outcome of one entity changes the verdict of its neighbour', async () => {
  const id = await newApplicant('neighbour', { government_id: 'neighbour-1', tax_id: '33-3333333' })
  const decided = await decideOn(id)
  assert.equal(decided.body.verdict, 'approve')
  const other = await newApplicant('other', { tax_id: '33-3333333' })
  const { body: theirs } = await decideOn(other)
  const outcome = { type: 'default', occurred_at: new Date().toISOString() }
  assert.equal((await acme.post(`/v1/decisions/${theirs.id}/outcomes`, outcome)).status, 201)

  const [{ decision_id, decided_verdict, current_verdict }] = await announcements(id)
  assert.deepEqual([decision_id, decided_verdict], [decided.body.id, 'approve'])
  assert.notEqual(current_verdict, 'approve')
})

/** How much the applicant could get at most, of more than is lent. */
async function limitOf(id: string): Promise<number> {
  const asked = { entity_id: id, ...prime!.underwrite, requested_amount: 1e6 }
  return (await acme.post('/v1/underwrite', asked, { 'Idempotency-Key': `${id}-limit` })).body.recommended_limit
}

function fund(decision: { id: string }, amount: number) {
  const outcome = { type: 'funded', occurred_at: new Date().toISOString(), amount, currency: 'EUR' }
  return acme.post(`/v1/decisions/${decision.id}/outcomes`, outcome)
}

test('a loan that is paid out does not turn its own decision, in any number of draws', async () => {
  const limit = await limitOf(
    await newApplicant('measured', { government_id: 'measured-1', bank_account: 'measured-2' }),
  )
  const id = await newApplicant('drawn', { government_id: 'drawn-1', bank_account: 'drawn-2' })
  const asked = { entity_id: id, ...prime!.underwrite, requested_amount: limit }
  const { body: decision } = await acme.post('/v1/underwrite', asked, { 'Idempotency-Key': 'drawn' })
  assert.deepEqual([decision.verdict, decision.recommended_limit], ['approve', limit])
  for (const draw of [limit / 2, limit / 4, limit / 4]) assert.equal((await fund(decision, draw)).status, 201)
  assert.deepEqual(await announcements(id), [])
  await fund(decision, limit * 2)
  assert.deepEqual(await announcements(id), [], 'not even a draw beyond the limit')
})
