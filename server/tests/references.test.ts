/** The caller's own name for a request: it comes back, has no part in the verdict, and the log has only its keyed hash. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REQUESTS_COUNTED_MAX } from '../src/core/facts/velocity-facts.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { sealedReplay } from './sealed-replay.ts'
import { tamper } from './tamper.ts'
import { startTestService, type TestOrganization } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const { installation } = api.service
const database = installation.storage.environments.sandbox

let keys = 0
async function underwrite(request: object, organization: TestOrganization = acme) {
  const { body: entity } = await organization.post('/v1/entities', { external_id: `reference-${keys++}` })
  const body = { entity_id: entity.id, product: 'credit_line', requested_amount: 100, currency: 'EUR', ...request }
  return organization.post('/v1/underwrite', body, { 'Idempotency-Key': `reference-${keys++}` })
}

async function decide(request: object, organization: TestOrganization = acme) {
  const { status, body, text } = await underwrite(request, organization)
  assert.equal(status, 201, text)
  return body
}

/** The stored entry of a decision: its data as the API shows it, and everything that its row has as text. */
async function entryOf(decision: { id: string }, { id, get }: TestOrganization = acme) {
  const [row] = await database.query<{ subject_id: string; trail_id: string }>(
    `SELECT * FROM audit_entries WHERE org_id = $1 AND subject_id = $2`,
    [id, decision.id],
  )
  const trail = await get(`/v1/entities/${row!.trail_id}/audit-trail`)
  const entry = trail.body.data.find(({ subject }: { subject: { id: string } }) => subject.id === decision.id)
  return { data: entry.data, texts: JSON.stringify([row, trail.body]) }
}

test('a reference comes back with the decision, and only if it was sent', async () => {
  const reference = 'Branch.7/application:8841_b-2'
  const decision = await decide({ reference })
  assert.equal(decision.reference, reference)
  assert.deepEqual((await acme.get(`/v1/decisions/${decision.id}`)).body, decision)
  assert.deepEqual((await acme.get(`/v1/decisions/${decision.id}/replay`)).body.decision, decision)

  const without = await decide({})
  const { reference: _, ...fields } = decision
  assert.deepEqual(Object.keys(without), Object.keys(fields))
  assert.equal('reference_hash' in (await entryOf(without)).data, false)
})

test('a retry that names the request differently is another request', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'retried' })
  const ask = (reference: string) =>
    acme.post(
      '/v1/underwrite',
      { entity_id: entity.id, product: 'platform_access', reference },
      { 'Idempotency-Key': 'named' },
    )
  const first = await ask('a-1')
  assert.deepEqual([(await ask('a-1')).text, first.status], [first.text, 201])
  assert.equal((await ask('a-2')).body.error.code, 'idempotency_key_reused')
})

test('a reference has no part in the verdict', async () => {
  const evidence = async (decision: { id: string }) => {
    const { body } = await acme.get(`/v1/decisions/${decision.id}/replay`)
    return { ...body.evidence, request: { ...body.evidence.request, 'request.hash': null } }
  }
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'no-part' })
  // From here on, another request before it is not counted, so that it makes no difference.
  for (let count = 0; count < REQUESTS_COUNTED_MAX; count++) await decide({ entity_id: entity.id })
  const [one, other] = [
    await decide({ entity_id: entity.id, reference: 'a' }),
    await decide({ entity_id: entity.id, reference: 'b' }),
  ]
  assert.deepEqual(await evidence(one), await evidence(other))
})

test('a reference of another form is refused, with what it may be', async () => {
  for (const reference of ['', 'a b', 'ä', 'a\n', 'x'.repeat(129), 'a@example.com', 5, null]) {
    const { status, body } = await underwrite({ reference })
    assert.deepEqual([status, body.error.param], [400, '/reference'], JSON.stringify(reference))
  }
  assert.match((await underwrite({ reference: 'a b' })).body.error.message, /1 to 128 letters, digits/)
  assert.equal((await decide({ reference: 'x'.repeat(128) })).reference.length, 128)
})

test('the log has the keyed hash of a reference, which differs between organizations, and never the reference', async () => {
  const globex = await api.newOrganization()
  const [one, again, other] = [
    await decide({ reference: 'secret-reference' }),
    await decide({ reference: 'secret-reference' }),
    await decide({ reference: 'secret-reference' }, globex),
  ]
  const [entry, same, foreign] = [await entryOf(one), await entryOf(again), await entryOf(other, globex)]
  assert.match(entry.data.reference_hash, /^[0-9a-f]{64}$/)
  assert.equal(same.data.reference_hash, entry.data.reference_hash)
  assert.notEqual(foreign.data.reference_hash, entry.data.reference_hash)
  for (const { texts } of [entry, same, foreign]) assert.ok(!texts.includes('secret-reference'))
  assert.equal((await sealedReplay(acme, one.id)).body.matches, true)
})

test('the entry of a re-evaluation names the decision, and not its reference', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'reevaluated' })
  const decision = await decide({ entity_id: entity.id, reference: 'secret-reference' })
  const fraud = { type: 'fraud_confirmed', occurred_at: new Date().toISOString() }
  await acme.post(`/v1/decisions/${decision.id}/outcomes`, fraud)
  await newConsequenceWorker(installation).drain()
  const { body } = await acme.get(`/v1/entities/${entity.id}/audit-trail`)
  const types = body.data.map(({ type }: { type: string }) => type)
  assert.deepEqual(types.slice(0, 2), ['decision.reevaluation_due', 'decision.outcome_recorded'])
  assert.ok(!JSON.stringify(body).includes('secret-reference'))
})

test('a replay names a reference that was altered in its column', async () => {
  for (const [request, altered, recorded] of [
    [{ reference: 'a-1' }, 'a-2', 'a-1'],
    [{ reference: 'a-1' }, null, 'a-1'],
    [{}, 'a-2', null],
  ] as const) {
    const { id } = await decide(request)
    await tamper(database, 'UPDATE decisions SET reference = $2 WHERE id = $1', [id, altered])
    const { matches, differences } = (await acme.get(`/v1/decisions/${id}/replay`)).body
    assert.equal(matches, false)
    assert.deepEqual(differences, [{ path: '/columns/reference', recorded, replayed: altered }])
  }
})
