/** Operators change and remove each other: by the operations of the page Team, and by the commands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeRole, removeOperator } from '../src/admin/change-operators.ts'
import { findCommand } from '../src/cli/commands.ts'
import { findOperatorById, type Operator, type Role } from '../src/store/control/operators.ts'
import { byOperator } from './acts.ts'
import { Authenticator } from './authenticator.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { addOperatorRow } from './people.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const { control } = installation.storage
let people = 0

/** An organization, its signed-in operators by their roles, and the calls of its page Team. */
async function newTeam<const R extends Role>(...roles: R[]) {
  const { id } = await api.newOrganization()
  const signedIn = await Promise.all(
    roles.map(async (role) => {
      people += 1
      const email = `person-${people}@example.com`
      const client = await signedInOperator(api, { organizationId: id, email, role })
      const call = (name: string, input: object = {}) => client.call(`${id}/production/${name}`, input)
      return { role, email, client, call, operatorId: client.operatorId, stored: () => stored(id, client.operatorId) }
    }),
  )
  const trail = async (trailId: string) => {
    const page = { organizationId: id, trailId, beforeSeq: undefined, limit: 100 }
    const entries = await installation.stores.production.auditLog.trail(page)
    return entries.reverse().map(({ type, actor_id, data }) => ({ type, actor_id, data: JSON.parse(data) }))
  }
  return { id, people: signedIn, trail }
}

async function stored(organizationId: string, operatorId: string): Promise<Operator> {
  return (await findOperatorById(control, organizationId, operatorId))!
}

test('an owner gives another role, which counts at once and is on the audit log with the reason', async () => {
  const {
    people: [owner, viewer],
    trail,
  } = await newTeam('owner', 'viewer')
  assert.equal((await viewer!.call('team.list-sessions', { operator_id: viewer!.operatorId })).status, 403)
  const change = { operator_id: viewer!.operatorId, role: 'admin', reason: ' Joins the on-call rota. ' }
  const changed = await owner!.call('team.change-role', change)
  assert.deepEqual(changed.body, { operator_id: viewer!.operatorId, role: 'admin' })
  assert.equal((await viewer!.call('team.list-sessions', { operator_id: viewer!.operatorId })).status, 200)
  const [entry] = (await trail(viewer!.operatorId)).filter(({ type }) => type === 'operator.role_changed')
  assert.deepEqual(entry, {
    type: 'operator.role_changed',
    actor_id: owner!.operatorId,
    data: { from: 'viewer', to: 'admin', reason: 'Joins the on-call rota.' },
  })
})

test('an admin can neither make an owner nor change, remove or sign out one', async () => {
  const {
    people: [owner, admin, viewer],
  } = await newTeam('owner', 'admin', 'viewer')
  for (const [name, input] of [
    ['team.change-role', { operator_id: viewer!.operatorId, role: 'owner', reason: 'r' }],
    ['team.change-role', { operator_id: owner!.operatorId, role: 'viewer', reason: 'r' }],
    ['team.change-role', { operator_id: admin!.operatorId, role: 'owner', reason: 'r' }],
    ['team.remove', { operator_id: owner!.operatorId, reason: 'r' }],
    ['team.end-sessions', { operator_id: owner!.operatorId, reason: 'r' }],
    ['team.list-sessions', { operator_id: owner!.operatorId }],
  ] as const) {
    const refused = await admin!.call(name, input)
    assert.equal(refused.status, 403, name)
    assert.match(refused.body.error.message, /Only an owner may make owners or change them/)
  }
  assert.deepEqual(
    [(await owner!.stored()).role, (await admin!.stored()).role, (await viewer!.stored()).role],
    ['owner', 'admin', 'viewer'],
  )
})

test('a link made for one role gives no other: a change of role withdraws it', async () => {
  const {
    people: [owner, admin],
    trail,
  } = await newTeam('owner', 'admin')
  const invitee = { email: 'puppet@example.com', name: 'Puppet', role: 'admin' }
  const { body: sent } = await admin!.call('team.invite', invitee)
  const promote = { operator_id: sent.operator_id, role: 'owner', reason: 'Takes over.' }
  assert.equal((await owner!.call('team.change-role', promote)).status, 200)
  const token = sent.link.split('#')[1]
  const accept = { token, name: 'Puppet', password: PASSWORD }
  const refused = await new ConsoleClient(api).call('open/invitation.accept', accept)
  assert.match(refused.body.error.message, /^This link does not work any more/)
  const types = (await trail(sent.operator_id)).map(({ type }) => type)
  assert.deepEqual(types, ['operator.invited', 'operator.role_changed', 'operator.invitation_withdrawn'])
})

test('the link of an operator who is removed stops working', async () => {
  const {
    people: [owner],
  } = await newTeam('owner')
  const { body: sent } = await owner!.call('team.invite', { email: 'gone@example.com', name: 'Gone', role: 'viewer' })
  const token = sent.link.split('#')[1]
  const stranger = new ConsoleClient(api)
  assert.equal((await stranger.call('open/invitation.show', { token })).status, 200)
  assert.equal((await owner!.call('team.remove', { operator_id: sent.operator_id, reason: 'A slip.' })).status, 200)
  assert.equal((await stranger.call('open/invitation.show', { token })).status, 404)
  const accept = { token, name: 'Gone', password: PASSWORD }
  assert.equal((await stranger.call('open/invitation.accept', accept)).status, 404)
})

test('withdrawing an invitation takes a reason, which is on the audit log', async () => {
  const {
    people: [owner, admin],
    trail,
  } = await newTeam('owner', 'admin')
  const { body: sent } = await owner!.call('team.invite', { email: 'odd@example.com', name: 'Odd', role: 'owner' })
  const withdraw = { operator_id: sent.operator_id, reason: 'A wrong address.' }
  assert.equal((await owner!.call('team.withdraw-invitation', { operator_id: sent.operator_id })).status, 400)
  const byAdmin = await admin!.call('team.withdraw-invitation', withdraw)
  assert.match(byAdmin.body.error.message, /Only an owner may/)
  assert.equal((await owner!.call('team.withdraw-invitation', withdraw)).status, 200)
  const entry = (await trail(sent.operator_id)).find(({ type }) => type === 'operator.invitation_withdrawn')
  assert.equal(entry?.data.reason, 'A wrong address.')
  const token = sent.link.split('#')[1]
  assert.equal((await new ConsoleClient(api).call('open/invitation.show', { token })).status, 404)
})

test('the last owner can be neither demoted nor removed', async () => {
  const {
    people: [owner],
  } = await newTeam('owner', 'admin')
  const demote = { operator_id: owner!.operatorId, role: 'admin', reason: 'r' }
  const demoted = await owner!.call('team.change-role', demote)
  assert.match(demoted.body.error.message, /is the last owner who can sign in/)
  const removed = await owner!.call('team.remove', { operator_id: owner!.operatorId, reason: 'r' })
  assert.match(removed.body.error.message, /is the last owner who can sign in/)
  assert.deepEqual([(await owner!.stored()).role, (await owner!.stored()).disabled_at], ['owner', null])
})

test('owners who step down or remove each other at the same moment leave one owner', async () => {
  for (const act of ['demote', 'remove'] as const) {
    const { people: owners } = await newTeam('owner', 'owner', 'owner')
    const operators = await Promise.all(owners.map((owner) => owner.stored()))
    const results = await Promise.allSettled(
      operators.map((operator, index) => {
        const by = byOperator(operators[(index + 1) % operators.length]!)
        return act === 'demote'
          ? changeRole(installation, by, { operator, role: 'viewer' })
          : removeOperator(installation, by, operator)
      }),
    )
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    assert.deepEqual(refusals, ['last_owner'], act)
    const left = await Promise.all(owners.map((owner) => owner.stored()))
    assert.equal(left.filter(({ role, disabled_at }) => role === 'owner' && disabled_at === null).length, 1, act)
  }
})

test('an owner who can neither sign in nor use codes does not count as one', async () => {
  const {
    id,
    people: [owner],
  } = await newTeam('owner')
  await addOperatorRow(installation, {
    org_id: id,
    id: installation.newId('opr'),
    email: 'invited@example.com',
    name: 'Invited',
    role: 'owner',
    created_at: new Date(installation.nowMs()).toISOString(),
    disabled_at: null,
    account_id: null,
  })
  const removed = await owner!.call('team.remove', { operator_id: owner!.operatorId, reason: 'r' })
  assert.match(removed.body.error.message, /is the last owner who can sign in/)
})

test('a removed operator is signed out at once, and finds no organization after signing in again', async () => {
  const {
    id,
    people: [owner, developer],
    trail,
  } = await newTeam('owner', 'developer')
  assert.equal((await developer!.call('team.list')).status, 200)
  const removed = await owner!.call('team.remove', { operator_id: developer!.operatorId, reason: 'Left.' })
  assert.equal(removed.status, 200)
  assert.deepEqual([removed.body.sessions_ended, removed.body.approvals_withdrawn], [1, 0])
  assert.equal((await developer!.call('team.list')).status, 401)
  const again = new ConsoleClient(api)
  assert.equal((await again.signIn(developer!.email)).status, 200)
  assert.equal((await again.call(`${id}/production/team.list`)).status, 404)
  const list = await owner!.call('team.list')
  assert.equal(list.body.operators.find(({ id }: Operator) => id === developer!.operatorId).state, 'removed')
  const entry = (await trail(developer!.operatorId)).find(({ type }) => type === 'operator.removed')
  assert.deepEqual(entry?.data, { role: 'developer', sessions_ended: 1, approvals_withdrawn: 0, reason: 'Left.' })
  const twice = await owner!.call('team.remove', { operator_id: developer!.operatorId, reason: 'r' })
  assert.match(twice.body.error.message, /was removed already/)
})

test('an owner lists the sessions of an operator and ends one or all, which the log records with the reason', async () => {
  const {
    people: [owner, viewer],
    trail,
  } = await newTeam('owner', 'viewer')
  const second = new ConsoleClient(api)
  await second.signIn(viewer!.email)
  const { sessions } = (await owner!.call('team.list-sessions', { operator_id: viewer!.operatorId })).body
  assert.equal(sessions.length, 2)
  const [newest] = sessions
  const one = { operator_id: viewer!.operatorId, session_id: newest.id, reason: 'A lost phone.' }
  const { reason: _, ...unexplained } = one
  assert.equal((await owner!.call('team.end-sessions', unexplained)).status, 400)
  assert.equal((await owner!.call('team.end-sessions', one)).body.sessions_ended, 1)
  assert.equal((await second.call('account/account.show')).status, 401)
  assert.equal((await viewer!.call('team.list')).status, 200)
  const own = (await owner!.call('team.list-sessions', { operator_id: owner!.operatorId })).body.sessions[0]
  const foreign = await owner!.call('team.end-sessions', { ...one, session_id: own.id })
  assert.equal(foreign.status, 404, 'a session of another account is not found')
  const all = { operator_id: viewer!.operatorId, reason: ' On leave. ' }
  assert.equal((await owner!.call('team.end-sessions', all)).body.sessions_ended, 1)
  assert.equal((await viewer!.call('team.list')).status, 401)
  const ended = (await trail(viewer!.operatorId)).filter(({ type }) => type === 'operator.session_ended')
  assert.deepEqual(
    ended.map(({ actor_id, data }) => [actor_id, data]),
    [
      [owner!.operatorId, { sessions: 1, reason: 'A lost phone.' }],
      [owner!.operatorId, { sessions: 1, reason: 'On leave.' }],
    ],
  )
})

test('the list says who may do what, who is the last owner, and when each operator last signed in', async () => {
  const {
    people: [owner, admin],
  } = await newTeam('owner', 'admin')
  const { operators, roles, single_sign_on } = (await admin!.call('team.list')).body
  const [first, second] = operators
  assert.deepEqual(
    [first.id, first.role, first.state, first.is_you, first.is_last_owner, first.may_manage, first.has_two_factor],
    [owner!.operatorId, 'owner', 'active', false, true, false, false],
  )
  assert.deepEqual([second.is_you, second.may_manage, second.sessions], [true, true, 1])
  assert.ok(Math.abs(Date.now() - Date.parse(first.last_sign_in_at)) < 60_000)
  const given = roles.filter(({ may_give }: { may_give: boolean }) => may_give).map(({ role }: { role: Role }) => role)
  assert.deepEqual(given, ['admin', 'policy_author', 'policy_approver', 'reviewer', 'developer', 'viewer'])
  assert.equal(single_sign_on, null)
  assert.doesNotMatch(JSON.stringify(operators), /hash|secret|token/)
})

test('the commands change and remove operators by the same rules, with a voucher once there are two managers', async () => {
  const { id } = await api.newOrganization()
  const run = (name: string, positionals: string[], options: Record<string, string>) =>
    findCommand(name)!.run(installation, {
      positionals,
      options: { org: id, ...options },
      caller: 'alice (uid 1000)',
      // biome-ignore lint/suspicious/noExplicitAny: every command returns another shape, and the test reads all of them.
    }) as Promise<any>
  const add = async (name: string, role: Role) => {
    const added = await run('operators add', [`${name}@example.com`], { name, role })
    return { email: added.email as string, app: new Authenticator(added.code_secret) }
  }
  const ann = await add('ann', 'owner')
  const ben = await add('ben', 'viewer')
  await assert.rejects(run('operators role', [ben.email], { role: 'admin' }), { code: 'reason_missing' })
  assert.equal((await run('operators role', [ben.email], { role: 'admin', reason: 'r' })).role, 'admin')
  await assert.rejects(run('operators remove', [ann.email], { reason: 'r' }), { code: 'voucher_missing' })
  const asBen = { as: ben.email, code: ben.app.next(), reason: 'r' }
  await assert.rejects(run('operators remove', [ann.email], asBen), { code: 'owner_needed' })
  const asAnn = { as: ann.email, code: ann.app.next(), reason: 'r' }
  assert.equal((await run('operators remove', [ben.email], asAnn)).email, ben.email)
  await assert.rejects(run('operators remove', [ann.email], { reason: 'r' }), { code: 'last_owner' })
})
