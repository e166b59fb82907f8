/** One owner of the embedded folder: every other process is refused, in whatever container it runs. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  firstRunKey,
  freePorts,
  postJson,
  runCli,
  type ServiceProcess,
  spawnService,
  startServiceProcess,
} from '../tests/service-process.ts'
import { createTestStorage, onPostgres } from '../tests/test-storage.ts'
import { reportFigures, trials } from './proof-run.ts'

const skip = onPostgres && 'the embedded database only'

/** Runs a command as the first process of a new pid namespace, as a container does; it dies with its launcher. */
const launcher = [
  ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'],
  ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child'],
].find(([command, ...args]) => spawnSync(command!, [...args, 'true']).status === 0)
const skipNamespaces = skip || (!launcher && 'this machine does not permit pid namespaces (unshare)')

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Creates entities until it is stopped, and returns the external ids that were acknowledged. */
function write({ ports }: ServiceProcess, { key, prefix }: { key: string; prefix: string }) {
  const acknowledged: string[] = []
  let stopped = false
  const writer = async () => {
    for (let n = 0; !stopped; n++) {
      const body = { external_id: `${prefix}-${n}` }
      const answer = await postJson({ port: ports.sandbox, path: '/v1/entities' }, { key, body }).catch(() => undefined)
      if (answer?.status === 201) acknowledged.push(body.external_id)
    }
  }
  const writing = writer()
  return {
    acknowledged,
    stop: async () => {
      stopped = true
      await writing
    },
  }
}

test('a second server in another pid namespace is refused, and no acknowledged write is lost', {
  skip: skipNamespaces,
}, async (t) => {
  const storage = await createTestStorage()
  t.after(() => storage.remove())
  const acknowledged: string[] = []
  let refused = 0
  for (const [holderLauncher, otherLauncher] of [
    [[], launcher!],
    [launcher!, []],
    [launcher!, launcher!],
  ]) {
    const holder = await startServiceProcess(storage.env, undefined, holderLauncher)
    const writes = write(holder, { key: firstRunKey(storage.dataDir), prefix: `round-${refused}` })
    const other = spawnService(storage.env, await freePorts(), { launcher: otherLauncher ?? [] })
    assert.equal(await other.exited, 1, other.output())
    assert.match(other.output(), /is in use by process \d+ on \S+: stop that process/)
    assert.match(runCli(storage.env, 'orgs', 'list').stdout, /org_/, 'commands reach the server through its socket')
    refused++
    await writes.stop()
    acknowledged.push(...writes.acknowledged)
    holder.child.kill('SIGKILL')
    await holder.exited
  }
  const last = await startServiceProcess(storage.env)
  for (const external_id of acknowledged) {
    const again = await postJson(
      { port: last.ports.sandbox, path: '/v1/entities' },
      { key: firstRunKey(storage.dataDir), body: { external_id } },
    )
    assert.equal(again.status, 200, `${external_id} was acknowledged and is lost`)
  }
  assert.equal(await last.stop(), 0)
  assert.equal(runCli(storage.env, 'audit', 'verify').status, 0)
  reportFigures(t, `${refused} servers in other pid namespaces refused, ${acknowledged.length} writes, 0 lost`)
})

/** Locks a folder on its first input, prints the result, and holds the lock until it is killed. */
const PROGRAM = `
  import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, '../src/store/database/folder-lock.ts'))}
  process.stdin.once('data', () =>
    lockFolder(process.argv[1]).then(() => console.log('held'), (error) => console.log(error.name)))
  console.log('ready')
`

const nextLine = async (child: ReturnType<typeof spawnLocker>) => String((await once(child.stdout, 'data'))[0]).trim()

function spawnLocker(folder: string) {
  return spawn(process.execPath, ['--input-type=module-typescript', '--eval', PROGRAM, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

test('of processes that lock one folder at the same moment exactly one wins, whenever the holder before was killed', {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-owner-'))
  folders.push(folder)
  const CONTENDERS = 6
  const races = trials(4)
  for (let race = 0; race < races; race++) {
    const children = Array.from({ length: CONTENDERS }, () => spawnLocker(folder))
    await Promise.all(children.map(nextLine))
    const results = Promise.all(children.map(nextLine))
    for (const { stdin } of children) stdin.write('go')
    const held = (await results).filter((line) => line === 'held').length
    const ended = children.map((child) => once(child, 'exit'))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ended)
    assert.equal(held, 1, `${held} of ${CONTENDERS} processes hold the lock`)
  }
  assert.deepEqual(readdirSync(folder), ['holder.json', 'lock'], 'kills leave no other file behind')
  reportFigures(t, `${races} races of ${CONTENDERS} processes, each after kill -9, one winner each`)
})

test('of four servers that start at once on an empty folder, one serves and three say who does', {
  skip,
}, async (t) => {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'verdigraph-owner-')), 'data')
  folders.push(dataDir)
  const servers = await Promise.all(
    Array.from({ length: 4 }, async () => spawnService({ DATA_DIR: dataDir }, await freePorts())),
  )
  const endings = await Promise.all(
    servers.map((server) => Promise.race([server.exited, server.untilOutput('"msg":"ready"').then(() => 'ready')])),
  )
  assert.deepEqual(endings.toSorted(), [1, 1, 1, 'ready'])
  const winner = servers[endings.indexOf('ready')]!
  for (const server of servers.filter((one) => one !== winner)) assert.match(server.output(), /is in use by /)
  assert.equal(await winner.stop(), 0)
  assert.equal(existsSync(join(dataDir, 'holder.json')), false)
  reportFigures(t, '4 servers started at once, 1 served')
})
