/** What the review queue shows, and what a reviewer may decide, after rows of a case were altered by SQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alterDocument } from './alter-documents.ts'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'reviewer' })
const database = api.service.installation.storage.environments.sandbox

const ask = (name: string, input: object) => ada.call(`${acme.id}/sandbox/${name}`, input)

async function read(name: string, input: object = {}) {
  const { status, body } = await ask(name, input)
  assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
  return body
}

async function refused(name: string, input: object) {
  const { status, body } = await ask(name, input)
  assert.equal(status, 409, JSON.stringify(body))
  return body.error as { code: string; message: string }
}

/** A case about an entity without data, which the sandbox policy leaves to a person. */
async function newCase(externalId: string) {
  const request = { requested_amount: 1_000, currency: 'EUR' }
  const decision = await underwrite(acme, await createEntity(acme, externalId), request)
  assert.equal(decision.verdict, 'manual_review')
  return { id: `cas_${decision.id.slice(4)}`, decisionId: decision.id as string }
}

/** The input that decides a case with one request. */
const one = (id: string, decision_id: string, said: object) => ({
  id,
  reason: 'Fine.',
  verdicts: [{ decision_id, ...said }],
})

for (const [what, document, altered] of [
  ['a trace that is not JSON', 'trace', 'x'],
  ['an empty trace', 'trace', '{}'],
  ['facts that are not JSON', 'facts', 'x'],
  ['a graph that is not JSON', 'graph', '{'],
  ['a decision that is not JSON', 'body', 'x'],
] as const) {
  test(`the queue lists the other cases beside an altered one, which says so: ${what}`, async () => {
    const [changed, other] = [await newCase(`altered: ${what}`), await newCase(`beside: ${what}`)]
    await alterDocument(database, changed.decisionId, document, altered)
    const { cases } = await read('cases.list')
    assert.deepEqual(
      cases.slice(-2).map(({ id, trigger }: { id: string; trigger: { evidence: string } }) => [id, trigger.evidence]),
      [
        [changed.id, 'altered'],
        [other.id, 'stored'],
      ],
    )
    assert.equal((await read('cases.show', { id: changed.id })).trigger.evidence, 'altered')
  })
}

test('a request whose evidence was altered is declined, never approved', async () => {
  for (const part of ['trace', 'facts'] as const) {
    const { id, decisionId } = await newCase(`approved on an altered ${part}`)
    await alterDocument(database, decisionId, part, 'x')
    for (const limit of [{}, { recommended_limit: 500 }]) {
      const approval = one(id, decisionId, { verdict: 'approve', ...limit })
      assert.equal((await refused('cases.decide', approval)).code, 'evidence_altered')
    }
    await read('cases.decide', one(id, decisionId, { verdict: 'decline' }))
  }
})

test('a decided case whose review was altered is listed, without its verdict', async () => {
  const { id, decisionId } = await newCase('altered review')
  const { reviews } = await read('cases.decide', one(id, decisionId, { verdict: 'decline' }))
  await tamper(database, "UPDATE reviews SET body = 'x' WHERE id = $1", [reviews[0]])
  const [newest] = (await read('cases.list', { state: 'decided' })).cases
  assert.deepEqual([newest.id, newest.end.verdict], [id, null])
  assert.equal((await read('cases.show', { id })).end.verdict, null)
  assert.equal((await refused('cases.decide', one(id, decisionId, { verdict: 'decline' }))).code, 'case_decided')
})
