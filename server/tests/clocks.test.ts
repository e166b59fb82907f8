/** A clock that is set back, as after a correction by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decisionRow } from './decision-row.ts'
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
  const request = { entity_id: entity.id, product: 'marketplace_access' }
  const decision = (await acme.post('/v1/underwrite', request, { 'Idempotency-Key': 'set-back' })).body
  assert.ok(decision.created_at >= granted.created_at, 'the decision is dated before a fact it used')
  const { evidence } = (await acme.get(`/v1/decisions/${decision.id}/replay`)).body
  assert.equal(evidence.feature_snapshot['consent.credit_underwriting'].value, 'granted')
})

test('the latest decision is the last one on the newest facts, whatever the order of ids', async () => {
  const { sandbox } = api.service.installation.stores
  const entity_id = api.service.installation.newId('ent')
  const decide = (id: string, entity_version: number) =>
    sandbox.commit({ organizationId: acme.id, decisions: [decisionRow({ id, entity_id, entity_version })] })
  const latest = async () => (await sandbox.decisions.latest({ organizationId: acme.id, entityId: entity_id }))?.id
  await decide('dec_5', 1)
  await decide('dec_2', 1)
  assert.equal(await latest(), 'dec_2', 'the id of the later one is from a clock that was set back')
  await Promise.all([decide('dec_4', 3), decide('dec_7', 2)])
  assert.equal(await latest(), 'dec_4', 'one batch')
  await decide('dec_9', 2)
  assert.equal(await latest(), 'dec_4', 'a decision on older facts that is committed late')
})

test('exposures are refreshed after the clock is set back', async () => {
  aheadMs = 3_600_000
  const entity = (await acme.post('/v1/entities', { external_id: 'exposed' })).body
  const request = { entity_id: entity.id, product: 'marketplace_access' }
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
