import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { type Service, type ServiceOptions, startService } from '../src/service/start-service.ts'
import { call } from './command-line.ts'
import { firstRunKey, freePorts, ON_TERMINAL, type ServiceProcess, spawnService } from './service-process.ts'
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

const logger = pino({ level: 'silent' })
const ANY_PORTS = { CONSOLE_PORT: '0', SANDBOX_PORT: '0', PRODUCTION_PORT: '0' }

/** Waits for a start to fail, and returns why, by the last line of its log. */
async function failureOf(service: ServiceProcess): Promise<string> {
  assert.equal(await service.exited, 1)
  return JSON.parse(service.output().trimEnd().split('\n').at(-1)!).msg
}

/** Starts the service in this process, which is quicker than in its own. */
function start(options: Partial<ServiceOptions> = {}): Promise<Service> {
  return startService(readConfig({ ...testStorage.env, ...ANY_PORTS }), { logger, ...options })
}

test('the first start returns a key and writes it to a file that only its owner can read; later starts return none', async () => {
  const first = await start()
  const file = join(testStorage.dataDir, 'first-run.txt')
  const key = /sk_sandbox_\w+/.exec(first.firstRunText!)![0]
  assert.equal(readFileSync(file, 'utf8'), first.firstRunText)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(join(testStorage.dataDir, 'master.key')).mode & 0o777, 0o600)
  const statusOf = async ({ urls }: Service) =>
    (await fetch(`${urls.sandbox}/v1/usage`, { headers: { Authorization: `Bearer ${key}` } })).status
  assert.equal(await statusOf(first), 200)
  await first.close()

  const second = await start()
  assert.equal(second.firstRunText, undefined)
  assert.equal(await statusOf(second), 200)
  await second.close()
})

test('a later start says where the console is, and how to get in while there is no owner', async () => {
  const ports = await freePorts()
  const consoleLine = `Console            http://127.0.0.1:${ports.console}\r\n`
  const service = spawnService(testStorage.env, ports, { launcher: ON_TERMINAL })
  await service.untilOutput(consoleLine)
  await service.untilOutput('First sign-in      by the link in ')
  const link = await call(testStorage.env, 'operators', 'first-link')
  const token = /#(\S+)/.exec(link.stdout)![1]!
  const owner = { email: 'ada@example.com', name: 'Ada', password: 'quiet harbour lantern 7' }
  const accepted = await fetch(`http://127.0.0.1:${ports.console}/api/open/welcome.accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: `http://127.0.0.1:${ports.console}` },
    body: JSON.stringify({ token, ...owner }),
  })
  assert.equal(accepted.status, 200)
  await service.stop()

  const next = spawnService(testStorage.env, ports, { launcher: ON_TERMINAL })
  await next.untilOutput(consoleLine)
  await next.stop()
  assert.doesNotMatch(next.output(), /First sign-in/)
})

/** Opens a keep-alive connection, sends the headers of a request, and waits until the server asks for the body. */
async function beginRequest({ urls }: Service, externalId: string) {
  const body = JSON.stringify({ external_id: externalId })
  const socket = connect(Number(new URL(urls.sandbox!).port), '127.0.0.1').setEncoding('utf8')
  const closed = once(socket, 'close')
  socket.on('error', () => {})
  socket.write(
    [
      'POST /v1/entities HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${firstRunKey(testStorage.dataDir)}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Connection: keep-alive',
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  )
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 Continue/)
  /** Sends the body and returns the answer; the connection stays open on this side. */
  const finish = async () => {
    socket.write(body)
    const answer = await Promise.race([once(socket, 'data').then(String), closed.then(() => 'no answer')])
    return answer.split('\r\n')
  }
  return { closed, finish }
}

test('a shutdown answers every request that has begun, and does not wait for the next on its connection', async () => {
  const service = await start({ finishWithinMs: 600_000 })
  const requests = await Promise.all(Array.from({ length: 20 }, (_, n) => beginRequest(service, `shutdown-${n}`)))
  const silent = connect(Number(new URL(service.urls.sandbox!).port), '127.0.0.1')
  await once(silent, 'connect')
  const closing = service.close()
  for (const { finish } of requests) {
    const lines = await finish()
    assert.equal(lines[0], 'HTTP/1.1 201 Created')
    assert.ok(lines.includes('connection: close') || lines.includes('Connection: close'), lines.join('\n'))
  }
  await Promise.all(requests.map(({ closed }) => closed))
  await closing
  silent.destroy()
})

test('a shutdown accepts no new connection, and stops waiting for a client that never finishes its request', async () => {
  const service = await start({ finishWithinMs: 200 })
  const { closed } = await beginRequest(service, 'never-finished')
  let hasEnded = false
  const closing = service.close().then(() => {
    hasEnded = true
  })
  const accepts = () =>
    fetch(`${service.urls.sandbox}/openapi.json`).then(
      () => true,
      () => false,
    )
  while (await accepts()) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(hasEnded, false, 'it waits for the client while it no longer accepts connections')
  await closed
  await closing
})

test('the data folder and its secrets are closed to other users, and a folder shared on purpose is refused', async () => {
  const { dataDir } = testStorage
  const heads = ['heads-sandbox.jsonl', 'heads-production.jsonl']
  const secrets = ['master.key', 'first-run.txt', ...(onPostgres ? [] : ['lock']), ...heads].map((name) =>
    join(dataDir, name),
  )
  chmodSync(dataDir, 0o777)
  for (const name of heads) appendFileSync(join(dataDir, name), '')
  for (const file of secrets) chmodSync(file, 0o666)
  const lines: string[] = []
  const service = await start({ logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) })
  await service.close()
  assert.equal(statSync(dataDir).mode & 0o777, 0o775)
  for (const file of secrets) assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(JSON.parse(lines[0]!).tightened, [dataDir, ...secrets])

  const shared = newFolder()
  chmodSync(shared, 0o1777)
  await assert.rejects(
    startService(readConfig({ ...ANY_PORTS, DATA_DIR: shared }), { logger }),
    /every user can write to .*: set DATA_DIR to a new folder inside it/,
  )
  assert.deepEqual(readdirSync(shared), [])
})

test('a start repairs what an interrupted one left: an empty pid file of PostgreSQL, an old socket, an unfinished secret', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const left = ['database/postmaster.pid', 'cli.sock', 'first-run.txt.unfinished']
  for (const name of left) writeFileSync(join(testStorage.dataDir, name), '')
  const service = await start()
  assert.ok(statSync(join(testStorage.dataDir, 'cli.sock')).isSocket())
  await service.close()
})

test('an embedded database that cannot be opened stops the start with one line, and the folder is unlocked', {
  skip: onPostgres && 'the embedded database only',
}, async () => {
  const storage = await createTestStorage()
  writeFileSync(join(storage.dataDir, 'database', 'global', 'pg_control'), 'not a control file')
  const service = spawnService(storage.env, await freePorts())
  assert.match(
    await failureOf(service),
    /^the embedded database in \S+ cannot be opened \(.+\): put a copy of that folder back, .*$/,
  )
  assert.equal(existsSync(join(storage.dataDir, 'holder.json')), false)
  await storage.remove()
})

test('an installation whose master key is missing does not start, and no other key is created', async () => {
  const file = join(testStorage.dataDir, 'master.key')
  const key = readFileSync(file)
  rmSync(file)
  await assert.rejects(start(), /the master key of this installation is missing/)
  const { stderr } = await call(testStorage.env, 'audit', 'verify')
  assert.match(stderr, /the master key of this installation is missing/)
  assert.equal(existsSync(file), false)
  writeFileSync(file, key, { mode: 0o600 })
})

test('a port in use stops the start with one line, and nothing is created', async (t) => {
  const ports = await freePorts()
  const holder = createServer().listen(ports.production, '127.0.0.1')
  t.after(() => holder.close())
  const dataDir = newFolder()
  const service = spawnService({ DATA_DIR: dataDir }, ports)
  assert.match(await failureOf(service), new RegExp(`^port ${ports.production} of 127.0.0.1 is in use: .*$`))
  assert.deepEqual(readdirSync(dataDir), [])
})

test('a data folder that cannot be written stops the start with one line', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  const service = spawnService({ DATA_DIR: join(file, 'data') }, await freePorts())
  assert.match(await failureOf(service), /cannot be written .*: set DATA_DIR to a folder that this user can write$/)
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
  assert.match(await failureOf(service), /^the database of DATABASE_URL cannot be reached: .*$/)
  assert.doesNotMatch(service.output(), /not-a-real-password/)
})

test('an invalid setting stops the start with one line that names it', async () => {
  const service = spawnService({ DATA_DIR: newFolder(), RATE_LIMIT_PER_SECOND: 'many' }, await freePorts())
  assert.match(await failureOf(service), /^RATE_LIMIT_PER_SECOND must be a whole number .*$/)
  for (const [env, message] of [
    [{ DATABASE_URL: 'mysql://x' }, /^DATABASE_URL must be a URL that starts with postgres:\/\/ /],
    [{ SANDBOX_PORT: '4999', PRODUCTION_PORT: '4999' }, /three different ports$/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of /],
  ] as const) {
    assert.throws(() => readConfig(env), { message })
  }
})

test('an installation does not start under another master key, and stays unchanged', async () => {
  const MASTER_KEY = Buffer.alloc(32, 1).toString('base64')
  await assert.rejects(
    startService(readConfig({ ...testStorage.env, ...ANY_PORTS, MASTER_KEY }), { logger }),
    /another master key than the installation was made with/,
  )
  const doctor = await call(testStorage.env, 'doctor')
  assert.equal(doctor.status, 0, doctor.stdout)
})

test('doctor names what is wrong and how to repair it', async () => {
  chmodSync(join(testStorage.dataDir, 'master.key'), 0o644)
  const readable = await call(testStorage.env, 'doctor')
  assert.equal(readable.status, 1)
  assert.match(readable.stdout, /^BAD {2}master key file: others can read .*chmod 600/m)
  chmodSync(join(testStorage.dataDir, 'master.key'), 0o600)
  assert.equal((await call(testStorage.env, 'doctor')).status, 0)

  const nowhere = join(tmpdir(), 'verdigraph-nowhere')
  const missing = await call({ DATA_DIR: nowhere }, 'doctor', '--json')
  assert.equal(missing.status, 1)
  assert.ok(
    JSON.parse(missing.stdout).some(({ name, ok }: { name: string; ok: boolean }) => name === 'installation' && !ok),
  )
  assert.equal(existsSync(nowhere), false, 'doctor creates nothing')
})
