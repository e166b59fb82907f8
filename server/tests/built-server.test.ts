/** The build of the server, made and started as `npm start` does, in a copy of the code. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { firstRunKey, freePorts, postJson, type ServiceProcess, spawnService } from './service-process.ts'

const ROOT = join(import.meta.dirname, '../..')
const COPIED = ['bin', 'policies', 'scripts', 'server/src', 'package.json', 'package-lock.json']

const folder = mkdtempSync(join(tmpdir(), 'verdigraph-built-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const tree = join(folder, 'tree')
const dataDir = join(folder, 'data')
for (const path of COPIED) cpSync(join(ROOT, path), join(tree, path), { recursive: true })
symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))

/** Makes the code read-only for a process, by a mount of its own: root may write in spite of the modes of files. */
const READ_ONLY = [
  'unshare',
  '--mount',
  'sh',
  '-c',
  `mount --bind ${tree} ${tree} && mount -o remount,bind,ro ${tree} && exec "$@"`,
  'sh',
]

async function start({
  launcher = [] as readonly string[],
  args = [] as readonly string[],
} = {}): Promise<ServiceProcess> {
  const command = [...launcher, process.execPath, join(tree, 'bin/start.cjs'), ...args]
  // Without a compile cache: that of the tests is not for code that is deleted with them.
  const service = spawnService({ DATA_DIR: dataDir, NODE_COMPILE_CACHE: '' }, await freePorts(), { command })
  await service.untilOutput('"msg":"ready"')
  return service
}

function build(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(tree, 'scripts/build-server.ts')], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}

function builds(): string[] {
  return existsSync(join(tree, 'build')) ? readdirSync(join(tree, 'build')) : []
}

test('without a build, the service runs from source, says so, and builds for the next start', async () => {
  const service = await start({ args: ['--build-page'] })
  assert.match(service.output(), /"msg":"running from source: there is no build"/)
  await service.untilOutput('built the server for the next start')
  assert.equal(await service.stop(), 0)
  assert.equal(builds().length, 1, builds().join())
})

test('the built server decides, its threads check policies, and it finds migrations and policies', async () => {
  const service = await start()
  assert.doesNotMatch(service.output(), /from source/)
  const key = firstRunKey(dataDir)
  const at = (path: string) => ({ port: service.ports.sandbox, path })
  const entity = await postJson(at('/v1/entities'), {
    key,
    body: { external_id: 'built-1', type: 'business', display_name: 'Built', country: 'DE' },
  })
  assert.equal(entity.status, 201, entity.text)
  const decision = await postJson(at('/v1/underwrite'), {
    key,
    headers: { 'Idempotency-Key': 'built-1' },
    body: {
      entity_id: JSON.parse(entity.text).id,
      product: 'business_credit_line',
      requested_amount: 5000,
      currency: 'EUR',
    },
  })
  assert.equal(decision.status, 201, decision.text)
  assert.equal(JSON.parse(decision.text).policy_version, 'sandbox-policy-v1')
  // The running server compares them, and checks the file in a thread.
  const [build] = builds()
  const diff = spawnSync(
    process.execPath,
    [join(tree, 'build', build!, 'cli.js'), 'policy', 'diff', 'sandbox-policy-v1', 'policies/sandbox-policy-v1.yaml'],
    { cwd: tree, env: { DATA_DIR: dataDir }, encoding: 'utf8' },
  )
  assert.equal(diff.status, 0, diff.stderr)
  assert.equal(await service.stop(), 0)
})

const canMount = spawnSync(READ_ONLY[0]!, [...READ_ONLY.slice(1), 'true']).status === 0

test('read-only code starts from its build', { skip: !canMount && 'this machine allows no mounts' }, async () => {
  const before = builds()
  const service = await start({ launcher: READ_ONLY, args: ['--build-page'] })
  assert.doesNotMatch(service.output(), /from source/)
  assert.equal(await service.stop(), 0)
  assert.deepEqual(builds(), before)
})

test('a changed source is run instead of the build of the old one, and a build of it fits again', async () => {
  appendFileSync(join(tree, 'server/src/version.ts'), '\n')
  const service = await start()
  assert.match(service.output(), /"msg":"running from source: the sources have changed since the build"/)
  assert.equal(await service.stop(), 0)
  build()
  assert.equal(builds().length, 2, 'a process that runs the old build may still load parts of it')
})

test('read-only code without a build runs from source, and says why it builds none', {
  skip: !canMount && 'this machine allows no mounts',
}, async () => {
  rmSync(join(tree, 'build'), { recursive: true })
  const service = await start({ launcher: READ_ONLY, args: ['--build-page'] })
  assert.match(service.output(), /"msg":"running from source: there is no build"/)
  await service.untilOutput('the server cannot be built here')
  assert.equal(await service.stop(), 0)
  assert.deepEqual(builds(), [])
})
