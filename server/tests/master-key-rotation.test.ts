/** Rotating the master key: what the old key made stays valid, the old key itself becomes useless. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { rotateMasterKey } from '../src/admin/rotate-master-key.ts'
import { readConfig } from '../src/config.ts'
import { type Installation, openInstallation } from '../src/installation/installation.ts'
import { loadMasterKey, saveNextKey } from '../src/security/master-key-file.ts'
import { type Service, startService } from '../src/service/start-service.ts'
import { SERVICE } from './acts.ts'
import { call, callForJson } from './command-line.ts'
import { tamper } from './tamper.ts'
import { createTestStorage } from './test-storage.ts'

const storage = await createTestStorage()
after(() => storage.remove())
const keyFile = join(storage.dataDir, 'master.key')
const env = { ...storage.env, CONSOLE_PORT: '0', SANDBOX_PORT: '0', PRODUCTION_PORT: '0' }
const start = () => startService(readConfig(env), { logger: pino({ level: 'silent' }) })
/** Runs work on a started service, and stops the service also if the work fails. */
async function whileServing<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const service = await start()
  return work(service).finally(() => service.close())
}
const rotate = (...args: string[]) => call(env, 'master-key', 'rotate', '--reason', 'a node was stolen', ...args)

const IDENTIFIER = {
  identifier: { type: 'email', value: 'ada@example.com' },
  verification: { status: 'verified' },
}

const first = await start()
const key = /sk_sandbox_\w+/.exec(first.firstRunText!)![0]
const { entity_id, decision_id } = await decideOnce(first)
await callForJson(env, 'webhooks', 'add', 'https://hooks.example.com/token-9d2')
const heldIdentifiers = await identifierHashes(first)
await first.close()

async function send(service: Service, path: string, body?: object, idempotencyKey?: string) {
  const response = await fetch(`${service.urls.sandbox}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint has its own answer.
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

async function decideOnce(service: Service) {
  const { body: entity } = await send(service, '/v1/entities', { external_id: 'applicant', type: 'person' })
  await send(service, `/v1/entities/${entity.id}/identity-links`, IDENTIFIER)
  const { body } = await send(service, '/v1/underwrite', request(entity.id), 'the only one')
  return { entity_id: entity.id as string, decision_id: body.id as string }
}

function request(entityId: string) {
  return { entity_id: entityId, product: 'personal_loan', requested_amount: 900, currency: 'EUR' }
}

async function identifierHashes({ installation }: Service) {
  const rows = await installation.storage.environments.sandbox.query<{ identifier_hash: string }>(
    'SELECT DISTINCT identifier_hash FROM identity_links WHERE identifier_hash IS NOT NULL',
  )
  return rows.map(({ identifier_hash }) => identifier_hash)
}

async function verify() {
  const logs = await callForJson(env, 'audit', 'verify')
  for (const { problems } of logs as { problems: string[] }[]) assert.deepEqual(problems, [])
}

test('a rotation needs a reason, a stopped service, and where MASTER_KEY is set a file with the next key', async () => {
  assert.match((await call(env, 'master-key', 'rotate')).stderr, /^Add --reason/)
  await whileServing(async () => assert.match((await rotate()).stderr, /is in use by process|node is running/))
  const current = readFileSync(keyFile, 'utf8').trim()
  const set = { ...env, MASTER_KEY: current }
  const refused = await call(set, 'master-key', 'rotate', '--reason', 'x')
  assert.match(refused.stderr, /MASTER_KEY is set.* Write a new key to a file/)
  assert.match((await rotate('--new-key-file', keyFile)).stderr, /This is the current master key\. Give another one\./)
  writeFileSync(join(storage.dataDir, 'short'), 'AAAA')
  assert.match((await rotate('--new-key-file', join(storage.dataDir, 'short'))).stderr, /32 bytes in base64/)
  await verify()
})

test('after a rotation everything works as before, and the logs are intact across the change of key', async () => {
  const before = readFileSync(keyFile, 'utf8')
  const result = await rotate()
  assert.equal(result.status, 0, result.stderr)
  assert.notEqual(readFileSync(keyFile, 'utf8'), before)
  const stale = await call({ ...env, MASTER_KEY: before.trim() }, 'orgs', 'list')
  assert.match(
    stale.stderr,
    /This node has another master key .*\. Set MASTER_KEY/,
    'a command with the old key writes nothing',
  )
  await whileServing(async (service) => {
    const replay = await send(service, `/v1/decisions/${decision_id}/replay`)
    assert.deepEqual([replay.status, replay.body.matches], [200, true])
    const retried = await send(service, '/v1/underwrite', request(entity_id), 'the only one')
    assert.deepEqual([retried.body.id, retried.headers.get('idempotent-replayed')], [decision_id, 'true'])
    assert.equal((await send(service, '/v1/underwrite', request(entity_id), 'another')).status, 201)
    const other = await send(service, '/v1/entities', { external_id: 'same person', type: 'person' })
    await send(service, `/v1/entities/${other.body.id}/identity-links`, IDENTIFIER)
    assert.deepEqual(await identifierHashes(service), heldIdentifiers, 'an identifier has the hash that it had')
    const { stdout } = await call(env, 'webhooks', 'list')
    assert.match(stdout, /hooks\.example\.com/)
  })
  await verify()
  const keys = await callForJson(env, 'audit', 'public-key')
  assert.deepEqual(
    keys.map(({ environment, is_retired }: { environment: string; is_retired: boolean }) => [environment, is_retired]),
    [
      ['sandbox', false],
      ['sandbox', true],
      ['production', false],
      ['production', true],
    ],
  )
})

test('the old key opens nothing: not the service, not the secrets, not the retired keys', async () => {
  const installation = await openInstallation(readConfig(env))
  const [endpoint] = await installation.storage.environments.sandbox.query<Record<string, string>>(
    'SELECT org_id, id, secret, url FROM webhook_endpoints',
  )
  const { masterKey } = installation
  await installation.close()
  const [current, retired] = masterKey.deriveAll('webhook secrets sandbox')
  const { SecretBox } = await import('../src/security/secret-box.ts')
  const owner = `${endpoint!.org_id} ${endpoint!.id}`
  assert.match(new SecretBox([current!]).decrypt(owner, endpoint!.secret!), /^whsec_/)
  assert.throws(() => new SecretBox([retired!]).decrypt(owner, endpoint!.secret!))
  assert.throws(() => new SecretBox([retired!]).decrypt(`${owner} url`, endpoint!.url!))
})

test('a rotation that was interrupted at any step keeps the service from starting, or is done; the next call completes it', async () => {
  const old = readFileSync(keyFile, 'utf8')
  // Interrupted after the next key was stored: the statement that ends a rotation fails.
  const installation = await openInstallation(readConfig(env))
  const { control } = installation.storage
  const query = control.query.bind(control)
  Object.assign(control, {
    query: (sql: string, params: unknown[]) =>
      sql.includes('next_master_key_check = NULL') ? Promise.reject(new Error('cut off')) : query(sql, params),
  })
  try {
    await assert.rejects(rotateMasterKey(installation, { ...SERVICE, reason: 'test' }), /cut off/)
  } finally {
    Object.assign(control, { query })
    await installation.close()
  }
  await assert.rejects(start(), /a rotation of the master key was interrupted: run master-key rotate again/)
  const completed = await rotate()
  assert.equal(completed.status, 0, completed.stderr)

  // Interrupted after the end, before the file got its name.
  const next = loadMasterKey(readConfig(env))!
  copyFileSync(keyFile, join(storage.dataDir, 'copy'))
  writeFileSync(keyFile, old)
  saveNextKey(storage.dataDir, next)
  await whileServing(async (service) =>
    assert.equal((await send(service, `/v1/decisions/${decision_id}/replay`)).body.matches, true),
  )
  assert.equal(readFileSync(keyFile, 'utf8'), readFileSync(join(storage.dataDir, 'copy'), 'utf8'))
  assert.ok(!existsSync(join(storage.dataDir, 'master.key.next')))
  rmSync(join(storage.dataDir, 'copy'))
  await verify()
})

/** Runs work on the open databases of the stopped service. */
async function onInstallation<T>(work: (installation: Installation) => Promise<T>): Promise<T> {
  const installation = await openInstallation(readConfig(env))
  return work(installation).finally(() => installation.close())
}

test('a rotation that a log refuses says nothing on any log', async () => {
  const announced = () =>
    onInstallation(async ({ storage: { environments } }) => {
      const types = await Promise.all(
        Object.values(environments).map((database) =>
          database.query("SELECT 1 FROM audit_entries WHERE type = 'master_key.rotation_begun'"),
        ),
      )
      return types.flat().length
    })
  const before = await announced()
  const reverseRoot = () =>
    onInstallation(({ storage: { environments } }) =>
      tamper(
        environments.production,
        `UPDATE audit_heads SET root_hash = reverse(root_hash)
         WHERE org_id <> 'installation' AND tree_size = (SELECT max(tree_size) FROM audit_heads WHERE org_id <> 'installation')`,
        [],
      ),
    )
  await reverseRoot()
  const refused = await rotate()
  await reverseRoot()
  assert.match(refused.stderr, /^Nothing was rotated: .*run audit verify/)
  assert.equal(await announced(), before)
  await verify()
})

test('a secret that cannot be decrypted is named and left, and does not stop a rotation', async () => {
  const [endpoint] = await onInstallation(({ storage: { environments } }) =>
    environments.sandbox.query<{ id: string; org_id: string; secret: string }>(
      'SELECT id, org_id, secret FROM webhook_endpoints',
    ),
  )
  const setSecret = (secret: string) =>
    onInstallation(({ storage: { environments } }) =>
      environments.sandbox.query('UPDATE webhook_endpoints SET secret = $1 WHERE id = $2', [secret, endpoint!.id]),
    )
  await setSecret('altered')
  const result = await rotate()
  assert.equal(result.status, 0, result.stderr)
  const left = `sandbox: the secret of ${endpoint!.org_id} ${endpoint!.id}`
  assert.ok(result.stdout.includes(`could not be decrypted and was left as it is: ${left}`), result.stdout)
  await onInstallation(async ({ storage: { environments } }) => {
    const [row] = await environments.sandbox.query('SELECT secret FROM webhook_endpoints')
    assert.deepEqual(row, { secret: 'altered' })
  })
  await setSecret(endpoint!.secret)
  await whileServing(async (service) =>
    assert.equal((await send(service, `/v1/decisions/${decision_id}/replay`)).body.matches, true),
  )
})

test('a node that starts while a rotation begins is seen by the rotation, or sees it', async () => {
  await onInstallation(async (installation) => {
    const { control } = installation.storage
    const query = control.query.bind(control)
    // Another node checks its database for the first time just before the rotation begins.
    Object.assign(control, {
      async query(sql: string, params: unknown[]) {
        if (sql.includes('SET next_master_key_check = $1')) await query("SELECT check_health('another node')")
        return query(sql, params)
      },
    })
    const rotating = rotateMasterKey(installation, { ...SERVICE, reason: 'test' })
    await assert.rejects(rotating, { code: 'nodes_running', message: /^A node has started meanwhile/ })
    Object.assign(control, { query })
    await control.query("DELETE FROM node_heartbeats WHERE node = 'another node'")
  })
  const completed = await rotate()
  assert.equal(completed.status, 0, completed.stderr)

  // The rotation begins at the moment of the first check of a node that starts.
  await onInstallation(async ({ storage: { control } }) => {
    await control.transaction((transaction) =>
      transaction.script(`
        CREATE FUNCTION begin_rotation() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN UPDATE verdigraph_control.installation SET next_master_key_check = 'next'; RETURN NULL; END $$;
        CREATE TRIGGER begins_rotation AFTER INSERT ON node_heartbeats EXECUTE FUNCTION begin_rotation();`),
    )
  })
  await assert.rejects(
    whileServing(async () => {}),
    /a rotation of the master key was interrupted/,
  )
  await onInstallation(async ({ storage: { control } }) => {
    await control.query('DROP TRIGGER begins_rotation ON node_heartbeats')
    await control.query('UPDATE installation SET next_master_key_check = NULL')
  })
  await verify()
})
