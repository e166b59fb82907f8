import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { eraseEntity } from '../src/admin/erase-entity.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { activatePolicy, approvePolicy, proposePolicy } from '../src/admin/manage-policies.ts'
import { addEndpoint } from '../src/admin/manage-webhooks.ts'
import { mergeEntities } from '../src/admin/merge-entities.ts'
import { retractOutcome } from '../src/admin/retract-outcome.ts'
import { EVENT_TYPES } from '../src/core/webhooks/event-types.ts'
import type { Role } from '../src/store/control/operators.ts'
import { byOperator, byService } from './acts.ts'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { personas } from './personas.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'
import { startReceiver, until } from './webhook-receiver.ts'

const api = await startTestService({ env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' } })
const { installation } = api.service
const acme = await api.newOrganization()
const receiver = await startReceiver()
after(() => receiver.close())
const receiverOfAll = await startReceiver()
after(() => receiverOfAll.close())
for (const [url, eventTypes] of [
  [receiver.url, EVENT_TYPES],
  [receiverOfAll.url, 'all'],
] as const) {
  await addEndpoint(installation, byService(acme.id), { url, description: '', eventTypes })
}
// If a head was announced before there was an endpoint, the next announcement would be due in a minute.
await installation.storage.environments.sandbox.query('DELETE FROM audit_announced WHERE org_id = $1', [acme.id])

interface Described {
  webhooks: Record<string, { post: { requestBody: { content: { 'application/json': { schema: { $ref: string } } } } } }>
  components: { schemas: Record<string, { properties: { data: { properties: object } } }> }
}
const description = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as Described
const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
;(addFormats as unknown as typeof addFormats.default)(ajv)
ajv.addSchema(description, 'openapi.json')

test('every type of event is sent when its cause occurs, in the shape that openapi.json describes', async () => {
  const [prime] = personas(new Date().toISOString())
  const post = async (path: string, body: unknown) => {
    const answer = await acme.post(path, body, { 'Idempotency-Key': `${path} ${JSON.stringify(body)}`.slice(0, 200) })
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  const { id: other } = await post('/v1/entities', { external_id: 'other' })
  const { id: entity } = await post('/v1/entities', { ...prime!.entity, external_id: 'all-of-them' })
  const path = `/v1/entities/${entity}`
  await post('/v1/entities', { external_id: 'all-of-them', metadata: { a: 'b' } })
  await post(`${path}/identity-links`, {
    related_entity_id: other,
    relationship: 'owner',
    verification: { status: 'unverified' },
  })
  for (const link of prime!.identityLinks) await post(`${path}/identity-links`, link)
  for (const consent of prime!.consents) await post(`${path}/consents`, consent)
  await post(`${path}/transactions`, { transactions: prime!.transactions })
  const [first] = prime!.transactions
  await post(`${path}/transactions`, { transactions: [{ corrects: true, ...first, description: 'Corrected' }] })
  await post(`${path}/feature-snapshots`, { source: 's', as_of: '2026-01-01T00:00:00Z', features: { a: 1 } })
  const decision = await post('/v1/underwrite', { entity_id: entity, ...prime!.underwrite, reference: 'application-1' })
  assert.equal(decision.verdict, 'approve')
  await post(`/v1/decisions/${decision.id}/reviews`, { verdict: 'decline', reviewer: { id: 'u-1' }, reason: 'No.' })
  await post(`${path}/consents`, { purpose: 'credit_underwriting', status: 'revoked' })
  const happened = { type: 'current', occurred_at: new Date().toISOString() }
  await retract((await post(`/v1/decisions/${decision.id}/outcomes`, happened)).id)
  await api.request('sandbox', '/v1/webhook-test', { method: 'POST', key: acme.keys.sandbox })
  await activateAnotherPolicy()
  const waiting = { entity_id: other, product: 'personal_loan', requested_amount: 500, currency: 'EUR' }
  await signAboveTheLimit((await post('/v1/underwrite', { ...waiting, reference: 'application-1' })).id)
  await mergeAndErase()

  const types = () => new Set(receiver.received.map(({ event }) => event.type))
  await until('all types are received', () => EVENT_TYPES.every((type) => types().has(type))).catch(() =>
    assert.deepEqual([...types()].sort(), [...EVENT_TYPES].sort()),
  )
  const others = EVENT_TYPES.filter((type) => type !== 'audit.checkpoint')
  const typesOfAll = () => new Set(receiverOfAll.received.map(({ event }) => event.type))
  await until('all other types are received', () => others.every((type) => typesOfAll().has(type)))
  assert.deepEqual([...typesOfAll()].sort(), others.toSorted(), 'a checkpoint goes only to endpoints that name it')
  const { id: endpointId } = (await installation.stores.sandbox.webhooks.endpoints(acme.id))[0]!
  for (const { event } of receiver.received) {
    const named = { organizationId: acme.id, endpointId, eventId: event.id }
    const delivery = await installation.stores.sandbox.deliveries.find(named)
    assert.deepEqual(JSON.parse(delivery!.data), event.data, 'operators see what was sent')
    const { $ref } = description.webhooks[event.type]!.post.requestBody.content['application/json'].schema
    const validate = ajv.compile({ $ref: `openapi.json${$ref}` })
    assert.ok(validate(event), `${event.type}: ${JSON.stringify(validate.errors)} ${JSON.stringify(event)}`)
    const { data } = description.components.schemas[$ref.split('/').at(-1)!]!.properties
    const isOfDecision = event.type.startsWith('decision.')
    assert.equal(event.data.reference, isOfDecision ? 'application-1' : undefined, event.type)
    for (const name of Object.keys(event.data)) assert.ok(name in data.properties, `${event.type} has ${name}`)
  }
})

async function retract(outcomeId: string): Promise<void> {
  for (const email of ['first@example.com', 'second@example.com']) {
    await retractOutcome(installation, await actAs(email, 'reviewer'), outcomeId)
  }
}

async function actAs(email: string, role: Role) {
  const operator = await addOperator(installation, byService(acme.id), { email, name: email, role })
  return byOperator(operator)
}

/** Approves the only request of a case above the limit of its reviewer, so that a second person has to sign. */
async function signAboveTheLimit(decisionId: string): Promise<void> {
  const person = (role: Role) =>
    signedInOperator(api, { organizationId: acme.id, email: `limited-${role}@example.com`, role })
  const [owner, reviewer] = [await person('owner'), await person('reviewer')]
  const ask = async (who: ConsoleClient, name: string, input: object) => {
    const { status, body } = await who.call(`${acme.id}/sandbox/${name}`, { reason: 'Seen.', ...input })
    assert.equal(status, 200, JSON.stringify(body))
  }
  const holder = { type: 'role', id: 'reviewer' }
  await ask(owner, 'approval-limits.set', {
    limits: [{ holder, product: null, currency: 'EUR', alone: 100, second: null }],
  })
  await ask(reviewer, 'cases.decide', {
    id: `cas_${decisionId.slice(4)}`,
    total_confirmed: true,
    verdicts: [{ decision_id: decisionId, verdict: 'approve', recommended_limit: 500, excess_confirmed: true }],
  })
}

async function mergeAndErase(): Promise<void> {
  const created = ['first-duplicate', 'second-duplicate', 'to-be-erased'].map((name) =>
    acme.post('/v1/entities', { external_id: name }),
  )
  const [entity, other, erased] = (await Promise.all(created)).map(({ body }) => body.id as string)
  for (const [email, move] of [
    ['ada@example.com', 'propose'],
    ['grace@example.com', 'approve'],
  ] as const) {
    const operator = { ...(await actAs(email, 'admin')), reason: 'Asked for.' }
    await mergeEntities(installation, operator, { entity: entity!, other: other! })
    await eraseEntity(installation, operator, { entity: erased!, move })
  }
}

async function activateAnotherPolicy(): Promise<void> {
  const version = 'another-policy'
  const author = await actAs('author@example.com', 'policy_author')
  const approver = await actAs('approver@example.com', 'policy_approver')
  const source = sandboxPolicySource().replace('version: sandbox-policy-v1', `version: ${version}`)
  await proposePolicy(installation, author, source)
  await approvePolicy(installation, approver, { version })
  await activatePolicy(installation, approver, version)
}
