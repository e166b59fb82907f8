/** The playground: dry runs that record nothing, what-ifs, personas, two policies, and decisions recorded by an operator. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { signedInOperator } from './console-client.ts'
import { recordPersona } from './record-persona.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox
const viewer = await signedInOperator(api, { organizationId: acme.id, email: 'v@example.com', role: 'viewer' })
const reviewer = await signedInOperator(api, { organizationId: acme.id, email: 'r@example.com', role: 'reviewer' })
const prime = await recordPersona(acme, 'prime')
const recorded = (await acme.get(`/v1/decisions/${prime.id}`)).body
const REQUEST = { product: 'personal_loan', requested_amount: 6000, currency: 'EUR' }

async function dry(input: object) {
  const { status, body } = await viewer.call(`${acme.id}/sandbox/playground.decide`, input)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Counts what a decision writes; heads of the log are announced whenever it is sealed, so they are left out. */
async function rowsWritten(): Promise<number[]> {
  const events = "events WHERE type <> 'audit.checkpoint'"
  const tables = ['decisions', 'document_segments', 'audit_entries', events, 'unchecked_decisions', 'consequences']
  const counts = tables.map((table) => database.query<{ count: number }>(`SELECT count(*) AS count FROM ${table}`))
  return (await Promise.all(counts)).map(([row]) => row!.count)
}

test('a dry run gives the decision that the API gives, by the id of the entity or by the caller’s own', async () => {
  for (const entity_id of [prime.entity_id, 'persona-prime']) {
    const { results, entity_id: found } = await dry({ entity_id, ...REQUEST })
    assert.equal(found, prime.entity_id)
    const { id: _id, request_id: _request, created_at: _at, ...expected } = recorded
    const { id: _dry, request_id: _none, created_at: _now, ...body } = results[0].body
    assert.deepEqual(body, expected)
    assert.equal(results[0].view.verdict, recorded.verdict)
  }
})

test('dry runs and what-ifs record nothing', async () => {
  const store = api.service.installation.stores.sandbox
  await store.drain()
  // The worker still follows up on the recorded decision, and deletes what it has followed up.
  while (await store.consequences.isAny()) await setTimeout(20)
  const before = await rowsWritten()
  await dry({ entity_id: prime.entity_id, ...REQUEST, changes: { 'cashflow.returned_payments': 9 } })
  await dry({ decision_id: prime.id, changes: { 'request.amount': 100_000 } })
  assert.deepEqual(await rowsWritten(), before)
})

test('a changed value flips the verdict where the track of its slider says so', async () => {
  const { results } = await dry({ decision_id: prime.id })
  const [{ sliders }] = results
  assert.equal(sliders[0].feature, 'request.amount')
  assert.ok(sliders.length >= 4, sliders.map(({ feature }: { feature: string }) => feature).join())
  let flips = 0
  for (const { feature, track } of sliders.slice(0, 4))
    for (const { from, to, verdict } of track)
      for (const value of [from, to]) {
        const { results: changed } = await dry({ decision_id: prime.id, changes: { [feature]: value } })
        assert.equal(changed[0].view.verdict, verdict, `${feature} ${value}`)
        if (verdict !== recorded.verdict) flips++
      }
  assert.ok(flips > 0, 'a slider shows another verdict somewhere')
})

test('a dry run about access has no confidence, and no slider for the bank data that it does not look at', async () => {
  const { results } = await dry({ entity_id: prime.entity_id, product: 'marketplace_access' })
  const [{ body, view, sliders }] = results
  assert.equal('confidence' in body, false)
  assert.equal(view.evidence.confidence, null)
  const features: string[] = sliders.map(({ feature }: { feature: string }) => feature)
  assert.ok(features.includes('identity.verified_strong'))
  assert.deepEqual(
    features.filter((feature) => /^(cashflow|request)\./.test(feature)),
    [],
  )
})

test('a what-if changes neither the order nor the ranges of the sliders', async () => {
  type Shown = { feature: string; from: number; to: number; step: number; value: number }
  const shapes = (answer: { results: { sliders: Shown[] }[] }) =>
    answer.results[0]!.sliders.map(({ feature, from, to, step }) => ({ feature, from, to, step }))
  const before = await dry({ decision_id: prime.id })
  for (const { feature, from, to } of shapes(before))
    for (const value of [from, to]) {
      const after = await dry({ decision_id: prime.id, changes: { [feature]: value } })
      assert.deepEqual(shapes(after), shapes(before), `${feature} ${value}`)
      const slider = after.results[0].sliders.find((each: Shown) => each.feature === feature)
      assert.equal(slider.value, value)
    }
})

test('the personas of the policy’s own tests get the verdicts that the tests expect', async () => {
  const { body } = await viewer.call(`${acme.id}/sandbox/playground.show`)
  assert.ok(body.personas.length > 3)
  assert.deepEqual(
    body.policies.map(({ state }: { state: string }) => state),
    ['active'],
  )
  const steady = 'a steady account that can carry the instalment is approved for what it asks'
  assert.ok(body.personas.includes(steady))
  const { results } = await dry({ persona: steady })
  assert.equal(results[0].view.verdict, 'approve')
  const missing = await viewer.call(`${acme.id}/sandbox/playground.decide`, { persona: 'no such persona' })
  assert.equal(missing.status, 404)
})

test('two policies decide the same facts, and an unknown version is refused', async () => {
  const versions = [recorded.policy_version, recorded.policy_version]
  const { results } = await dry({ decision_id: prime.id, policy_versions: versions })
  assert.deepEqual(
    results.map(({ body }: { body: { verdict: string } }) => body.verdict),
    [recorded.verdict, recorded.verdict],
  )
  const refused = await viewer.call(`${acme.id}/sandbox/playground.decide`, {
    decision_id: prime.id,
    policy_versions: ['no-such-policy'],
  })
  assert.equal(refused.status, 404)
})

test('an incomplete or malformed request is refused in words', async () => {
  for (const input of [
    {},
    { entity_id: prime.entity_id },
    { entity_id: prime.entity_id, product: 'p', requested_amount: 5 },
    { entity_id: prime.entity_id, product: 'p', requested_amount: -5, currency: 'EUR' },
    { decision_id: prime.id, changes: { 'request.amount': { nested: true } } },
  ]) {
    const { status } = await viewer.call(`${acme.id}/sandbox/playground.decide`, input)
    assert.equal(status, 400, JSON.stringify(input))
  }
})

test('a reviewer records a decision as the API would, under their own name; a viewer and production cannot', async () => {
  const request = { entity_id: 'persona-prime', ...REQUEST }
  const { status, body } = await reviewer.call(`${acme.id}/sandbox/playground.record`, request)
  assert.equal(status, 200, JSON.stringify(body))
  const { body: replay } = await acme.get(`/v1/decisions/${body.id}/replay`)
  assert.equal(replay.matches, true)
  assert.deepEqual(replay.audit.entry.actor, { type: 'operator', id: reviewer.operatorId })
  assert.equal(replay.decision.verdict, recorded.verdict)
  const { body: byKey } = await acme.post(
    '/v1/underwrite',
    { ...request, entity_id: prime.entity_id },
    {
      'Idempotency-Key': 'same-call',
    },
  )
  const { id: _a, request_id: _b, created_at: _c, ...ofApi } = byKey
  const { id: _d, request_id: _e, created_at: _f, ...ofConsole } = body.decision
  assert.deepEqual(ofConsole, ofApi)
  assert.equal((await viewer.call(`${acme.id}/sandbox/playground.record`, request)).status, 403)
  assert.equal((await reviewer.call(`${acme.id}/production/playground.record`, request)).status, 403)
})
