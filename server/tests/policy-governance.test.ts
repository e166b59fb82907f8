import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { approveGate, closeGate, gateStatus } from '../src/admin/manage-gate.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { activatePolicy, approvePolicy, proposePolicy, rejectPolicy } from '../src/admin/manage-policies.ts'
import { type Environment, readConfig } from '../src/config.ts'
import { openInstallation } from '../src/installation/installation.ts'
import { isGateOpen } from '../src/store/control/live-gate.ts'
import type { Operator, Role } from '../src/store/control/operators.ts'
import { activateDocument } from './activate-document.ts'
import { byOperator, byService } from './acts.ts'
import { newOrganizationId } from './new-organization.ts'
import { rewriteRow } from './people.ts'
import { sandboxPolicy, sandboxPolicySource } from './sandbox-policy.ts'
import { tamper } from './tamper.ts'
import { createTestStorage } from './test-storage.ts'

const testStorage = await createTestStorage()
const installation = await openInstallation(readConfig(testStorage.env))
await installation.storage.migrate()
const { control } = installation.storage
const { sandbox } = installation.storage.environments
after(async () => {
  await installation.close()
  await testStorage.remove()
})

/** An organization with operators, and the steps of governance, each taken by an operator of that name. */
async function newOrganization(environment: Environment = 'sandbox') {
  const id = await newOrganizationId(installation)
  const store = installation.stores[environment]
  const add = async (name: string, role: Role): Promise<Operator> => {
    return addOperator(installation, byService(id), { email: `${name}@example.com`, name, role })
  }
  const people = {
    ann: await add('ann', 'policy_author'),
    ben: await add('ben', 'policy_approver'),
    cay: await add('cay', 'owner'),
    dan: await add('dan', 'admin'),
    eve: await add('eve', 'viewer'),
  }
  const act = (who: keyof typeof people) => byOperator(people[who], { environment, reason: `the reason of ${who}` })
  const organization = {
    id,
    people,
    act,
    store,
    propose: (who: keyof typeof people, source: string) => proposePolicy(installation, act(who), source),
    approve: (who: keyof typeof people, version: string) => approvePolicy(installation, act(who), { version }),
    reject: (who: keyof typeof people, version: string) => rejectPolicy(installation, act(who), version),
    activate: (who: keyof typeof people, version: string) => activatePolicy(installation, act(who), version),
    /** Proposes a policy and approves it. */
    async approved(version: string) {
      await organization.propose('ann', policyNamed(version))
      await organization.approve('ben', version)
    },
    states: async () =>
      Object.fromEntries((await store.policies.list(id)).map(({ version, state }) => [version, state])),
  }
  return organization
}

/** Activates a policy in production, without which the live gate cannot be approved. */
function activateInProduction(organizationId: string) {
  return activateDocument(installation, { ...sandboxPolicy().document }, { organizationId, environment: 'production' })
}

function policyNamed(version: string): string {
  return sandboxPolicySource().replace('version: sandbox-policy-v1', `version: ${version}`)
}

async function trail(environment: Environment, organizationId: string, trailId: string) {
  const wanted = { organizationId, trailId, beforeSeq: undefined, limit: 100 }
  const entries = await installation.stores[environment].auditLog.trail(wanted)
  return entries.reverse().map(({ type, actor_id, data }) => ({ type, actor_id, data: JSON.parse(data) }))
}

test('the sandbox has an active policy from the start; production has none until an operator activates one', async () => {
  const organization = await newOrganization('production')
  assert.equal((await installation.stores.sandbox.policies.active(organization.id))?.version, 'sandbox-policy-v1')
  assert.deepEqual(await organization.states(), {})
  assert.equal(await organization.store.policies.active(organization.id), undefined)
  await organization.approved('live-1')
  assert.equal(await organization.store.policies.active(organization.id), undefined)
  assert.equal((await organization.activate('ben', 'live-1')).state, 'active')
  const active = await organization.store.policies.active(organization.id)
  assert.equal(active?.version, 'live-1')
})

test('every step is on the audit trail with its operator, reason and policy checksum', async () => {
  const organization = await newOrganization()
  await organization.approved('v2')
  assert.equal((await organization.activate('cay', 'v2')).state, 'active')
  const { id, checksum } = (await organization.store.policies.byVersion(organization.id, 'v2'))!
  const { ann, ben, cay } = organization.people
  const entries = await trail('sandbox', organization.id, id)
  assert.deepEqual(
    entries.map(({ type, actor_id, data }) => [type, actor_id, data.reason, data.policy_checksum]),
    [
      ['policy.proposed', ann.id, 'the reason of ann', checksum],
      ['policy.approved', ben.id, 'the reason of ben', checksum],
      ['policy.activated', cay.id, 'the reason of cay', checksum],
    ],
  )
  const events = await sandbox.query<{ data: string }>(
    "SELECT data FROM events WHERE org_id = $1 AND type = 'policy.activated' ORDER BY id",
    [organization.id],
  )
  assert.deepEqual(
    events.map(({ data }) => [JSON.parse(data).policy_version, JSON.parse(data).previous_policy_version]),
    [
      ['sandbox-policy-v1', null],
      ['v2', 'sandbox-policy-v1'],
    ],
  )
})

test('the author of a policy cannot approve it, not even an owner', async () => {
  const organization = await newOrganization()
  assert.equal((await organization.propose('cay', policyNamed('v2'))).state, 'proposed')
  await assert.rejects(organization.approve('cay', 'v2'), { code: 'own_policy' })
  assert.equal((await organization.approve('dan', 'v2')).state, 'approved')
})

test('each step needs an operator of this organization in the right role, and a reason', async () => {
  const organization = await newOrganization()
  await assert.rejects(organization.propose('ben', policyNamed('v2')), {
    code: 'role_lacks_permission',
    message: 'ben@example.com is policy_approver. Only owner, admin, policy_author may propose policies.',
  })
  assert.equal((await organization.propose('ann', policyNamed('v2'))).state, 'proposed')
  await assert.rejects(organization.approve('eve', 'v2'), { code: 'role_lacks_permission' })
  await assert.rejects(organization.reject('ann', 'v2'), { code: 'role_lacks_permission' })
  assert.equal((await organization.approve('ben', 'v2')).state, 'approved')
  await assert.rejects(organization.activate('ann', 'v2'), { code: 'role_lacks_permission' })
  const unexplained = activatePolicy(installation, { ...organization.act('ben'), reason: ' ' }, 'v2')
  await assert.rejects(unexplained, { code: 'reason_invalid' })
  const stranger = (await newOrganization()).act('cay')
  const foreign = activatePolicy(installation, { ...stranger, organizationId: organization.id }, 'v2')
  await assert.rejects(foreign, { code: 'operator_cannot_act' })
})

test('a policy that is invalid, has no tests, or fails one of them cannot be proposed', async () => {
  const organization = await newOrganization()
  const failing = policyNamed('v2').replace('limit: 6000', 'limit: 6001')
  await assert.rejects(organization.propose('ann', failing), /v2 cannot be proposed. 1 of its \d+ tests fail/)
  const untested = policyNamed('v2').replace(/^tests:[\s\S]*/m, 'tests: []\n')
  await assert.rejects(organization.propose('ann', untested), /cannot be proposed. It has no tests\.$/)
  const broken = policyNamed('v2').replace('when: history.abuse > 0', 'when: history.abuze > 0')
  await assert.rejects(organization.propose('ann', broken), {
    code: 'policy_invalid',
    message: /^\d+:\d+ \/rules\/0\/when: /,
  })
  assert.deepEqual(await organization.states(), { 'sandbox-policy-v1': 'active' })
})

test('a version is proposed once: an edited policy needs a new version', async () => {
  const organization = await newOrganization()
  await organization.approved('v2')
  const edited = policyNamed('v2').replace('description: >-', 'description: >-\n  Edited.')
  await assert.rejects(organization.propose('ann', edited), { code: 'version_taken' })
  await assert.rejects(organization.propose('ann', policyNamed('v2')), { code: 'version_proposed' })
  const twice = await Promise.allSettled([
    organization.propose('ann', policyNamed('v3')),
    organization.propose('cay', policyNamed('v3')),
  ])
  assert.equal(twice.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('an approved policy whose document or evidence was altered cannot be activated', async () => {
  const organization = await newOrganization()
  await organization.approved('v2')
  const key = [organization.id, 'v2']
  const where = 'WHERE org_id = $1 AND version = $2'
  await tamper(sandbox, `UPDATE policies SET document = replace(document, '6000', '6001') ${where}`, key)
  await assert.rejects(organization.activate('ben', 'v2'), {
    code: 'policy_unusable',
    message: /Its document is not the one that was proposed/,
  })

  await organization.approved('v3')
  const { id } = (await organization.store.policies.byVersion(organization.id, 'v3'))!
  const approval = "WHERE org_id = $1 AND policy_id = $2 AND step = 'approved'"
  await tamper(sandbox, `UPDATE policy_steps SET evidence = '{"tests":[]}' ${approval}`, [organization.id, id])
  await assert.rejects(organization.activate('ben', 'v3'), { code: 'approval_outdated' })
  assert.equal((await organization.store.policies.active(organization.id))?.version, 'sandbox-policy-v1')
})

test('only an approved policy can be activated, and a rejected one never', async () => {
  const organization = await newOrganization()
  assert.equal((await organization.propose('ann', policyNamed('v2'))).state, 'proposed')
  await assert.rejects(organization.activate('ben', 'v2'), { code: 'policy_not_approved' })
  assert.equal((await organization.approve('ben', 'v2')).state, 'approved')
  await assert.rejects(organization.approve('cay', 'v2'), { code: 'policy_not_proposed' })
  assert.equal((await organization.reject('cay', 'v2')).state, 'rejected')
  await assert.rejects(organization.activate('ben', 'v2'), { code: 'policy_rejected' })
  await assert.rejects(organization.reject('ben', 'sandbox-policy-v1'), { code: 'policy_not_rejectable' })
  await assert.rejects(organization.activate('ben', 'sandbox-policy-v1'), { code: 'policy_active' })
})

test('of two simultaneous approvals, one is recorded and the other is refused', async () => {
  const organization = await newOrganization()
  assert.equal((await organization.propose('ann', policyNamed('v2'))).state, 'proposed')
  const results = await Promise.allSettled([organization.approve('ben', 'v2'), organization.approve('cay', 'v2')])
  const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
  assert.equal(refusals.length, 1)
  assert.match(refusals[0], /^(changed_meanwhile|policy_not_proposed)$/)
  const { steps_taken } = (await organization.store.policies.byVersion(organization.id, 'v2'))!
  assert.equal(steps_taken, 2)
})

test('simultaneous activations leave exactly one active policy and a consistent trail', async () => {
  const organization = await newOrganization()
  const versions = ['v2', 'v3', 'v4', 'v5']
  for (const version of versions) await organization.approved(version)
  const results = await Promise.allSettled(versions.map((version) => organization.activate('ben', version)))
  const activated = results.filter(({ status }) => status === 'fulfilled')
  assert.ok(activated.length >= 1)

  const policies = await organization.store.policies.list(organization.id)
  const inState = (state: string) => policies.filter((policy) => policy.state === state)
  assert.equal(inState('active').length, 1)
  assert.equal(inState('retired').length, activated.length, 'each activation retired one policy')
  assert.equal(inState('active')[0]!.id, (await organization.store.policies.active(organization.id))!.id)
  for (const { id, version, state } of policies) {
    const steps = await organization.store.policies.steps(organization.id, id)
    assert.equal(steps.at(-1)!.step, state === 'active' ? 'activated' : state, version)
    assert.deepEqual(
      (await trail('sandbox', organization.id, id)).map(({ type }) => type),
      steps.map(({ step }) => `policy.${step}`),
    )
  }
})

test('a switch of the active policy that is based on outdated reads writes nothing', async () => {
  const { id: organizationId, store, approved, activate, states } = await newOrganization()
  const { id: shippedId } = (await store.policies.active(organizationId))!
  await approved('v2')
  await approved('v3')
  const policy = (await store.policies.byVersion(organizationId, 'v3'))!
  const [proposal] = await store.policies.steps(organizationId, policy.id)
  const activatedAt = proposal!.taken_at
  const event = { id: 'evt_lost', type: 'policy.activated', created_at: activatedAt, data: '{}' } as const
  const switchFrom = (replacesId: string | undefined, number: number) =>
    store.policies.switchActive({
      organizationId,
      policy,
      replacesId,
      activatedAt,
      steps: [{ ...proposal!, number, step: 'activated' }],
      event,
      auditEntries: [],
    })

  assert.equal(await switchFrom(shippedId, 2), false, 'the step was taken before')
  assert.equal(await switchFrom(undefined, 3), false, 'a policy is active already')
  assert.equal((await activate('ben', 'v2')).state, 'active')
  assert.equal(await switchFrom(shippedId, 3), false, 'another policy was activated meanwhile')
  assert.deepEqual(await states(), { v3: 'approved', v2: 'active', 'sandbox-policy-v1': 'retired' })
  assert.equal((await store.policies.active(organizationId))?.version, 'v2')
  const lost = await sandbox.query('SELECT 1 FROM events WHERE id = $1', [event.id])
  assert.deepEqual(lost, [])
})

test('a retired policy can be activated again', async () => {
  const organization = await newOrganization()
  await organization.approved('v2')
  assert.equal((await organization.activate('ben', 'v2')).state, 'active')
  assert.deepEqual(await organization.states(), { v2: 'active', 'sandbox-policy-v1': 'retired' })
  const back = await organization.activate('cay', 'sandbox-policy-v1')
  assert.equal(back.replaced, 'v2')
  assert.deepEqual(await organization.states(), { v2: 'retired', 'sandbox-policy-v1': 'active' })
})

test('the policy of another organization is unknown, and its version can be used again', async () => {
  const [one, other] = [await newOrganization(), await newOrganization()]
  await one.approved('v2')
  await assert.rejects(other.activate('cay', 'v2'), { code: 'policy_not_found' })
  assert.equal(await other.store.policies.byVersion(other.id, 'v2'), undefined)
  await other.approved('v2')
})

test('two different operators open the live gate, and one closes it', async () => {
  const { id, people } = await newOrganization()
  const approve = (who: keyof typeof people) => approveGate(installation, byOperator(people[who]))
  const isOpen = () => isGateOpen(control, id)
  await assert.rejects(approve('cay'), { code: 'no_active_policy' })
  await activateInProduction(id)
  await assert.rejects(approve('ben'), /Only owner, admin may open or close the live gate/)
  await approve('cay')
  assert.equal(await isOpen(), false)
  await assert.rejects(approve('cay'), { code: 'gate_approved' })
  assert.equal(await isOpen(), false)
  await approve('dan')
  assert.equal(await isOpen(), true)
  await assert.rejects(approve('cay'), { code: 'gate_open' })

  await closeGate(installation, byOperator(people.dan))
  assert.equal(await isOpen(), false)
  await assert.rejects(closeGate(installation, byOperator(people.dan)), { code: 'gate_closed' })
  await approve('cay')
  assert.equal(await isOpen(), false, 'withdrawn approvals do not count again')

  const gate = (await trail('production', id, id)).filter(({ type }) => type.startsWith('live_gate.'))
  assert.deepEqual(
    gate.map(({ type, actor_id }) => [type, actor_id]),
    [
      ['live_gate.approved', people.cay.id],
      ['live_gate.approved', people.dan.id],
      ['live_gate.closed', people.dan.id],
      ['live_gate.approval_withdrawn', people.dan.id],
      ['live_gate.approval_withdrawn', people.dan.id],
      ['live_gate.approved', people.cay.id],
    ],
  )
})

test('the gate closes when one of the operators who approved it is disabled', async () => {
  const { id, people } = await newOrganization()
  await activateInProduction(id)
  await approveGate(installation, byOperator(people.cay))
  await approveGate(installation, byOperator(people.dan))
  assert.equal(await isGateOpen(control, id), true)
  await rewriteRow(installation, { table: 'operators', id: people.dan.id }, { disabled_at: people.dan.created_at })
  assert.equal(await isGateOpen(control, id), false)
  assert.equal((await gateStatus(installation, byService(id))).open, false)
})

test('an operator needs a new email address, a name and a known role, and the audit log holds neither name nor address', async () => {
  const { id } = await newOrganization()
  const add = (changes: object) =>
    addOperator(installation, byService(id), { email: 'fay@example.com', name: 'Fay', role: 'viewer', ...changes })
  await assert.rejects(
    add({ email: 'CAY@example.com ' }),
    /cay@example.com is an operator of this organization already/,
  )
  await assert.rejects(add({ email: 'fay' }), /"fay" is not an email address/)
  await assert.rejects(add({ role: 'king' }), /"king" is not a role. The roles are owner/)
  await assert.rejects(add({ name: ' ' }), /1 to 255 characters/)
  const added = await add({})
  const entries = await trail('production', id, added.id)
  assert.deepEqual(
    entries.map(({ type, data }) => [type, data]),
    [['operator.added', { role: 'viewer' }]],
    'entries of the log cannot be deleted, so it holds no personal data',
  )
})
