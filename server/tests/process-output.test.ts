/** What the process of the service writes: words and the first key for a person at a terminal, JSON lines for a log. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { firstRunKey, freePorts, ON_TERMINAL, type ServiceProcess, spawnService } from './service-process.ts'
import { createEmptyTestStorage } from './test-storage.ts'

/** Lets a test cause what no request can: a warning of Node.js, and an error that nothing handles. */
const FAULTS = `--import=data:text/javascript,${encodeURIComponent(`
  process.on('SIGUSR2', () => process.emitWarning('a warning of the test'))
  process.on('SIGHUP', () => { throw new Error('an error of the test') })
`)}`

/** The lines of a log; fails if one of them is not a JSON object. */
function linesOf(service: ServiceProcess): { msg: string; file?: string; err?: { message: string } }[] {
  const lines = service.output().trimEnd().split('\n')
  return lines.map((line) => {
    assert.match(line, /^\{.*\}$/, `a line of the log is not JSON:\n${service.output()}`)
    return JSON.parse(line)
  })
}

test('without a terminal all output is JSON lines, and the first key and link are only in their file', async (t) => {
  const { env, dataDir, remove } = await createEmptyTestStorage()
  t.after(remove)
  const service = spawnService({ ...env, NODE_OPTIONS: FAULTS }, await freePorts())
  await service.untilOutput('"msg":"ready"')
  service.child.kill('SIGUSR2')
  await service.untilOutput('a warning of the test')
  assert.equal(await service.stop(), 0)

  const file = join(dataDir, 'first-run.txt')
  assert.equal(linesOf(service).find(({ msg }) => msg.startsWith('the first key'))?.file, file)
  const link = /\/welcome#(\S+)/.exec(readFileSync(file, 'utf8'))![1]!
  for (const secret of [firstRunKey(dataDir), link, 'sk_', 'welcome#']) {
    assert.ok(!service.output().includes(secret), `the output has ${secret}`)
  }

  const later = spawnService({ ...env, NODE_OPTIONS: FAULTS }, await freePorts())
  await later.untilOutput('the link for the first sign-in is in a file')
  later.child.kill('SIGHUP')
  assert.equal(await later.exited, 1)
  assert.equal(linesOf(later).at(-1)?.err?.message, 'an error of the test')
})

test('a node whose data folder lacks the link for the first sign-in names no file of its own', async (t) => {
  const { env, dataDir, remove } = await createEmptyTestStorage()
  t.after(remove)
  for (const said of ['"msg":"ready"', 'the node that was started first has the link for the first sign-in']) {
    const service = spawnService(env, await freePorts())
    await service.untilOutput(said)
    await service.stop()
    rmSync(join(dataDir, 'first-run.txt'), { force: true })
  }
})

test('a terminal shows the first key and the link for the first sign-in, once', async (t) => {
  const { env, dataDir, remove } = await createEmptyTestStorage()
  t.after(remove)
  const start = async () => {
    const service = spawnService(env, await freePorts(), { launcher: ON_TERMINAL })
    await service.untilOutput('"msg":"ready"')
    await service.stop()
    return service.output().replaceAll('\r\n', '\n')
  }
  const first = await start()
  const text = readFileSync(join(dataDir, 'first-run.txt'), 'utf8')
  assert.match(text, /\/welcome#\S+/)
  assert.ok(first.includes(`\n${text}\nSaved in ${dataDir}`), first)
  assert.doesNotMatch(await start(), /sk_sandbox_|welcome#/)
})

test('a start that fails explains it in one line: in words on a terminal, in JSON elsewhere, at every log level', async (t) => {
  const { env, remove } = await createEmptyTestStorage()
  t.after(remove)
  const ports = await freePorts()
  const holder = createServer().listen(ports.sandbox, '127.0.0.1')
  t.after(() => holder.close())
  const start = (launcher: readonly string[]) => spawnService({ ...env, LOG_LEVEL: 'silent' }, ports, { launcher })

  const logged = start([])
  assert.equal(await logged.exited, 1)
  assert.match(linesOf(logged).at(-1)!.msg, /is in use: stop the process that listens there/)
  const shown = start(ON_TERMINAL)
  assert.equal(await shown.exited, 1)
  assert.match(shown.output(), /^port \d+ of 127.0.0.1 is in use: .*\r$/m)
})
