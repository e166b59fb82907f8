/** An act in the console whose change was not written is neither answered nor kept as done. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Database, DatabaseUnavailable } from '../src/store/database/database.ts'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService({ env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' } })
const { installation } = api.service
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'owner' })
const { control, environments } = installation.storage

/** The connection breaks before the next statement that writes an audit entry arrives: its answer never comes. */
async function whileAnswersAreLost<T>(act: () => Promise<T>): Promise<T> {
  const restores = [environments.sandbox, environments.production].map((database: Database) => {
    const { query } = database
    database.query = (sql, ...rest) => {
      if (!sql.includes('INSERT INTO audit_entries')) return query(sql, ...rest)
      throw new DatabaseUnavailable('connection reset', { endSession: async () => true })
    }
    return () => {
      database.query = query
    }
  })
  return act().finally(() => {
    for (const restore of restores) restore()
  })
}

const entriesOf = async (type: string) => {
  await control.recordQueued()
  const counts = await Promise.all(
    Object.values(environments).map((database) =>
      database.query('SELECT 1 FROM audit_entries WHERE org_id = $1 AND type = $2', [acme.id, type]),
    ),
  )
  return counts.flat().length
}

const decision = await underwrite(acme, await createEntity(acme, 'ent-1'), {
  requested_amount: 1_000,
  currency: 'EUR',
})
const newEndpoint = { url: 'http://127.0.0.1:9/hook', description: '', event_types: 'all' }
const endpoint = await ada.call(`${acme.id}/sandbox/webhooks.add`, newEndpoint)
const newKey = { name: 'Rotated', scopes: ['usage:read'], expires_in_days: null }
const key = await ada.call(`${acme.id}/sandbox/api-keys.create`, newKey)
const { event_id } = (await ada.call(`${acme.id}/sandbox/deliveries.send-test`)).body
const source = sandboxPolicySource().replace(/^version: .*$/m, 'version: lost-v1')
const [active] = (await ada.call(`${acme.id}/sandbox/policies.list`)).body.policies

/** Every kind of act on an environment, with the entry that it makes. */
const acts: [path: string, input: object, entry: string][] = [
  ['api-keys.create', { ...newKey, name: 'Lost' }, 'api_key.created'],
  ['webhooks.add', newEndpoint, 'webhook_endpoint.added'],
  ['deliveries.send-test', {}, 'webhook.test'],
  ['deliveries.redeliver', { endpoint_id: endpoint.body.id, event_id }, 'webhook_endpoint.redelivery'],
  ['webhooks.edit', { id: endpoint.body.id, description: 'Lost', reason: 'A test.' }, 'webhook_endpoint.edited'],
  ['webhooks.disable', { id: endpoint.body.id, reason: 'A test.' }, 'webhook_endpoint.disabled'],
  ['webhooks.remove', { id: endpoint.body.id, reason: 'A test.' }, 'webhook_endpoint.removed'],
  ['api-keys.rotate', { id: key.body.id, grace: 'now', reason: 'A test.' }, 'api_key.rotated'],
  ['cases.add-note', { id: `cas_${decision.id.slice(4)}`, text: 'Called her.' }, 'case.noted'],
  ['policies.propose', { source, reason: 'A test.' }, 'policy.proposed'],
  ['policies.comment', { version: active.version, text: 'Why 550?' }, 'policy.commented'],
  [
    'review-bounds.set',
    { ask_above_percent: 7, refuse_above_times: 3, ask_below_percent: 10, reason: 'A test.' },
    'review_bounds.changed',
  ],
]

for (const [name, input, entry] of acts) {
  test(`${name} is not done while its change is not written, and a retry does it once`, async () => {
    const send = () => ada.call(`${acme.id}/sandbox/${name}`, input, { 'Idempotency-Key': `lost ${name}` })
    const before = await entriesOf(entry)
    const lost = await whileAnswersAreLost(send)
    assert.deepEqual([lost.status, lost.body.error?.code], [503, 'database_unavailable'], JSON.stringify(lost.body))
    const again = await send()
    assert.equal(again.status, 200, JSON.stringify(again.body))
    assert.equal(await entriesOf(entry), before + 1)
  })
}

await ada.call(`${acme.id}/sandbox/team.invite`, { email: 'cleo@example.com', name: 'Cleo', role: 'viewer' })
const cleo = (await ada.call(`${acme.id}/sandbox/team.list`)).body.operators.find(
  ({ email }: { email: string }) => email === 'cleo@example.com',
)

/** Acts on the control database, whose entries are queued there until production's log has them. */
const queuedActs: [path: string, input: object, entry: string][] = [
  [`${acme.id}/sandbox/team.renew-invitation`, { operator_id: cleo.id }, 'operator.invited'],
  ['account/account.set-number-notation', { notation: 'indian' }, 'operator.number_notation_changed'],
]

for (const [path, input, entry] of queuedActs) {
  test(`${path.split('/').at(-1)} that was cut off after its transaction is recorded later, and not repeated`, async () => {
    const send = () => ada.call(path, input, { 'Idempotency-Key': `cut off ${path}` })
    const before = await entriesOf(entry)
    const lost = await whileAnswersAreLost(send)
    assert.deepEqual([lost.status, lost.body.error?.code], [503, 'database_unavailable'])
    const again = await send()
    assert.deepEqual([again.status, again.body.error?.code], [409, 'answer_lost'])
    assert.equal(await entriesOf(entry), before + 1)
  })
}
