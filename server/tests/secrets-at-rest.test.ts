import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addOperator } from '../src/admin/manage-operators.ts'
import { addEndpoint, disableByOperator, listEndpoints } from '../src/admin/manage-webhooks.ts'
import { byService } from './acts.ts'
import { exampleTransaction } from './example-transaction.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const api = await startTestService({ env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' } })
const acme = await api.newOrganization()

test('the database and the log hold no API key, identifier, account id, webhook token or other secret, in any spelling', async () => {
  const secrets = [
    'DE89370400440532013000',
    '987-65-4329',
    'ada.lovelace@example.com',
    '+442079460123',
    '10 Downing Street',
  ]
  const types = ['bank_account', 'government_id', 'email', 'phone', 'address']
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'private' })
  for (const [index, value] of secrets.entries()) {
    const headers = { 'Idempotency-Key': `secret-${index}` }
    const answer = await acme.post(
      `/v1/entities/${entity.id}/identity-links`,
      { identifier: { type: types[index], value }, verification: { status: 'verified' } },
      headers,
    )
    assert.equal(answer.status, 201)
    assert.ok(!answer.text.includes(value))
  }
  const account = { id: 'GB29 NWBK 6016 1331 9268 19', kind: 'current' }
  const transaction = exampleTransaction('t-1', { account })
  for (const [index, body] of [
    {
      transactions: [transaction],
      balances: [{ account, as_of: '2026-10-01', kind: 'opening', amount: 1, currency: 'EUR' }],
    },
    { transactions: [{ ...transaction, corrects: true, amount: 2 }] },
    { transactions: [{ ...transaction, account: { ...account, kind: 'checking' } }] },
  ].entries()) {
    const answer = await acme.post(`/v1/entities/${entity.id}/transactions`, body, {
      'Idempotency-Key': `account-${index}`,
    })
    assert.equal(answer.status, index < 2 ? 201 : 400)
    assert.ok(!withoutPunctuation(answer.text).includes(withoutPunctuation(account.id)))
  }
  secrets.push(account.id)
  const { storage } = api.service.installation
  secrets.push(...(await webhookSecrets()), await codeSecret())
  const written: string[] = [...api.logs]
  for (const database of [storage.control, storage.environments.sandbox, storage.environments.production]) {
    const tables = await database.query<{ table_name: string }>(
      'SELECT table_name FROM information_schema.tables WHERE table_schema = $1',
      [database.schema],
    )
    for (const { table_name: table } of tables)
      written.push(JSON.stringify(await database.query(`SELECT * FROM ${table}`)))
  }
  const everything = written.join('\n')
  const normalized = withoutPunctuation(everything)
  assert.ok(everything.includes(entity.id), 'the dump contains the entity')
  for (const secret of [...secrets, acme.keys.sandbox, acme.keys.production])
    assert.ok(!everything.includes(secret) && !normalized.includes(withoutPunctuation(secret)), secret)
})

/** Adds a webhook endpoint with a token in its URL, has an attempt fail, and returns its signing secret and its tokens. */
async function webhookSecrets(): Promise<string[]> {
  const act = byService(acme.id)
  const { installation } = api.service
  const tokens = ['T0pathtoken7391', 'querytoken-4417']
  const url = `http://127.0.0.1:9/services/${tokens[0]}?key=${tokens[1]}`
  const endpoint = await addEndpoint(installation, act, { url, description: '', eventTypes: 'all' })
  assert.equal(endpoint.url, 'http://127.0.0.1:9/****')
  assert.equal((await acme.post('/v1/webhook-test')).status, 202)
  const database = installation.storage.environments.sandbox
  await until('an attempt is recorded', async () => (await database.query('SELECT 1 FROM webhook_attempts')).length > 0)
  assert.ok(!JSON.stringify(await listEndpoints(installation, act)).includes('token'))
  await disableByOperator(installation, { ...act, reason: 'a test' }, endpoint.id)
  return [...tokens, endpoint.secret]
}

/** Adds an operator and returns the secret of the one-time codes. */
async function codeSecret(): Promise<string> {
  const added = await addOperator(api.service.installation, byService(acme.id), {
    email: 'ada@example.com',
    name: 'Ada',
    role: 'admin',
  })
  assert.ok('code_secret' in added)
  return added.code_secret
}

/** Lower-case letters and digits only, as identifiers are normalized before they are hashed. */
function withoutPunctuation(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '')
}
