/** What each role sees of applicants: every reading operation, for a person of whom every text is stored. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../src/console/define-operation.ts'
import { type Operations, operations } from '../src/console/operations.ts'
import { NOT_VISIBLE, type PersonalData } from '../src/console/projection.ts'
import { ROLES, type Role } from '../src/store/control/operators.ts'
import { startAuditLogScene } from './audit-log-scene.ts'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { PERSONAL_TEXTS, storePerson } from './erase-entity.ts'

/** The table of the permissions, written down a second time. */
const SEES: Record<Role, readonly PersonalData[]> = {
  owner: ['names', 'identifiers', 'transactions', 'text'],
  admin: ['names', 'identifiers', 'transactions', 'text'],
  policy_author: [],
  policy_approver: [],
  reviewer: ['names', 'identifiers', 'transactions', 'text'],
  developer: ['names', 'identifiers', 'text'],
  viewer: [],
}

const texts = PERSONAL_TEXTS
/** What every role sees: the organization's own ids, and its scenarios. */
const SHOWN_TO_ALL: readonly string[] = [
  ...[texts.external_id, texts.reference, texts.category, texts.scenario, texts.changed_feature],
]
const NOT_TEXT: readonly string[] = [...SHOWN_TO_ALL, texts.display_name, texts.issuer]
const SENT_BACK = 'Quastenflosser sells the boat'
/** Texts of each kind; what is not a name or an identifier was written freely. */
const TEXTS = {
  names: [texts.display_name],
  identifiers: [texts.issuer, '****zq', '****11zq'],
  text: [...Object.values(texts).filter((text) => !NOT_TEXT.includes(text)), SENT_BACK],
} as const

const scene = await startAuditLogScene()
const { api } = scene
const acme = await api.newOrganization('Acme')
const clients = new Map<Role, ConsoleClient & { operatorId: string }>()
for (const role of ROLES)
  clients.set(role, await signedInOperator(api, { organizationId: acme.id, email: `${role}@example.com`, role }))
const owner = clients.get('owner')!
const call = (who: ConsoleClient, name: string, input: object) => who.call(`${acme.id}/sandbox/${name}`, input)

async function act(who: ConsoleClient, name: string, input: object) {
  const { status, body } = await call(who, name, input)
  assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
  return body
}

const { entityId, decisionId } = await storePerson(scene, acme)
const caseId = await signedCase()
await act(owner, 'entity-erasure.hold', { entity_id: entityId, move: 'propose', reason: texts.hold })
const { body: other } = await acme.post('/v1/entities', { external_id: 'other', type: 'person' })
await act(owner, 'entity-merges.merge', { entity_id: entityId, other: other.id, reason: texts.merge })

/** A case of the person that one reviewer signed, after it was sent back once with a note. */
async function signedCase(): Promise<string> {
  const { body: decision } = await acme.post(
    '/v1/underwrite',
    // No transactions are known in crowns, so a person decides.
    { entity_id: entityId, product: 'default', requested_amount: 900, currency: 'CZK' },
    { 'Idempotency-Key': 'waiting' },
  )
  assert.equal(decision.verdict, 'manual_review')
  const limit = { holder: { type: 'role', id: 'reviewer' }, product: null, currency: 'CZK', alone: 1, second: null }
  await act(owner, 'approval-limits.set', { limits: [limit], reason: 'A test.' })
  const id = `cas_${decision.id.slice(4)}`
  const sign = () =>
    act(clients.get('reviewer')!, 'cases.decide', {
      id,
      reason: texts.signature,
      verdicts: [
        {
          decision_id: decision.id,
          verdict: 'approve_with_conditions',
          conditions: [texts.condition],
          recommended_limit: 900,
          excess_confirmed: true,
        },
      ],
    })
  const { signature_id } = await sign()
  await act(owner, 'cases.send-back', { id, signature_id, reason: SENT_BACK })
  await sign()
  return id
}

type Name = keyof Operations

const readingOperations = (Object.keys(operations) as Name[]).filter((name) => {
  const { access, audit }: Operation = operations[name]
  return access !== 'open' && access !== 'account' && audit.length === 0
})

const identifier = { type: 'government_id', value: `ZQ-${texts.masked}`, issuer: texts.issuer }

/** What each operation is asked; `undefined` for one that says nothing of applicants by what it takes. */
const INPUTS: Partial<Record<Name, readonly object[]>> = {
  'audit-log.list': [{ limit: 500 }],
  'audit-log.list-filters': [{}],
  'audit-log.show-status': [{}],
  'approval-limits.show': [{}],
  'cases.count': [{}],
  'cases.list': [{}, { state: 'decided' }],
  'cases.show': [{ id: caseId }],
  'decisions.list': [{}],
  'decisions.list-filters': [{}],
  'decisions.prove': [{ id: decisionId }],
  'decisions.replay': [{ id: decisionId }],
  'decisions.show': [{ id: decisionId }],
  'deliveries.list': [{}],
  'entities.find': [identifier],
  'entities.list': [{}, { search: texts.display_name }],
  'entities.show': [{ id: entityId }],
  'entities.show-neighbourhood': [{ id: entityId, hops: 2 }],
  'entity-erasure.show': [{ entity_id: entityId }],
  'entity-merges.show': [{ entity_id: entityId }],
  'overview.show': [{ range: '24h' }],
  'overview.show-first-steps': [{}],
  'playground.decide': [{ decision_id: decisionId }],
  'policies.list': [{}],
  'policies.show': [{ version: 'sandbox-policy-v1' }],
}

/** Operations about policies, keys, endpoints, people and scenarios, which are the team's own words. */
const ABOUT_OTHERS: readonly string[] = [
  ...['api-keys.list', 'audit-log.show-entry', 'deliveries.show', 'live-gate.show', 'policies.check'],
  ...['policies.show-language', 'policy-backtests.list', 'policy-backtests.show', 'policy-backtests.try'],
  ...['policy-calibration.draft', 'policy-calibration.show', 'policy-calibration.watch', 'review-bounds.show'],
  ...[
    'playground.show',
    'team.list',
    'team.list-sessions',
    'usage.show',
    'webhooks.list',
    'webhooks.show',
    'webhooks.show-catalogue',
  ],
]

test('every operation that reads is asked here, or says nothing of applicants', () => {
  assert.deepEqual([...Object.keys(INPUTS), ...ABOUT_OTHERS].sort(), [...readingOperations].sort())
})

/** Everything that a role is answered, as one text for each operation; refused ones are left out. */
async function readAll(role: Role): Promise<Map<Name, string>> {
  const read = new Map<Name, string>()
  for (const [name, inputs] of Object.entries(INPUTS) as [Name, readonly object[]][])
    for (const input of inputs) {
      const { status, body } = await call(clients.get(role)!, name, input)
      assert.ok(
        status === 200 || (status === 403 && /^(entities.find|decisions.prove)$/.test(name)),
        `${name} as ${role}: ${status}`,
      )
      if (status === 200) read.set(name, `${read.get(name) ?? ''}${JSON.stringify(body)}`)
    }
  return read
}

const kinds = Object.keys(TEXTS) as (keyof typeof TEXTS)[]

for (const role of ROLES)
  test(`${role} sees ${SEES[role].join(', ') || 'no personal data'}, and no other personal data in any answer`, async () => {
    const read = await readAll(role)
    for (const kind of kinds.filter((each) => !SEES[role].includes(each)))
      for (const [name, answer] of read)
        for (const text of TEXTS[kind]) assert.ok(!answer.includes(text), `${name} shows ${kind} to ${role}: ${text}`)
    const shown = [...read.values()].join('')
    for (const kind of kinds.filter((each) => SEES[role].includes(each)))
      assert.ok(
        TEXTS[kind].some((text) => shown.includes(text)),
        `${kind} are shown to ${role}`,
      )
    assert.equal(shown.includes(NOT_VISIBLE), !SEES[role].includes('text'))
  })

test('an owner is shown what the other tests look for, so that they can fail', async () => {
  const shown = [...(await readAll('owner')).values()].join('')
  const { display_name, issuer, metadata, review, condition, employer, source_name, hold, merge, signature } = texts
  const sought = [display_name, issuer, '****zq', '****11zq', metadata, review, condition, employer, source_name]
  for (const text of [...sought, hold, merge, signature, SENT_BACK]) assert.ok(shown.includes(text), text)
})

test('transactions are null and lists of them empty for a role that does not see them', async () => {
  for (const role of ROLES) {
    const who = clients.get(role)!
    const entity = await act(who, 'entities.show', { id: entityId })
    const decision = await act(who, 'decisions.show', { id: decisionId })
    const isShown = SEES[role].includes('transactions')
    assert.deepEqual(
      [entity.cashflow !== null, entity.accounts.length > 0, decision.view.account !== null],
      [isShown, isShown, isShown],
      role,
    )
  }
})

test('a role that does not see names finds no entity by one, and reads the id of the organization in its place', async () => {
  const viewer = clients.get('viewer')!
  assert.deepEqual((await act(viewer, 'entities.list', { search: texts.display_name })).entities, [])
  const [entity] = (await act(viewer, 'entities.list', { search: PERSONAL_TEXTS.external_id })).entities
  assert.equal(entity.name, PERSONAL_TEXTS.external_id)
})

test('an export is on the log with who and what, has what the role sees, and is refused to other roles', async () => {
  const author = clients.get('policy_author')!
  const { decisions } = await act(author, 'decisions.export', { verdict: 'manual_review' })
  assert.equal(decisions[0].entity.name, PERSONAL_TEXTS.external_id)
  await act(author, 'audit-log.export', { cursor: (await act(author, 'audit-log.list', { limit: 1 })).next_cursor })
  const { entries } = await act(owner, 'audit-log.list', { type: 'data.exported' })
  assert.deepEqual(
    entries.map(({ actor, data }: { actor: { id: string }; data: object }) => [actor.id, data]),
    [[author.operatorId, { list: 'decisions', filter: { verdict: 'manual_review' } }]],
    'the first page alone is on the log',
  )
  for (const role of ['policy_approver', 'reviewer', 'developer', 'viewer'] as const)
    assert.equal((await call(clients.get(role)!, 'decisions.export', {})).status, 403, role)
})
