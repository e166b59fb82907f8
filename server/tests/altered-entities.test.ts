/** What the pages about entities show after rows behind them were altered by SQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alterDocument } from './alter-documents.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'viewer' })
const worker = newConsequenceWorker(api.service.installation)
const database = api.service.installation.storage.environments.sandbox

async function read(name: string, input: object = {}) {
  const { status, body } = await ada.call(`${acme.id}/sandbox/${name}`, input)
  assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
  return body
}

async function report(path: string, body: object): Promise<void> {
  const { status, text } = await acme.post(path, body, { 'Idempotency-Key': crypto.randomUUID() })
  assert.equal(status, 201, text)
}

/** An entity with a default of its own, which gives it a computed trust. */
async function newEntity(externalId: string) {
  const id = await createEntity(acme, externalId)
  const decision = await underwrite(acme, id, { requested_amount: 1_000, currency: 'EUR' })
  await report(`/v1/decisions/${decision.id}/outcomes`, { type: 'default', occurred_at: new Date().toISOString() })
  await worker.drain()
  return { id, decisionId: decision.id as string }
}

for (const [what, trust] of [
  ['no JSON', 'x'],
  ['no object', 'null'],
  ['no score', '{}'],
  ['a score that is no number', '{"score":"high"}'],
] as const) {
  test(`entities are listed beside one whose trust was altered, which says so: ${what}`, async () => {
    const [altered, other] = [await newEntity(`altered: ${what}`), await newEntity(`beside: ${what}`)]
    const { score } = (await read('entities.show', { id: other.id })).trust
    await tamper(database, 'UPDATE graph_exposures SET trust = $1 WHERE entity_id = $2', [trust, altered.id])
    const { entities } = await read('entities.list')
    assert.deepEqual(
      entities.slice(0, 2).map((listed: { id: string; trust: unknown }) => [listed.id, listed.trust]),
      [
        [other.id, score],
        [altered.id, 'altered'],
      ],
    )
    assert.equal((await read('entities.show', { id: altered.id })).trust, null)
  })
}

test('the page of an entity shows what was not altered beside metadata, consents and decisions that were', async () => {
  const { id, decisionId } = await newEntity('altered page')
  for (const purpose of ['credit_underwriting', 'data_sharing'])
    await report(`/v1/entities/${id}/consents`, { purpose, status: 'granted', data_categories: ['identity'] })
  await tamper(database, "UPDATE entities SET metadata = '[' WHERE id = $1", [id])
  await tamper(
    database,
    "UPDATE consents SET data_categories = '{}' WHERE entity_id = $1 AND purpose = 'credit_underwriting'",
    [id],
  )
  await tamper(database, "UPDATE decisions SET verdict = 'lend' WHERE id = $1", [decisionId])
  await alterDocument(database, decisionId, 'body', 'x')
  const { metadata, consents, decisions, trust } = await read('entities.show', { id })
  assert.equal(metadata, null)
  assert.deepEqual(
    consents.map(({ purpose, categories }: { purpose: string; categories: unknown }) => [purpose, categories]),
    [
      ['data_sharing', ['identity']],
      ['credit_underwriting', null],
    ],
  )
  assert.deepEqual(
    decisions.map((listed: { id: string; verdict: unknown; limit: unknown }) => [
      listed.id,
      listed.verdict,
      listed.limit,
    ]),
    [[decisionId, null, null]],
  )
  assert.ok(trust.score < 0.5)
})
