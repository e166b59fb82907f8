/** The live gate by the operations of its page: evidence, two approvals, and the stop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isGateOpen } from '../src/store/control/live-gate.ts'
import type { Role } from '../src/store/control/operators.ts'
import { activateDocument } from './activate-document.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { sandboxPolicy } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const { production } = installation.storage.environments
let people = 0

async function newOrganization(...roles: Role[]) {
  const organization = await api.newOrganization()
  const operators = []
  for (const role of roles) {
    people += 1
    const email = `person-${people}@example.com`
    const client = await signedInOperator(api, { organizationId: organization.id, email, role })
    const call = (name: string, input: object = {}, environment = 'production') =>
      client.call(`${organization.id}/${environment}/${name}`, input)
    operators.push({ email, call, operatorId: client.operatorId })
  }
  const activate = () =>
    activateDocument(
      installation,
      { ...sandboxPolicy().document, version: 'live-1' },
      { organizationId: organization.id, environment: 'production' },
    )
  const isOpen = () => isGateOpen(installation.storage.control, organization.id)
  return { organization, operators, activate, isOpen }
}

test('the checklist shows what there is as evidence, and what is missing', async () => {
  const {
    operators: [owner],
    activate,
    organization,
  } = await newOrganization('owner', 'viewer', 'admin')
  const empty = (await owner!.call('live-gate.show')).body
  assert.deepEqual([empty.open, empty.approvals, empty.approvals_needed], [false, [], 2])
  assert.deepEqual(
    empty.evidence.approvers.map(({ role }: { role: Role }) => role),
    ['owner', 'admin'],
  )
  const invitation = { email: 'invited@example.com', name: 'Ida', role: 'admin' }
  assert.equal((await owner!.call('team.invite', invitation)).status, 200)
  assert.equal((await owner!.call('live-gate.show')).body.evidence.approvers.length, 2, 'an invited admin cannot act')
  const { approvers: _, ...nothing } = empty.evidence
  assert.deepEqual(nothing, { policy: null, endpoints_enabled: 0, verified_endpoint: null, test_delivery: null })

  const { checksum } = await activate()
  const endpoint = await addDelivery(organization.id, { id: 'whe_1', type: 'decision.created' })
  const test = await addDelivery(organization.id, { id: 'whe_1', type: 'webhook.test', isEndpointKnown: true })
  const { evidence } = (await owner!.call('live-gate.show')).body
  assert.deepEqual([evidence.policy.version, evidence.policy.checksum], ['live-1', checksum])
  assert.equal(evidence.endpoints_enabled, 1)
  assert.ok([endpoint, test].includes(evidence.verified_endpoint.event_id))
  assert.deepEqual([evidence.test_delivery.event_id, evidence.test_delivery.event_type], [test, 'webhook.test'])
  assert.equal(evidence.test_delivery.url, 'https://hooks.example.com/…')
  await production.query("UPDATE webhook_endpoints SET state = 'disabled', disabled_at = now() WHERE org_id = $1", [
    organization.id,
  ])
  const later = (await owner!.call('live-gate.show')).body.evidence
  assert.deepEqual([later.endpoints_enabled, later.verified_endpoint, later.test_delivery], [0, null, null])
})

/** Writes a delivery that an endpoint answered: production webhooks never go to this machine. */
async function addDelivery(
  organizationId: string,
  { id, type, isEndpointKnown = false }: { id: string; type: string; isEndpointKnown?: boolean },
): Promise<string> {
  const eventId = installation.newId('evt')
  if (!isEndpointKnown)
    await production.query(
      `INSERT INTO webhook_endpoints (org_id, id, url, shown_url, description, event_types, state, secret, secret_since, created_at, version)
       VALUES ($1, $2, 'encrypted', 'https://hooks.example.com/…', '', '*', 'enabled', 'encrypted', now(), now(), 1)`,
      [organizationId, id],
    )
  await production.query("INSERT INTO events (org_id, id, type, created_at, data) VALUES ($1, $2, $3, now(), '{}')", [
    organizationId,
    eventId,
    type,
  ])
  await production.query(
    `INSERT INTO webhook_deliveries (org_id, endpoint_id, event_id, event_type, state, attempts, schedule_step, due_at, leased_until)
     VALUES ($1, $2, $3, $4, 'delivered', 1, 1, now(), '9999-12-31T00:00:00Z')`,
    [organizationId, id, eventId, type],
  )
  return eventId
}

test('two operators open the gate, each once and only with an active policy; one closes it at once', async () => {
  const {
    operators: [ada, grace],
    activate,
    isOpen,
    organization,
  } = await newOrganization('owner', 'admin')
  const reason = { reason: 'Checklist read.' }
  const early = await ada!.call('live-gate.approve', reason)
  assert.equal(early.status, 409)
  assert.match(early.body.error.message, /^Production has no active policy/)
  await activate()
  assert.equal((await ada!.call('live-gate.approve', { reason: ' ' })).status, 400, 'a blank reason')
  const first = await ada!.call('live-gate.approve', reason)
  assert.deepEqual([first.body.open, first.body.you.has_approved, first.body.approvals.length], [false, true, 1])
  const again = await ada!.call('live-gate.approve', reason)
  assert.match(again.body.error.message, /Another operator has to give the second approval/)
  assert.equal(await isOpen(), false)
  assert.equal((await grace!.call('live-gate.approve', reason)).body.open, true)
  assert.equal(await isOpen(), true)
  assert.equal((await grace!.call('live-gate.close', { reason: 'Defaults are rising.' })).body.open, false)
  assert.equal(await isOpen(), false)
  const trail = { organizationId: organization.id, trailId: organization.id, beforeSeq: undefined, limit: 100 }
  const entries = (await installation.stores.production.auditLog.trail(trail)).reverse()
  const invited_by = { type: 'system', id: 'test' }
  assert.deepEqual(
    entries
      .filter(({ type }) => type.startsWith('live_gate.'))
      .map(({ type, actor_id, data }) => [type, actor_id, JSON.parse(data)]),
    [
      ['live_gate.approved', ada!.operatorId, { ...reason, invited_by }],
      ['live_gate.approved', grace!.operatorId, { ...reason, invited_by }],
      ['live_gate.closed', grace!.operatorId, { reason: 'Defaults are rising.' }],
      ['live_gate.approval_withdrawn', grace!.operatorId, { operator_id: ada!.operatorId }],
      ['live_gate.approval_withdrawn', grace!.operatorId, { operator_id: grace!.operatorId }],
    ],
  )
})

test('the page of the sandbox shows the gate but can neither open nor close it', async () => {
  const {
    operators: [owner],
    activate,
    isOpen,
  } = await newOrganization('owner')
  await activate()
  assert.equal((await owner!.call('live-gate.show', {}, 'sandbox')).status, 200)
  for (const name of ['live-gate.approve', 'live-gate.close']) {
    const refused = await owner!.call(name, { reason: 'r' }, 'sandbox')
    assert.deepEqual([refused.status, /Switch to production/.test(refused.body.error.message)], [409, true])
  }
  assert.equal(await isOpen(), false)
})

test('the approval of a removed operator no longer counts, also after the person is invited again', async () => {
  const {
    operators: [ada, grace],
    activate,
    isOpen,
  } = await newOrganization('owner', 'admin')
  await activate()
  for (const operator of [ada, grace]) await operator!.call('live-gate.approve', { reason: 'r' })
  assert.equal(await isOpen(), true)
  const removed = await ada!.call('team.remove', { operator_id: grace!.operatorId, reason: 'Left.' })
  assert.equal(removed.body.approvals_withdrawn, 1)
  assert.equal(await isOpen(), false)
  const invited = await ada!.call('team.invite', { email: grace!.email, name: 'Grace', role: 'admin' })
  assert.equal(invited.status, 200, JSON.stringify(invited.body))
  assert.equal(await isOpen(), false)
})

test('the approval of an operator who may no longer approve does not count, and does not come back with the role', async () => {
  const {
    operators: [owner, admin, other],
    activate,
    isOpen,
  } = await newOrganization('owner', 'admin', 'admin')
  await activate()
  const reason = { reason: 'Checklist read.' }
  await admin!.call('live-gate.approve', reason)
  const change = (role: Role) =>
    owner!.call('team.change-role', { operator_id: admin!.operatorId, role, reason: 'Another team.' })
  assert.equal((await change('owner')).status, 200)
  assert.equal((await other!.call('live-gate.show')).body.approvals.length, 1, 'an owner may approve too')
  assert.equal((await change('viewer')).status, 200)
  assert.equal((await other!.call('live-gate.approve', reason)).body.open, false)
  assert.equal(await isOpen(), false)
  assert.equal((await change('admin')).status, 200)
  assert.equal(await isOpen(), false)
})

test('the gate and the log say who invited an approver: one person with two names does not pass for two', async () => {
  const {
    operators: [admin],
    activate,
    organization,
  } = await newOrganization('admin')
  await activate()
  await admin!.call('live-gate.approve', { reason: 'r' })
  const invitee = { email: 'second-name@example.com', name: 'Second Name', role: 'admin' }
  const { link, operator_id } = (await admin!.call('team.invite', invitee)).body
  const puppet = new ConsoleClient(api)
  const accept = { token: link.split('#')[1], name: 'Second Name', password: PASSWORD }
  assert.equal((await puppet.call('open/invitation.accept', accept)).status, 200)
  const { body } = await puppet.call(`${organization.id}/production/live-gate.approve`, { reason: 'r' })
  const { invited_by, invited_at, joined_at } = body.approvals[1]
  assert.deepEqual(invited_by, { type: 'operator', id: admin!.operatorId, name: 'Test' })
  assert.ok(invited_at <= joined_at)
  const trail = { organizationId: organization.id, trailId: organization.id, beforeSeq: undefined, limit: 1 }
  const [entry] = await installation.stores.production.auditLog.trail(trail)
  assert.deepEqual(
    [entry!.type, entry!.actor_id, JSON.parse(entry!.data).invited_by],
    ['live_gate.approved', operator_id, { type: 'operator', id: admin!.operatorId }],
  )
})
