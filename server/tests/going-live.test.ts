/** From nothing to the first decision in production, as operators do it on the command line. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCli, startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const place = await createTestStorage()
const service = await startServiceProcess(place.env)
after(async () => {
  service.child.kill('SIGTERM')
  await service.exited
  await place.remove()
})

function cli(...args: string[]) {
  return runCli(place.env, ...args)
}

function done(...args: string[]) {
  const result = cli(...args)
  assert.equal(result.status, 0, `${args.join(' ')}: ${result.stderr}${result.stdout}`)
  return result.stdout
}

const key = JSON.parse(done('keys', 'create', '--environment', 'production', '--json')).key as string

async function call(path: string, body: unknown, idempotencyKey = 'k') {
  const response = await fetch(`http://127.0.0.1:${service.ports.production}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
    body: JSON.stringify(body),
  })
  return {
    status: response.status,
    body: (await response.json()) as {
      id: string
      verdict?: string
      policy_version?: string
      error?: { code: string }
    },
  }
}

/** What operators do is felt on every node within a second. */
const felt = () => new Promise((resolve) => setTimeout(resolve, 1_000))

test('production decides once two operators opened the gate and a policy was proposed, approved by another and activated', async () => {
  const { body: entity } = await call('/v1/entities', { external_id: 'first' })
  const ask = (idempotencyKey: string) =>
    call('/v1/underwrite', { entity_id: entity.id, product: 'credit_line' }, idempotencyKey)
  const closed = await ask('closed')
  assert.deepEqual([closed.status, closed.body.error?.code], [403, 'live_underwriting_not_enabled'])

  for (const name of ['ada', 'grace'])
    done('operators', 'add', `${name}@example.com`, '--name', name, '--role', 'admin')
  done('gate', 'approve', '--as', 'ada@example.com', '--reason', 'Tests are green.')
  assert.notEqual(
    cli('gate', 'approve', '--as', 'ada@example.com', '--reason', 'Once more.').status,
    0,
    'one person cannot open it alone',
  )
  await felt()
  assert.equal((await ask('half')).status, 403)
  done('gate', 'approve', '--as', 'grace@example.com', '--reason', 'Policy read.')
  await felt()
  const without = await ask('no-policy')
  assert.deepEqual([without.status, without.body.error?.code], [422, 'no_active_policy'])

  const policy = readFileSync(join(import.meta.dirname, '../../policies/sandbox-policy-v1.yaml'), 'utf8').replace(
    /^version: .*$/m,
    'version: credit-2026-11',
  )
  const file = join(place.dataDir, 'credit-2026-11.yaml')
  writeFileSync(file, policy)
  const production = ['--environment', 'production']
  done('policy', 'propose', file, ...production, '--as', 'ada@example.com', '--reason', 'First policy.')
  assert.notEqual(
    cli('policy', 'activate', 'credit-2026-11', ...production, '--as', 'grace@example.com', '--reason', 'Now.').status,
    0,
    'it was not approved',
  )
  assert.match(
    cli('policy', 'approve', 'credit-2026-11', ...production, '--as', 'ada@example.com', '--reason', 'Mine.').stderr,
    /somebody else has to approve it/,
  )
  done(
    'policy',
    'approve',
    'credit-2026-11',
    ...production,
    '--as',
    'grace@example.com',
    '--reason',
    'Read and tested.',
  )
  done('policy', 'activate', 'credit-2026-11', ...production, '--as', 'grace@example.com', '--reason', 'Go.')
  await felt()
  const decided = await ask('decided')
  assert.deepEqual(
    [decided.status, decided.body.verdict, decided.body.policy_version],
    [201, 'manual_review', 'credit-2026-11'],
  )

  done('gate', 'close', '--as', 'ada@example.com', '--reason', 'Something smells.')
  await felt()
  assert.equal((await ask('closed-again')).status, 403)
  assert.equal((await ask('decided')).status, 201, 'a decision that was made is still answered')
  assert.equal(cli('audit', 'verify').status, 0)
})
