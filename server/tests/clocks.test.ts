/** A clock that is set back, as after a correction by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

let aheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + aheadMs })
const acme = await api.newOrganization('Acme')

test('after the clock is set back by an hour, facts and decisions are still dated in their order', async () => {
  aheadMs = 3_600_000
  const entity = (await acme.post('/v1/entities', { external_id: 'set-back' })).body
  const path = `/v1/entities/${entity.id}/consents`
  const revoked = (await acme.post(path, { purpose: 'credit_underwriting', status: 'revoked' })).body
  aheadMs = 0
  const granted = (await acme.post(path, { purpose: 'credit_underwriting' })).body
  assert.ok(granted.granted_at > revoked.revoked_at, 'the later grant is dated after the revocation')
  const request = { entity_id: entity.id, product: 'credit_line' }
  const decision = (await acme.post('/v1/underwrite', request, { 'Idempotency-Key': 'set-back' })).body
  assert.ok(decision.created_at >= granted.created_at, 'the decision is dated before a fact it used')
  const { evidence } = (await acme.get(`/v1/decisions/${decision.id}/replay`)).body
  assert.equal(evidence.feature_snapshot['consent.credit_underwriting'].value, 'granted')
})

test('the latest decision is the last one on the newest facts, whatever the order of ids', async () => {
  const { stores, storage } = api.service.installation
  const decide = (decision_id: string, entity_version: number) =>
    stores.sandbox.commit({
      organizationId: acme.id,
      latestDecisions: [
        {
          entity_id: 'ent_1',
          decision_id,
          entity_version,
          request: '{}',
          verdict: 'decline',
          announced_verdict: 'decline',
        },
      ],
    })
  const latest = async () => {
    const sql = 'SELECT decision_id FROM latest_decisions WHERE org_id = $1'
    return (await storage.environments.sandbox.query(sql, [acme.id])).find((row) => row.decision_id !== undefined)
  }
  await storage.environments.sandbox.query('DELETE FROM latest_decisions WHERE org_id = $1', [acme.id])
  await decide('dec_5', 1)
  await decide('dec_2', 1)
  assert.deepEqual(
    await latest(),
    { decision_id: 'dec_2' },
    'the id of the later one is from a clock that was set back',
  )
  await Promise.all([decide('dec_4', 3), decide('dec_7', 2)])
  assert.deepEqual(await latest(), { decision_id: 'dec_4' }, 'one batch')
  await decide('dec_9', 2)
  assert.deepEqual(await latest(), { decision_id: 'dec_4' }, 'a decision on older facts that is committed late')
})

test('exposures are refreshed after the clock is set back', async () => {
  aheadMs = 3_600_000
  const entity = (await acme.post('/v1/entities', { external_id: 'exposed' })).body
  const request = { entity_id: entity.id, product: 'credit_line' }
  const report = async (name: string, type: string) => {
    const { id, created_at } = (await acme.post('/v1/underwrite', request, { 'Idempotency-Key': name })).body
    const outcome = { type, occurred_at: created_at }
    assert.equal((await acme.post(`/v1/decisions/${id}/outcomes`, outcome)).status, 201)
    return (await acme.get(`/v1/entities/${entity.id}`)).body.trust
  }
  const before = await report('exposed-1', 'current')
  aheadMs = 0
  assert.notDeepEqual(await report('exposed-2', 'fraud_confirmed'), before)
})
