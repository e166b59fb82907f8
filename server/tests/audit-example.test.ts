import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { alterDocument } from './alter-documents.ts'
import { startTestService } from './test-service.ts'

const EXAMPLE = join(import.meta.dirname, '../../docs/examples/verify-decision.js')

test('the example in the docs verifies a decision from the answers of the API alone, and finds an edited one', async () => {
  const api = await startTestService()
  const acme = await api.newOrganization()
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-example-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const publicKey = join(folder, 'sandbox.pem')
  const key = api.service.installation.masterKey.auditSigningKey('sandbox').publicKey
  writeFileSync(publicKey, key.export({ type: 'spki', format: 'pem' }))
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'é “example”' })
  const { body: decision } = await acme.post(
    '/v1/underwrite',
    { entity_id: entity.id, product: 'marketplace_access' },
    { 'Idempotency-Key': 'example' },
  )
  for (let n = 0; n < 5; n++) await acme.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' })
  const run = () =>
    promisify(execFile)(process.execPath, [EXAMPLE, decision.id], {
      env: { PATH: process.env.PATH, API: api.url('sandbox'), KEY: acme.keys.sandbox, PUBLIC_KEY: publicKey },
    }).catch((error) => error)

  const { stdout, code } = await run()
  assert.deepEqual([code, stdout.match(/^ok /gm)?.length, /BAD/.test(stdout)], [undefined, 5, false], stdout)

  await alterDocument(api.service.installation.storage.environments.sandbox, decision.id, 'body', (body) =>
    body.replace('"verdict":"manual_review"', '"verdict":"approve"'),
  )
  const edited = await run()
  assert.deepEqual([edited.code, edited.stdout.includes('BAD the decision is the recorded one')], [1, true])
})
