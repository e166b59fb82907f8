/** Every operation of the console, for every role, within and outside its organization, with and without a session. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginBacktest } from '../src/admin/backtest-policy.ts'
import { addEndpoint } from '../src/admin/manage-webhooks.ts'
import { ENVIRONMENTS } from '../src/config.ts'
import type { Operation } from '../src/console/define-operation.ts'
import { type Operations, operations } from '../src/console/operations.ts'
import { ROLES, type Role } from '../src/store/control/operators.ts'
import { byService } from './acts.ts'
import { ConsoleClient, signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { startTestService } from './test-service.ts'

const ALL = ROLES
const MANAGERS = ['owner', 'admin'] as const
const DEVELOPERS = ['owner', 'admin', 'developer'] as const
const AUTHORS = ['owner', 'admin', 'policy_author'] as const
const APPROVERS = ['owner', 'admin', 'policy_approver'] as const
const POLICY_ROLES = ['owner', 'admin', 'policy_author', 'policy_approver'] as const
const EXPORTERS = ['owner', 'admin', 'policy_author'] as const
const IDENTITY_ROLES = ['owner', 'admin', 'reviewer', 'developer'] as const
const REVIEWERS = ['owner', 'admin', 'reviewer'] as const
const VERIFIERS = ['owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer'] as const

/** The name of a person is personal data, which the audit log never holds, and no right depends on it. */
const UNRECORDED: readonly string[] = ['account.rename']

/** Who may use an operation: callers without a session, every account, or these roles; and whether it changes anything. */
type Row = readonly ['open' | 'account' | readonly Role[], 'reads' | 'changes']

/** What people may do, written down a second time: a wrong permission in the table of operations does not pass here. */
const EXPECTED: Record<keyof Operations, Row> = {
  'account.change-password': ['account', 'changes'],
  'single-sign-on.connect': ['account', 'changes'],
  'single-sign-on.disconnect': ['account', 'changes'],
  'account.end-other-sessions': ['account', 'changes'],
  'account.end-session': ['account', 'changes'],
  'account.show': ['account', 'reads'],
  'account.set-number-notation': ['account', 'changes'],
  'passkeys.add': ['account', 'changes'],
  'passkeys.begin': ['account', 'changes'],
  'passkeys.remove': ['account', 'changes'],
  'two-factor.renew-recovery-codes': ['account', 'changes'],
  'account.rename': ['account', 'changes'],
  'account.show-security': ['account', 'reads'],
  'account.list-sessions': ['account', 'reads'],
  'single-sign-on.show': ['account', 'reads'],
  'two-factor.begin': ['account', 'changes'],
  'command-line-codes.show': ['account', 'reads'],
  'command-line-codes.begin': ['account', 'changes'],
  'command-line-codes.confirm': ['account', 'changes'],
  'two-factor.confirm': ['account', 'changes'],
  'two-factor.end': ['account', 'changes'],
  'audit-log.show-entry': [ALL, 'reads'],
  'audit-log.list-filters': [ALL, 'reads'],
  'audit-log.list': [ALL, 'reads'],
  'audit-log.export': [EXPORTERS, 'changes'],
  'audit-log.show-status': [ALL, 'reads'],
  'audit-log.verify': [VERIFIERS, 'changes'],
  'cases.assign': [REVIEWERS, 'changes'],
  'approval-limits.show': [ALL, 'reads'],
  'approval-limits.set': [['owner'], 'changes'],
  'review-bounds.show': [ALL, 'reads'],
  'cases.count': [ALL, 'reads'],
  'cases.decide': [REVIEWERS, 'changes'],
  'cases.list': [ALL, 'reads'],
  'cases.sign': [REVIEWERS, 'changes'],
  'cases.send-back': [REVIEWERS, 'changes'],
  'cases.take-next': [REVIEWERS, 'changes'],
  'cases.add-note': [REVIEWERS, 'changes'],
  'review-bounds.set': [MANAGERS, 'changes'],
  'cases.show': [ALL, 'reads'],
  'entities.find': [IDENTITY_ROLES, 'reads'],
  'entities.show-neighbourhood': [ALL, 'reads'],
  'entities.list': [ALL, 'reads'],
  'entities.show': [ALL, 'reads'],
  'entity-erasure.show': [ALL, 'reads'],
  'entity-erasure.erase': [MANAGERS, 'changes'],
  'entity-erasure.hold': [REVIEWERS, 'changes'],
  'entity-erasure.lift': [REVIEWERS, 'changes'],
  'entity-merges.show': [ALL, 'reads'],
  'entity-merges.merge': [REVIEWERS, 'changes'],
  'entity-merges.separate': [REVIEWERS, 'changes'],
  'decisions.list-filters': [ALL, 'reads'],
  'decisions.list': [ALL, 'reads'],
  'decisions.export': [EXPORTERS, 'changes'],
  'decisions.prove': [IDENTITY_ROLES, 'reads'],
  'decisions.replay': [ALL, 'reads'],
  'decisions.show': [ALL, 'reads'],
  'invitation.accept': ['open', 'changes'],
  'invitation.join': ['account', 'changes'],
  'invitation.show': ['open', 'reads'],
  'api-keys.create': [DEVELOPERS, 'changes'],
  'api-keys.disable': [DEVELOPERS, 'changes'],
  'api-keys.enable': [DEVELOPERS, 'changes'],
  'api-keys.list': [ALL, 'reads'],
  'api-keys.revoke': [DEVELOPERS, 'changes'],
  'api-keys.rotate': [DEVELOPERS, 'changes'],
  'live-gate.approve': [MANAGERS, 'changes'],
  'live-gate.close': [MANAGERS, 'changes'],
  'live-gate.show': [ALL, 'reads'],
  'overview.show-first-steps': [ALL, 'reads'],
  'overview.show': [ALL, 'reads'],
  'policies.activate': [APPROVERS, 'changes'],
  'policies.approve': [APPROVERS, 'changes'],
  'policy-backtests.begin': [POLICY_ROLES, 'changes'],
  'policy-backtests.show': [ALL, 'reads'],
  'policy-backtests.list': [ALL, 'reads'],
  'policy-backtests.cancel': [POLICY_ROLES, 'changes'],
  'policies.check': [AUTHORS, 'reads'],
  'policies.comment': [[...POLICY_ROLES, 'reviewer'], 'changes'],
  'policies.show-language': [ALL, 'reads'],
  'policies.list': [ALL, 'reads'],
  'policies.propose': [AUTHORS, 'changes'],
  'policies.reject': [APPROVERS, 'changes'],
  'policies.show': [ALL, 'reads'],
  'policy-backtests.try': [AUTHORS, 'reads'],
  'policy-calibration.show': [ALL, 'reads'],
  'policy-calibration.watch': [ALL, 'reads'],
  'policy-calibration.draft': [AUTHORS, 'reads'],
  'playground.decide': [ALL, 'reads'],
  'playground.record': [VERIFIERS, 'changes'],
  'playground.show': [ALL, 'reads'],
  'scenarios.add': [VERIFIERS, 'changes'],
  'scenarios.change': [VERIFIERS, 'changes'],
  'scenarios.remove': [VERIFIERS, 'changes'],
  'sign-in.give-code': ['open', 'changes'],
  'sign-in.show-options': ['open', 'reads'],
  'sign-in.end': ['account', 'changes'],
  'sign-in.give-passkey': ['open', 'changes'],
  'sign-in.begin-passkey': ['open', 'reads'],
  'sign-in.give-password': ['open', 'changes'],
  'team.change-role': [MANAGERS, 'changes'],
  'team.end-sessions': [MANAGERS, 'changes'],
  'team.invite': [MANAGERS, 'changes'],
  'team.list': [ALL, 'reads'],
  'team.remove': [MANAGERS, 'changes'],
  'team.renew-invitation': [MANAGERS, 'changes'],
  'team.list-sessions': [MANAGERS, 'reads'],
  'team.withdraw-invitation': [MANAGERS, 'changes'],
  'usage.show': [ALL, 'reads'],
  'webhooks.add': [DEVELOPERS, 'changes'],
  'webhooks.show-catalogue': [ALL, 'reads'],
  'deliveries.list': [ALL, 'reads'],
  'deliveries.show': [ALL, 'reads'],
  'webhooks.disable': [DEVELOPERS, 'changes'],
  'webhooks.edit': [DEVELOPERS, 'changes'],
  'webhooks.enable': [DEVELOPERS, 'changes'],
  'webhooks.end-overlap': [DEVELOPERS, 'changes'],
  'webhooks.list': [ALL, 'reads'],
  'deliveries.recover': [DEVELOPERS, 'changes'],
  'deliveries.redeliver': [DEVELOPERS, 'changes'],
  'webhooks.remove': [DEVELOPERS, 'changes'],
  'webhooks.rotate-secret': [DEVELOPERS, 'changes'],
  'webhooks.show': [ALL, 'reads'],
  'deliveries.send-test': [DEVELOPERS, 'changes'],
  'welcome.accept': ['open', 'changes'],
  'welcome.check': ['open', 'reads'],
}

const names = Object.keys(operations) as (keyof Operations)[]
const api = await startTestService()
const [own, other] = [await api.newOrganization('Own'), await api.newOrganization('Other')]
const clients = new Map<Role, ConsoleClient>()
for (const role of ROLES) {
  const person = { organizationId: own.id, email: `${role}@example.com`, role }
  clients.set(role, await signedInOperator(api, person))
}
const foreigner = await signedInOperator(api, { organizationId: other.id, email: 'other@example.com', role: 'owner' })
const owner = clients.get('owner')!

/**
 * An input that no operation takes. The caller's right is checked before the input, so the answer `validation_failed`
 * shows that the caller may use the operation, without using it.
 */
const PROBE = { there_is_no_such_field: true }

function pathOf(name: string, organizationId = own.id, environment = 'production'): string {
  const { access }: Operation = operations[name as keyof Operations]
  return access === 'open' || access === 'account' ? `${access}/${name}` : `${organizationId}/${environment}/${name}`
}

async function ask(client: ConsoleClient, path: string, headers: Record<string, string> = {}) {
  const { status, body } = await client.call(path, PROBE, headers)
  return `${status} ${body.error?.code}`
}

const withinOrganization = names.filter((name) => typeof EXPECTED[name]?.[0] === 'object')

test('every operation has a row in the table of this test, and every row an operation', () => {
  assert.deepEqual(Object.keys(EXPECTED).sort(), [...names].sort())
})

test('every operation that changes something declares its audit entries, and no operation that only reads does', () => {
  for (const name of names) {
    const { audit, access }: Operation = operations[name]
    assert.equal(audit.length > 0, EXPECTED[name][1] === 'changes' && !UNRECORDED.includes(name), name)
    if (audit.length > 0) assert.notEqual(access, 'see the console', `${name} changes something, so viewers must not`)
  }
})

test('an operator may use exactly the operations of their role, in both environments', async () => {
  for (const name of names) {
    const [allowed] = EXPECTED[name]
    for (const [role, client] of clients) {
      const isAllowed = typeof allowed === 'string' || (allowed as readonly Role[]).includes(role)
      for (const environment of typeof allowed === 'string' ? (['sandbox'] as const) : ENVIRONMENTS)
        assert.equal(
          await ask(client, pathOf(name, own.id, environment)),
          isAllowed ? '400 validation_failed' : '403 role_lacks_permission',
          `${name} as ${role} in ${environment}`,
        )
    }
  }
})

test('in another organization, in one that does not exist, and in another environment, an operator of any role finds nothing', async () => {
  for (const name of withinOrganization) {
    for (const [role, client] of clients)
      assert.equal(await ask(client, pathOf(name, other.id)), '404 organization_not_found', `${name} as ${role}`)
    const nowhere = 'org_06fk3v8tz9y7q2m4n6p8r0s1t3'
    assert.equal(await ask(owner, pathOf(name, nowhere)), '404 organization_not_found', name)
    assert.equal(await ask(owner, pathOf(name, own.id, 'staging')), '404 organization_not_found', name)
  }
})

test('without a session, with a forged or with an ended one, only the operations for signing in answer', async () => {
  const ended = await signedInOperator(api, { organizationId: own.id, email: 'ended@example.com', role: 'owner' })
  const cookie = ended.cookie!
  await ended.call('account/sign-in.end')
  const forged = 'verdigraph=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  for (const name of names) {
    const expected = EXPECTED[name][0] === 'open' ? '400 validation_failed' : '401 not_signed_in'
    for (const given of [undefined, forged, cookie]) {
      const client = new ConsoleClient(api)
      client.cookie = given
      assert.equal(await ask(client, pathOf(name)), expected, `${name} with ${given}`)
    }
  }
})

test('a request of another site is refused, whatever session the browser adds to it', async () => {
  for (const name of names) {
    for (const headers of [
      { Origin: 'https://attacker.example' },
      { Origin: 'null' },
      { Origin: '' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ] as Record<string, string>[])
      assert.equal(await ask(owner, pathOf(name), headers), '403 cross_site', `${name} ${JSON.stringify(headers)}`)
    const form = await owner.call(pathOf(name), 'a=b', { 'Content-Type': 'application/x-www-form-urlencoded' })
    assert.ok(form.status === 400 || form.status === 415, `${name} as a form: ${form.status}`)
  }
})

test('an operation answers only under the address of its kind', async () => {
  for (const name of names) {
    const wrong = [`open/${name}`, `account/${name}`, `${own.id}/sandbox/${name}`].filter(
      (path) => path !== pathOf(name, own.id, 'sandbox'),
    )
    for (const path of wrong) assert.equal(await ask(owner, path), '404 not_found', path)
  }
})

test('a removed operator finds nothing, from the next request on', async () => {
  const email = 'removed@example.com'
  const removed = await signedInOperator(api, { organizationId: own.id, email, role: 'owner' })
  await owner.call(`${own.id}/production/team.remove`, { operator_id: removed.operatorId, reason: 'Left.' })
  await removed.signIn(email)
  for (const name of withinOrganization)
    assert.equal(await ask(removed, pathOf(name)), '404 organization_not_found', name)
})

/** The required fields of every operation that names one object by its id. */
const namingOneObject = withinOrganization.flatMap((name) => {
  const { required = [] } = operations[name].input as { required?: string[] }
  return required.some((field) => /^(.*_)?id$/.test(field)) ? [{ name, required }] : []
})

test('every operation that takes an id finds nothing of another organization with it, and changes nothing', async () => {
  const ids = await idsOfOther()
  const values: Record<string, unknown> = {
    reason: 'Because.',
    role: 'viewer',
    grace: '24h',
    overlap: true,
    since: new Date().toISOString(),
    operator_id: ids.operator,
    endpoint_id: ids.endpoint,
    event_id: ids.event,
    decision_id: ids.decision,
    verdict: 'decline',
    text: 'A note.',
    move: 'propose',
    to: null,
    seen: null,
    hops: 2,
    product: 'personal_loan',
    signature_id: 'sig_one',
    entity_id: ids.entity,
    other: ids.entity,
    verdicts: [{ decision_id: ids.decision, verdict: 'decline' }],
  }
  const idOfFamily: Record<string, unknown> = {
    'api-keys': ids.key,
    'audit-log': ids.entry,
    cases: ids.case,
    decisions: ids.decision,
    entities: ids.entity,
    'policy-backtests': ids.backtest,
    scenarios: ids.scenario,
    webhooks: ids.endpoint,
  }
  const before = await stateOfBoth()
  assert.ok(namingOneObject.length >= 20)
  for (const { name, required } of namingOneObject) {
    const fields = required.map((field) => [field, field === 'id' ? idOfFamily[name.split('.')[0]!] : values[field]])
    const { status, body } = await owner.call(`${own.id}/sandbox/${name}`, Object.fromEntries(fields))
    assert.equal(status, 404, `${name} with ${JSON.stringify(fields)} answered ${JSON.stringify(body)}`)
  }
  for (const filter of [{ endpoint_id: ids.endpoint }, { event_id: ids.event }]) {
    const { body } = await owner.call(`${own.id}/sandbox/deliveries.list`, filter)
    assert.deepEqual(body.deliveries, [])
  }
  for (const filter of [{}, { entity_id: ids.entity }, { verdict: 'manual_review' }, { product: 'personal_loan' }]) {
    const { body } = await owner.call(`${own.id}/sandbox/decisions.list`, filter)
    assert.deepEqual(body.decisions, [])
  }
  assert.deepEqual(await stateOfBoth(), before)
})

/** One object of each kind in the sandbox of the other organization, which its own operator finds. */
async function idsOfOther() {
  const { installation } = api.service
  const fields = { url: 'https://hooks.example.com/other', description: '', eventTypes: ['decision.created'] }
  const endpoint = await addEndpoint(installation, byService(other.id), fields)
  const key = await other.newKey('sandbox', ['usage:read'])
  const { body: event } = await other.post('/v1/webhook-test', {})
  const entity = await createEntity(other, 'undecided')
  const decision = await underwrite(other, entity)
  const caseId = `cas_${decision.id.slice(4)}`
  const call = async (name: string, input: object) => {
    const { status, body } = await foreigner.call(`${other.id}/sandbox/${name}`, input)
    assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
    return body
  }
  const [entry] = (await call('audit-log.list', { target: endpoint.id })).entries
  await call('audit-log.show-entry', { id: entry.id })
  await call('cases.show', { id: caseId })
  await call('webhooks.show', { id: endpoint.id })
  await call('decisions.show', { id: decision.id })
  await call('team.list-sessions', { operator_id: foreigner.operatorId })
  const wanted = { version: 'sandbox-policy-v1', range: { last: 10 } }
  const { id: backtest, done } = await beginBacktest(installation, byService(other.id), wanted)
  await done
  await call('policy-backtests.show', { id: backtest })
  const { id: scenario } = await call('scenarios.add', { name: 'Large', request: { decision_id: decision.id } })
  return {
    backtest,
    scenario,
    operator: foreigner.operatorId,
    endpoint: endpoint.id,
    key: key.id,
    event: event.event_id,
    entry: entry.id,
    case: caseId,
    decision: decision.id,
    entity,
  }
}

const TABLES = [
  'api_keys',
  'webhook_endpoints',
  'audit_entries',
  'cases',
  'case_notes',
  'case_signatures',
  'entity_merges',
  'entity_steps',
  'reviews',
  'playground_scenarios',
]

/** Every row that an operation of these pages can change, of both organizations. */
async function stateOfBoth() {
  const { control, environments } = api.service.installation.storage
  const both = [[own.id, other.id]]
  // Without the time of the last use, which the service writes within a second of a request.
  const rows = (table: string) =>
    `SELECT to_jsonb(row) - 'last_used_at' AS row FROM ${table} AS row WHERE org_id = ANY($1) ORDER BY org_id, id`
  const sessions = `SELECT id FROM sessions WHERE account_id = '${foreigner.accountId}' ORDER BY id`
  return {
    people: [await control.query(rows('operators'), both), await control.query(rows('invitations'), both)],
    sessions: await control.query(sessions),
    objects: await Promise.all(
      ENVIRONMENTS.flatMap((environment) => TABLES.map((table) => environments[environment].query(rows(table), both))),
    ),
  }
}
