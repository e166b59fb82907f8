/** Starting and stopping the service as users run it: in its own process, with real signals. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  firstRunKey,
  freePorts,
  runCli,
  type ServiceProcess,
  spawnService,
  startServiceProcess,
} from '../tests/service-process.ts'
import { createEmptyTestStorage, createTestStorage, onPostgres } from '../tests/test-storage.ts'
import { reportFigures } from './proof-run.ts'

test('an embedded database whose creation was interrupted is created again, and a complete one is kept', {
  skip: onPostgres && 'the embedded database only',
}, async (t) => {
  const { env, dataDir, remove } = await createEmptyTestStorage()
  t.after(remove)
  const unfinished = join(dataDir, 'database', 'verdigraph.unfinished')
  const interrupted = spawnService(env, await freePorts())
  while (!existsSync(join(dataDir, 'database', 'PG_VERSION')) && interrupted.child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 1))
  interrupted.child.kill('SIGKILL')
  await interrupted.exited
  assert.ok(existsSync(unfinished), 'the process was killed before the database was complete')
  assert.match(runCli(env, 'orgs', 'list').stderr, /not set up yet/)
  assert.ok(existsSync(unfinished), 'a command neither repairs nor creates a database')

  const complete = await startServiceProcess(env)
  assert.match(firstRunKey(dataDir), /^sk_sandbox_/)
  assert.equal(existsSync(unfinished), false)
  complete.child.kill('SIGKILL')
  await complete.exited
  const later = await startServiceProcess(env)
  assert.equal(await later.stop(), 0)

  const files = readdirSync(dataDir, { recursive: true }).map((name) => join(dataDir, String(name)))
  // PostgreSQL writes this cache of its own catalogue with a mode that PGlite does not mask; the folder is closed.
  const secret = files.filter((file) => !file.endsWith('pg_internal.init'))
  const open = secret.filter((file) => statSync(file).mode & 0o077)
  assert.deepEqual(open, [], 'other users can read or write none of the files')
  reportFigures(t, `${secret.length} files of the data folder, all for their owner only`)
})

/** Sends the headers of a request on a keep-alive connection, and waits until the server asks for the body. */
async function beginRequest({ ports }: ServiceProcess, key: string): Promise<() => Promise<string>> {
  const body = JSON.stringify({ external_id: 'signalled' })
  const socket = connect(ports.sandbox, '127.0.0.1').setEncoding('utf8')
  const head = ['POST /v1/entities HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key}`]
  const type = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue']
  socket.write([...head, ...type, '\r\n'].join('\r\n'))
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 Continue/)
  return async () => {
    socket.write(body)
    return String(await once(socket, 'data')).split('\r\n', 1)[0]!
  }
}

test('SIGTERM answers what has begun, and a second one does not cut it short: a supervisor that signals the process group sends two', async (t) => {
  const { env, dataDir, remove } = await createTestStorage()
  t.after(remove)
  const service = await startServiceProcess(env)
  const finish = await beginRequest(service, firstRunKey(dataDir))
  service.child.kill('SIGTERM')
  await service.untilOutput('shutting down')
  service.child.kill('SIGTERM')
  assert.equal(await finish(), 'HTTP/1.1 201 Created')
  assert.equal(await service.exited, 0)
  assert.equal(existsSync(join(dataDir, 'cli.sock')), false)
  assert.equal(existsSync(join(dataDir, 'holder.json')), false)
})
