/** What an operator does in the console is on the audit log under the id of the request, as the server's log has it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '../src/admin/manage-keys.ts'
import { ENVIRONMENTS } from '../src/config.ts'
import { activateDocument } from './activate-document.ts'
import { byOsUser } from './acts.ts'
import { Authenticator } from './authenticator.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { sandboxPolicy } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const api = await startTestService()
const { installation } = api.service
const acme = await api.newOrganization('Acme')

interface Entry extends Record<string, unknown> {
  id: string
  type: string
  actor_type: string
  request_id: string | null
}

async function entriesOf(organizationId: string): Promise<Entry[]> {
  const found = ENVIRONMENTS.map((name) =>
    installation.storage.environments[name].query<Entry>(
      'SELECT id, type, actor_type, request_id FROM audit_entries WHERE org_id = $1',
      [organizationId],
    ),
  )
  return (await Promise.all(found)).flat()
}

test('entries about people, sessions, two-factor, keys, endpoints, deliveries and the gate name the request that made them', async () => {
  const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'owner' })
  const before = new Set((await entriesOf(acme.id)).map(({ id }) => id))
  const requests = new Map<string, string>()
  const call = async (name: string, input: object = {}, by: ConsoleClient = ada) => {
    const { status, headers, body } = await by.call(name.replace('here/', `${acme.id}/production/`), input)
    assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
    requests.set(headers.get('request-id')!, name)
    return body
  }
  const reason = 'A test.'
  const invited = await call('here/team.invite', { email: 'bob@example.com', name: 'Bob', role: 'viewer' })
  const bob = new ConsoleClient(api)
  const token = invited.link.split('#')[1]
  await call('open/invitation.accept', { token, name: 'Bob', password: PASSWORD }, bob)
  await call('account/sign-in.end', {}, bob)
  await call('open/sign-in.give-password', { email: 'bob@example.com', password: PASSWORD }, bob)
  const passwords = { current_password: PASSWORD, new_password: 'seven slow ferries north' }
  await call('account/account.change-password', passwords, bob)
  const begun = await call('account/two-factor.begin', { password: passwords.new_password }, bob)
  requests.delete([...requests].find(([, name]) => name === 'account/two-factor.begin')![0])
  const app = new Authenticator(begun.secret)
  await call('account/two-factor.confirm', { code: app.next() }, bob)
  await call('account/two-factor.end', { code: app.next() }, bob)
  const elsewhere = new ConsoleClient(api)
  await call('open/sign-in.give-password', { email: 'bob@example.com', password: passwords.new_password }, elsewhere)
  await call('account/account.end-other-sessions', {}, bob)
  const { operator_id } = invited
  await call('here/team.change-role', { operator_id, role: 'developer', reason })
  await call('here/team.end-sessions', { operator_id, reason })
  await call('here/team.remove', { operator_id, reason })
  const eve = await call('here/team.invite', { email: 'eve@example.com', name: 'Eve', role: 'viewer' })
  await call('here/team.renew-invitation', { operator_id: eve.operator_id })
  await call('here/team.withdraw-invitation', { operator_id: eve.operator_id, reason })
  const key = await call('here/api-keys.create', { name: 'Key', scopes: ['usage:read'], expires_in_days: null })
  await call('here/api-keys.disable', { id: key.id, reason })
  await call('here/api-keys.enable', { id: key.id, reason })
  await call('here/api-keys.rotate', { id: key.id, grace: '24h', reason })
  await call('here/api-keys.revoke', { id: key.id, reason })
  const endpoint = await call('here/webhooks.add', {
    url: 'https://example.com/hooks',
    description: '',
    event_types: ['entity.created'],
  })
  const { id } = endpoint
  await call('here/webhooks.edit', { id, description: 'Orders', reason })
  const { event_id } = await call('here/deliveries.send-test')
  await call('here/deliveries.redeliver', { endpoint_id: id, event_id })
  await call('here/webhooks.rotate-secret', { id, overlap: true, reason })
  await call('here/webhooks.end-overlap', { id, reason })
  await call('here/webhooks.disable', { id, reason })
  await call('here/webhooks.enable', { id, reason })
  await call('here/webhooks.remove', { id, reason })
  const scenario = await call('here/scenarios.add', { name: 'Large', request: { decision_id: 'dec_1' } })
  await call('here/scenarios.change', { id: scenario.id, name: 'Larger' })
  await call('here/scenarios.remove', { id: scenario.id })
  const document = { ...sandboxPolicy().document, version: 'live-1' }
  await activateDocument(installation, document, { organizationId: acme.id, environment: 'production' })
  await call('here/live-gate.approve', { reason })
  await call('here/live-gate.close', { reason })
  await call('here/audit-log.verify')
  // The policy was activated without a request.
  const fresh = async () =>
    (await entriesOf(acme.id)).filter(({ id, type }) => !before.has(id) && !type.startsWith('policy.'))
  await until('the verification is recorded', async () =>
    (await fresh()).some(({ type }) => type === 'audit_log.verified'),
  )
  const made = await fresh()
  for (const { type, request_id } of made) assert.ok(requests.has(request_id!), `${type} names ${request_id}`)
  const acts = new Set(made.map(({ request_id }) => requests.get(request_id!)))
  assert.deepEqual(
    [...new Set(requests.values())].filter((name) => !acts.has(name)),
    [],
    'acts without an entry',
  )
})

test('an entry of the command line names no request', async () => {
  const { id: organizationId } = await api.newOrganization('Elsewhere')
  const act = { ...byOsUser(organizationId), environment: 'sandbox' } as const
  await createKey(installation, act, { name: 'Key', scopes: ['usage:read'], expiresAt: null })
  const entries = await entriesOf(organizationId)
  assert.ok(entries.length > 0)
  assert.ok(entries.every(({ request_id }) => request_id === null))
})
