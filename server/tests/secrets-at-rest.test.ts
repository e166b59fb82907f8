import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()

test('the database and the log hold no API key and no identifier value, in any spelling', async () => {
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
  const { storage } = api.service.installation
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

/** Lower-case letters and digits only, as identifiers are normalized before they are hashed. */
function withoutPunctuation(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '')
}
