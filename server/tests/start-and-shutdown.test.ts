import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  firstRunKey,
  freePorts,
  runCli,
  type ServiceProcess,
  spawnService,
  startServiceProcess,
} from './service-process.ts'
import { createTestStorage, onPostgres } from './test-storage.ts'

const testStorage = await createTestStorage()
const folders: string[] = []
after(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  await testStorage.remove()
})

/** An empty folder, deleted after the last of these tests. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-start-'))
  folders.push(folder)
  return folder
}

test('the first start prints a key and writes it to a file that only its owner can read; later starts print none', async () => {
  const first = await startServiceProcess(testStorage.env)
  const file = join(testStorage.dataDir, 'first-run.txt')
  const key = /sk_sandbox_\w+/.exec(first.output())?.[0]
  assert.ok(key, first.output())
  assert.ok(readFileSync(file, 'utf8').includes(key))
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(join(testStorage.dataDir, 'master.key')).mode & 0o777, 0o600)
  const used = await fetch(`http://127.0.0.1:${first.ports.sandbox}/v1/usage`, {
    headers: { Authorization: `Bearer ${key}` },
  })
  assert.equal(used.status, 200)
  assert.equal(await first.stop(), 0)

  const second = await startServiceProcess(testStorage.env)
  assert.doesNotMatch(second.output(), /sk_/)
  const again = await fetch(`http://127.0.0.1:${second.ports.sandbox}/v1/usage`, {
    headers: { Authorization: `Bearer ${key}` },
  })
  assert.equal(again.status, 200)
  assert.equal(await second.stop(), 0)
})

/** A request whose headers the server has received and whose body it waits for. */
interface BegunRequest {
  socket: Socket
  /** Sends the body, resolves with the first line of the answer, and disconnects. */
  finish(): Promise<string>
}

/** Sends the headers of a request, and waits until the server asks for the body. */
async function beginRequest({ ports }: ServiceProcess, externalId: string): Promise<BegunRequest> {
  const body = JSON.stringify({ external_id: externalId })
  const socket = connect(ports.sandbox, '127.0.0.1').setEncoding('utf8')
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('closed without an answer')))
  socket.write(
    [
      'POST /v1/entities HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${firstRunKey(testStorage.dataDir)}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  )
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 Continue/)
  const finish = async () => {
    socket.write(body)
    const answer = await Promise.race([once(socket, 'data').then(String), closed])
    socket.destroy()
    return answer.split('\r\n')[0]!
  }
  return { socket, finish }
}

test('a shutdown answers every request that has begun', async () => {
  const service = await startServiceProcess(testStorage.env)
  const requests = await Promise.all(Array.from({ length: 20 }, (_, n) => beginRequest(service, `shutdown-${n}`)))
  service.child.kill('SIGTERM')
  await service.untilOutput('shutting down')
  const answers = await Promise.all(requests.map(({ finish }) => finish()))
  assert.deepEqual(new Set(answers), new Set(['HTTP/1.1 201 Created']))
  assert.equal(await service.exited, 0)
})

test('a second SIGTERM does not cut a shutdown short: a supervisor that signals the process group sends two', async () => {
  const service = await startServiceProcess(testStorage.env)
  const { finish } = await beginRequest(service, 'signalled-twice')
  service.child.kill('SIGTERM')
  await service.untilOutput('shutting down')
  service.child.kill('SIGTERM')
  assert.equal(await finish(), 'HTTP/1.1 201 Created')
  assert.equal(await service.exited, 0)
})

test('a shutdown accepts no new connection, and stops waiting for a client that never finishes its request', async () => {
  const service = await startServiceProcess(testStorage.env)
  const { socket } = await beginRequest(service, 'never-finished')
  service.child.kill('SIGTERM')
  const accepts = () =>
    fetch(`http://127.0.0.1:${service.ports.sandbox}/openapi.json`).then(
      () => true,
      () => false,
    )
  while (await accepts()) await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(service.child.exitCode, null, 'it waits for the client while it no longer accepts connections')
  assert.equal(await service.exited, 0)
  assert.equal(existsSync(join(testStorage.dataDir, 'lock')), false)
  socket.destroy()
})

test('an embedded database whose creation was interrupted is created again, and a complete one is kept', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const dataDir = newFolder()
  const unfinished = join(dataDir, 'database', 'verdigraph.unfinished')
  const interrupted = spawnService({ DATA_DIR: dataDir }, await freePorts())
  while (!existsSync(join(dataDir, 'database', 'PG_VERSION')) && interrupted.child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 1))
  interrupted.child.kill('SIGKILL')
  await interrupted.exited
  assert.ok(existsSync(unfinished), 'the process was killed before the database was complete')
  assert.match(runCli({ DATA_DIR: dataDir }, 'orgs', 'list').stderr, /not set up yet/)
  assert.ok(existsSync(unfinished), 'a command neither repairs nor creates a database')

  const complete = await startServiceProcess({ DATA_DIR: dataDir })
  assert.match(complete.output(), /sk_sandbox_/)
  assert.equal(existsSync(unfinished), false)
  complete.child.kill('SIGKILL')
  await complete.exited
  const later = await startServiceProcess({ DATA_DIR: dataDir })
  assert.doesNotMatch(later.output(), /sk_/)
  assert.equal(await later.stop(), 0)
})

test('an embedded database that cannot be opened stops the start with one line, and the folder is unlocked', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const storage = await createTestStorage()
  writeFileSync(join(storage.dataDir, 'database', 'global', 'pg_control'), 'not a control file')
  const service = spawnService(storage.env, await freePorts())
  assert.equal(await service.exited, 1)
  assert.match(
    service.output(),
    /^the embedded database in \S+ cannot be opened \(.+\): put a copy of that folder back, .*\n$/,
  )
  assert.equal(existsSync(join(storage.dataDir, 'lock')), false)
  await storage.remove()
})

test('an installation whose master key is missing does not start, and no other key is created', async () => {
  const file = join(testStorage.dataDir, 'master.key')
  const key = readFileSync(file)
  rmSync(file)
  const service = spawnService(testStorage.env, await freePorts())
  assert.equal(await service.exited, 1)
  assert.match(service.output(), /the master key of this installation is missing/)
  assert.match(runCli(testStorage.env, 'audit', 'verify').stderr, /the master key of this installation is missing/)
  assert.equal(existsSync(file), false)
  writeFileSync(file, key, { mode: 0o600 })
})

test('a port in use stops the start with one line, and nothing is created', async () => {
  const ports = await freePorts()
  const holder = createServer().listen(ports.production, '127.0.0.1')
  const dataDir = newFolder()
  const service = spawnService({ DATA_DIR: dataDir }, ports)
  assert.equal(await service.exited, 1)
  assert.match(
    service.output(),
    new RegExp(`^(Creating.*\n)*port ${ports.production} of 127.0.0.1 is in use: .*\n$`, 'm'),
  )
  assert.deepEqual(readdirSync(dataDir), [])
  holder.close()
})

test('a data folder that cannot be written stops the start with one line', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  const service = spawnService({ DATA_DIR: join(file, 'data') }, await freePorts())
  assert.equal(await service.exited, 1)
  assert.match(service.output(), /cannot be written .*: set DATA_DIR to a folder that this user can write\n$/)
})

test('a database that cannot be reached stops the start with one line that does not show its password', async () => {
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

test('an invalid setting stops the start with one line that names it', async () => {
  for (const [env, line] of [
    [{ RATE_LIMIT_PER_SECOND: 'many' }, /^RATE_LIMIT_PER_SECOND must be a whole number .*\n$/],
    [{ DATABASE_URL: 'mysql://x' }, /^DATABASE_URL must be a URL that starts with postgres:\/\/ .*\n$/],
    [{ SANDBOX_PORT: '4999', PRODUCTION_PORT: '4999' }, /three different ports\n$/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of .*\n$/],
  ] as const) {
    const service = spawnService({ DATA_DIR: newFolder(), ...env }, await freePorts())
    assert.equal(await service.exited, 1)
    assert.match(service.output(), line)
  }
})

test('an installation does not start under another master key, and stays unchanged', async () => {
  const service = spawnService(
    { ...testStorage.env, MASTER_KEY: Buffer.alloc(32, 1).toString('base64') },
    await freePorts(),
  )
  assert.equal(await service.exited, 1)
  assert.match(service.output(), /another master key than the installation was made with/)
  const doctor = runCli(testStorage.env, 'doctor')
  assert.equal(doctor.status, 0, doctor.stdout)
})

test('a data folder locked by a running process is refused with its process id, and the lock of a killed one is replaced', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const holder = await startServiceProcess(testStorage.env)
  const second = spawnService(testStorage.env, await freePorts())
  assert.equal(await second.exited, 1)
  assert.match(
    second.output(),
    new RegExp(`is in use by process ${holder.child.pid}: stop that process, or set DATA_DIR to another folder\n$`),
  )
  holder.child.kill('SIGKILL')
  await holder.exited
  assert.ok(existsSync(join(testStorage.dataDir, 'lock')), 'a killed process leaves its lock')
  const third = await startServiceProcess(testStorage.env)
  assert.equal(await third.stop(), 0)
})

test('doctor names what is wrong and how to repair it', async () => {
  chmodSync(join(testStorage.dataDir, 'master.key'), 0o644)
  const readable = runCli(testStorage.env, 'doctor')
  assert.equal(readable.status, 1)
  assert.match(readable.stdout, /^BAD {2}master key file: others can read .*chmod 600/m)
  chmodSync(join(testStorage.dataDir, 'master.key'), 0o600)
  assert.equal(runCli(testStorage.env, 'doctor').status, 0)

  const nowhere = join(tmpdir(), 'verdigraph-nowhere')
  const missing = runCli({ DATA_DIR: nowhere }, 'doctor', '--json')
  assert.equal(missing.status, 1)
  assert.ok(
    JSON.parse(missing.stdout).some(({ name, ok }: { name: string; ok: boolean }) => name === 'installation' && !ok),
  )
  assert.equal(existsSync(nowhere), false, 'doctor creates nothing')
})
