import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Check, doctor } from '../src/cli/doctor.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const { sandbox } = installation.storage.environments

async function checkNumbers(): Promise<Check> {
  const checks: Check[] = await doctor.run(installation, { positionals: [], options: {} } as never)
  return checks.find(({ name }) => name === 'statement numbers sandbox')!
}

test('doctor says if the numbers of statements are behind what is stored, and its advice mends it', async () => {
  const acme = await api.newOrganization()
  for (const name of ['a', 'b', 'c']) await acme.post('/v1/entities', { external_id: name })
  assert.equal((await checkNumbers()).ok, true)
  await sandbox.query("SELECT setval('flush_numbers', 1)")
  const { ok, detail } = await checkNumbers()
  assert.equal(ok, false)
  assert.match(
    detail,
    /^the sequence flush_numbers is at \d+, but statement \d+ is stored: stop the service and run SELECT/,
  )
  await sandbox.query(detail.slice(detail.indexOf('SELECT')))
  assert.equal((await checkNumbers()).ok, true)
})
