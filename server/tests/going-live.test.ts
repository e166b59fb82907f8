/** From a new installation to its first decision in production, by commands of its operators. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Authenticator } from './authenticator.ts'
import { call, callForJson } from './command-line.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { postJson, startServiceProcess, untilCachesExpire } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const testStorage = await createTestStorage()
const service = await startServiceProcess(testStorage.env)
after(async () => {
  await service.stop()
  await testStorage.remove()
})

function cli(...args: string[]) {
  return call(testStorage.env, ...args)
}

const run = (...args: string[]) => callForJson(testStorage.env, ...args)
const key: string = (await run('keys', 'create', '--environment', 'production')).key

/** Adds an admin, and returns the options by which commands are run as this operator. */
async function addOperator(name: string): Promise<() => string[]> {
  const email = `${name}@example.com`
  const { code_secret } = await run('operators', 'add', email, '--name', name, '--role', 'admin')
  const authenticator = new Authenticator(code_secret)
  return () => ['--as', email, '--code', authenticator.next()]
}

async function post(path: string, body: unknown, idempotencyKey: string) {
  const headers = { 'Idempotency-Key': idempotencyKey }
  const { status, text } = await postJson({ port: service.ports.production, path }, { key, body, headers })
  return { status, body: JSON.parse(text) }
}

test('production decides once a policy was proposed, approved by a second operator and activated, and two operators have opened the gate', async () => {
  const { body: entity } = await post('/v1/entities', { external_id: 'first' }, 'entity')
  const underwrite = (idempotencyKey: string) =>
    post('/v1/underwrite', { entity_id: entity.id, product: 'marketplace_access' }, idempotencyKey)
  const closed = await underwrite('closed')
  assert.deepEqual([closed.status, closed.body.error.code], [403, 'live_underwriting_not_enabled'])

  const [ada, grace] = [await addOperator('ada'), await addOperator('grace')]
  const policy = sandboxPolicySource().replace(/^version: .*$/m, 'version: credit-2026-11')
  const file = join(testStorage.dataDir, 'credit-2026-11.yaml')
  writeFileSync(file, policy)
  const production = ['--environment', 'production']
  await run('policy', 'propose', file, ...production, ...ada(), '--reason', 'First policy.')
  assert.notEqual(
    (await cli('policy', 'activate', 'credit-2026-11', ...production, '--reason', 'Now.')).status,
    0,
    'a policy that is not approved cannot be activated',
  )
  await run('policy', 'approve', 'credit-2026-11', ...production, ...grace(), '--reason', 'Read and tested.')
  await run('policy', 'activate', 'credit-2026-11', ...production, '--reason', 'Go.')

  await run('gate', 'approve', ...ada(), '--reason', 'Tests are green.')
  assert.notEqual(
    (await cli('gate', 'approve', '--as', 'grace@example.com', '--reason', 'I am Grace, says Ada.')).status,
    0,
    'one operator cannot open the gate with the name of another',
  )
  await untilCachesExpire()
  assert.equal((await underwrite('half')).status, 403)
  await run('gate', 'approve', ...grace(), '--reason', 'Policy read.')
  await untilCachesExpire()
  const decided = await underwrite('decided')
  assert.deepEqual(
    [decided.status, decided.body.verdict, decided.body.policy_version],
    [201, 'manual_review', 'credit-2026-11'],
  )

  await run('gate', 'close', '--reason', 'Defaults are rising.')
  await untilCachesExpire()
  assert.equal((await underwrite('closed-again')).status, 403)
  assert.equal((await underwrite('decided')).status, 201, 'a retry of an earlier decision still gets its answer')
  assert.equal((await cli('audit', 'verify')).status, 0)
})
