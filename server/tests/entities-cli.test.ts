/** `entities show`, for entities of the API. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { call, callForJson } from './command-line.ts'
import { personas } from './personas.ts'
import { postJson, startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const testStorage = await createTestStorage()
const service = await startServiceProcess(testStorage.env)
after(async () => {
  await service.stop()
  await testStorage.remove()
})

const show = (...args: string[]) => call(testStorage.env, 'entities', 'show', ...args)
const { key } = await callForJson(testStorage.env, 'keys', 'create')

let keys = 0
async function post(path: string, body: unknown) {
  const headers = { 'Idempotency-Key': `key-${keys++}` }
  const { status, text } = await postJson({ port: service.ports.sandbox, path }, { key, body, headers })
  assert.equal(status, 201, text)
  return JSON.parse(text)
}

/** An applicant who is approved, under this external id. */
async function newApplicant(externalId: string): Promise<string> {
  const prime = personas(new Date().toISOString()).find(({ name }) => name === 'prime')!
  const { id } = await post('/v1/entities', { ...prime.entity, external_id: externalId })
  for (const link of prime.identityLinks) await post(`/v1/entities/${id}/identity-links`, link)
  for (const consent of prime.consents) await post(`/v1/entities/${id}/consents`, consent)
  await post(`/v1/entities/${id}/transactions`, { transactions: prime.transactions })
  return id
}

test('show finds an entity by either id, and prints what it owes by currency', async () => {
  const id = await newApplicant('borrower-1')
  const { id: decisionId } = await post('/v1/underwrite', {
    entity_id: id,
    product: 'personal_loan',
    requested_amount: 5000,
    currency: 'EUR',
  })
  const funded = { type: 'funded', occurred_at: new Date().toISOString(), amount: 4000.5, currency: 'EUR' }
  await post(`/v1/decisions/${decisionId}/outcomes`, funded)
  const offered = { entity_id: id, product: 'personal_loan', requested_amount: 300, currency: 'EUR' }
  assert.equal((await post('/v1/underwrite', offered)).recommended_limit, 300)

  const byId = await show(id)
  assert.equal(byId.status, 0, byId.stderr)
  assert.match(byId.stdout, new RegExp(`^${id}\\n {2}external id +borrower-1$`, 'm'))
  assert.match(
    byId.stdout,
    /^Open credits:\n {2}4000\.5 EUR, of 1 credit\nOpen offers:\n {2}1299\.5 EUR, in 2 offers$/m,
  )
  assert.equal((await show('borrower-1')).stdout, byId.stdout)
  const shown = await callForJson(testStorage.env, 'entities', 'show', 'borrower-1')
  assert.deepEqual([shown.id, shown.open_credits], [id, [{ currency: 'EUR', credits: 1, amount: 4000.5 }]])
  assert.deepEqual(shown.open_offers, [{ currency: 'EUR', offers: 2, amount: 1299.5 }])
})

test('of an entity without credit, show says so; an unknown name is a problem', async () => {
  await post('/v1/entities', { external_id: 'blank\u001b[2J' })
  const { stdout } = await show('blank\u001b[2J')
  assert.match(stdout, /external id +blank\\u\{1b\}\[2J$/m)
  assert.match(stdout, /^Open credits:\n {2}none\nOpen offers:\n {2}none$/m)
  const unknown = await show('no-such-entity')
  assert.deepEqual([unknown.status, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /There is no such entity in this environment\./)
})
