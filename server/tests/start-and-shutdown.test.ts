import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freePorts, runCli, spawnService, startServiceProcess } from './service-process.ts'
import { createTestStorage, onPostgres } from './test-storage.ts'

const place = await createTestStorage()
const folders: string[] = []
after(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  await place.remove()
})

/** An empty folder, gone with the last of these tests. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-start-'))
  folders.push(folder)
  return folder
}

test('the first start prints a key and keeps it in a file for its owner only; later starts print no secret', async () => {
  const first = await startServiceProcess(place.env)
  const file = join(place.dataDir, 'first-run.txt')
  const key = /sk_sandbox_\w+/.exec(first.output())?.[0]
  assert.ok(key, first.output())
  assert.ok(readFileSync(file, 'utf8').includes(key))
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(join(place.dataDir, 'master.key')).mode & 0o777, 0o600)
  const used = await fetch(`http://127.0.0.1:${first.ports.sandbox}/v1/usage`, {
    headers: { Authorization: `Bearer ${key}` },
  })
  assert.equal(used.status, 200)
  first.child.kill('SIGTERM')
  assert.equal(await first.exited, 0)

  const second = await startServiceProcess(place.env)
  assert.doesNotMatch(second.output(), /sk_/)
  const again = await fetch(`http://127.0.0.1:${second.ports.sandbox}/v1/usage`, {
    headers: { Authorization: `Bearer ${key}` },
  })
  assert.equal(again.status, 200)
  second.child.kill('SIGTERM')
  assert.equal(await second.exited, 0)
})

test('a shutdown finishes the requests that were begun', async () => {
  const service = await startServiceProcess(place.env)
  const key = /sk_sandbox_\w+/.exec(readFileSync(join(place.dataDir, 'first-run.txt'), 'utf8'))![0]
  const call = (n: number) =>
    fetch(`http://127.0.0.1:${service.ports.sandbox}/v1/entities`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ external_id: `shutdown-${n}` }),
    }).then(
      (response) => response.status,
      () => 'refused',
    )
  assert.equal(await call(0), 201)
  const calls = Array.from({ length: 50 }, (_, n) => call(n + 1))
  service.child.kill('SIGTERM')
  const answers = await Promise.all(calls)
  assert.equal(await service.exited, 0)
  assert.deepEqual(
    answers.filter((answer) => answer !== 201 && answer !== 'refused'),
    [],
    'answered whole or not accepted at all',
  )
})

test('a shutdown is asked for twice where a whole group is signalled, and still comes to its end', async () => {
  const service = await startServiceProcess(place.env)
  // A request that has begun and never ends keeps the shutdown going.
  const slow = connect(service.ports.sandbox, '127.0.0.1')
  slow.on('error', () => {})
  slow.write('POST /v1/entities HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n')
  service.child.kill('SIGTERM')
  while (!service.output().includes('shutting down')) await new Promise((resolve) => setTimeout(resolve, 10))
  service.child.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, 100))
  slow.destroy()
  assert.equal(await service.exited, 0)
})

test('a client that never finishes its request does not hold a shutdown up for good, and nothing new is accepted', async () => {
  const service = await startServiceProcess(place.env)
  const socket = connect(service.ports.sandbox, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    'POST /v1/entities HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  )
  await new Promise((resolve) => setTimeout(resolve, 200))
  service.child.kill('SIGTERM')
  const accepts = () =>
    fetch(`http://127.0.0.1:${service.ports.sandbox}/openapi.json`).then(
      () => true,
      () => false,
    )
  while (await accepts()) await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(service.child.exitCode, null, 'it still waits for the client when it no longer accepts another')
  assert.equal(await service.exited, 0)
  assert.equal(existsSync(join(place.dataDir, 'lock')), false)
})

test('a database whose making was cut short is made anew, and a whole one is kept', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const dataDir = newFolder()
  const note = join(dataDir, 'database', 'verdigraph.unfinished')
  const cut = spawnService({ DATA_DIR: dataDir }, await freePorts())
  while (!existsSync(join(dataDir, 'database', 'PG_VERSION')) && cut.child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 1))
  cut.child.kill('SIGKILL')
  await cut.exited
  assert.ok(existsSync(note), 'it was killed before the database was whole')
  assert.match(runCli({ DATA_DIR: dataDir }, 'orgs', 'list').stderr, /not set up yet/)
  assert.ok(existsSync(note), 'a command neither mends nor makes a database')

  const whole = await startServiceProcess({ DATA_DIR: dataDir })
  assert.match(whole.output(), /sk_sandbox_/)
  assert.equal(existsSync(note), false)
  whole.child.kill('SIGKILL')
  await whole.exited
  const later = await startServiceProcess({ DATA_DIR: dataDir })
  assert.doesNotMatch(later.output(), /sk_/)
  later.child.kill('SIGTERM')
  assert.equal(await later.exited, 0)
})

test('a database that cannot be opened is one clear line, and the folder is given back', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const storage = await createTestStorage()
  writeFileSync(join(storage.dataDir, 'database', 'global', 'pg_control'), 'not a control file')
  const service = spawnService(storage.env, await freePorts())
  assert.equal(await service.exited, 1)
  assert.match(
    service.output(),
    /^the embedded database in \S+ cannot be opened \(.+\): put a copy of that folder back, .*\.\n$/,
  )
  assert.equal(existsSync(join(storage.dataDir, 'lock')), false)
  await storage.remove()
})

test('a missing master key is refused, and no other is made in its place', async () => {
  const file = join(place.dataDir, 'master.key')
  const key = readFileSync(file)
  rmSync(file)
  const service = spawnService(place.env, await freePorts())
  assert.equal(await service.exited, 1)
  assert.match(service.output(), /the master key of this installation is missing/)
  assert.match(runCli(place.env, 'audit', 'verify').stderr, /the master key of this installation is missing/)
  assert.equal(existsSync(file), false)
  writeFileSync(file, key, { mode: 0o600 })
})

test('a port in use is one clear line, and nothing was created', async () => {
  const ports = await freePorts()
  const holder = createServer().listen(ports.production, '127.0.0.1')
  const dataDir = newFolder()
  const service = spawnService({ DATA_DIR: dataDir }, ports)
  assert.equal(await service.exited, 1)
  assert.match(
    service.output(),
    new RegExp(`^(Creating.*\n)*Port ${ports.production} of 127.0.0.1 is in use: .*\n$`, 'm'),
  )
  assert.deepEqual(readdirSync(dataDir), [])
  holder.close()
})

test('a data folder that cannot be written is one clear line', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  const service = spawnService({ DATA_DIR: join(file, 'data') }, await freePorts())
  assert.equal(await service.exited, 1)
  assert.match(service.output(), /cannot be written .*: set DATA_DIR to a folder of this user\.\n$/)
})

test('a database that cannot be reached is one clear line without its password', async () => {
  const { sandbox: closedPort } = await freePorts()
  const service = spawnService(
    {
      DATA_DIR: newFolder(),
      DATABASE_URL: `postgresql://u:not-a-real-password@127.0.0.1:${closedPort}/x`,
    },
    await freePorts(),
  )
  assert.equal(await service.exited, 1)
  assert.match(service.output(), /^the database of DATABASE_URL cannot be reached: .*\n$/)
  assert.doesNotMatch(service.output(), /not-a-real-password/)
})

test('settings that cannot be used are one clear line', async () => {
  for (const [env, line] of [
    [{ RATE_LIMIT_PER_SECOND: 'many' }, /^RATE_LIMIT_PER_SECOND must be a whole number .*\n$/],
    [{ DATABASE_URL: 'mysql://x' }, /^DATABASE_URL must be a URL that starts with postgres:\/\/ .*\n$/],
    [{ SANDBOX_PORT: '4999', PRODUCTION_PORT: '4999' }, /three different ports\.\n$/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of .*\n$/],
  ] as const) {
    const service = spawnService({ DATA_DIR: newFolder(), ...env }, await freePorts())
    assert.equal(await service.exited, 1)
    assert.match(service.output(), line)
  }
})

test('another master key is refused, and the installation stays as it was', async () => {
  const service = spawnService({ ...place.env, MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }, await freePorts())
  assert.equal(await service.exited, 1)
  assert.match(service.output(), /another master key than the installation was made with/)
  const doctor = runCli(place.env, 'doctor')
  assert.equal(doctor.status, 0, doctor.stdout)
})

test('a data folder held by another process is refused by name, and one left by a dead process is taken over', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const holder = await startServiceProcess(place.env)
  const second = spawnService(place.env, await freePorts())
  assert.equal(await second.exited, 1)
  assert.match(
    second.output(),
    new RegExp(`is in use by process ${holder.child.pid}: stop that process, or set DATA_DIR to another folder\\.\n$`),
  )
  holder.child.kill('SIGKILL')
  await holder.exited
  assert.ok(existsSync(join(place.dataDir, 'lock')), 'a killed process leaves its lock')
  const third = await startServiceProcess(place.env)
  third.child.kill('SIGTERM')
  assert.equal(await third.exited, 0)
})

test('doctor says what is wrong and how to mend it', async () => {
  chmodSync(join(place.dataDir, 'master.key'), 0o644)
  const readable = runCli(place.env, 'doctor')
  assert.equal(readable.status, 1)
  assert.match(readable.stdout, /^BAD {2}master key file: others can read .*chmod 600/m)
  chmodSync(join(place.dataDir, 'master.key'), 0o600)
  assert.equal(runCli(place.env, 'doctor').status, 0)

  const nowhere = join(tmpdir(), 'verdigraph-nowhere')
  const missing = runCli({ DATA_DIR: nowhere }, 'doctor', '--json')
  assert.equal(missing.status, 1)
  assert.ok(
    JSON.parse(missing.stdout).some(({ name, ok }: { name: string; ok: boolean }) => name === 'installation' && !ok),
  )
  assert.equal(existsSync(nowhere), false, 'looking creates nothing')
})
