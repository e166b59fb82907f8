/** No delivery is lost (promise 7): receivers fail, nodes are killed, and every event arrives signed. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import { openStorage } from '../src/store/storage.ts'
import { freePorts, runCli } from '../tests/service-process.ts'
import { createTestStorage, onPostgres } from '../tests/test-storage.ts'
import { isSignedBy, startReceiver, until } from '../tests/webhook-receiver.ts'
import { reportFigures, seededRandom, trials } from './proof-run.ts'

const random = seededRandom()
const PRODUCERS = 20
const EVENTS_PER_PRODUCER = trials(120, 20)
const EVENTS = PRODUCERS * EVENTS_PER_PRODUCER
const FAILING = 0.3
/** Starting the embedded database again takes seconds. */
const KILLS = onPostgres ? 6 : 3

const place = await createTestStorage()
const env = { ...place.env, WEBHOOKS_ALLOW_LOOPBACK: 'true' }
const ports = await freePorts()
const running = new Set<ChildProcess>()
after(async () => {
  for (const child of running) await end(child, 'SIGKILL')
  await place.remove()
})

/** Starts a node of the service. Workers listen on no port, so any number of them may run. */
async function startNode(roles: string): Promise<ChildProcess> {
  const settings = {
    CONSOLE_PORT: String(ports.console),
    SANDBOX_PORT: String(ports.sandbox),
    PRODUCTION_PORT: String(ports.production),
  }
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve('../tests/webhook-service.ts')), roles], {
    env: { PATH: process.env.PATH, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (data) => String(data).includes('started') && resolve())
    child.once('exit', (code, signal) => reject(new Error(`the node ended before it started: ${code ?? signal}`)))
  })
  return child
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  running.delete(child)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}

/** On PostgreSQL two workers send, and are killed in turn. With the embedded database there is one process. */
async function startNodes(): Promise<{ kill(count: number): Promise<void>; stop(): Promise<void> }> {
  const api = onPostgres ? await startNode('api') : undefined
  const killed = onPostgres ? [await startNode('worker'), await startNode('worker')] : [await startNode('api,worker')]
  return {
    async kill(count) {
      const turn = count % killed.length
      await end(killed[turn]!, 'SIGKILL')
      killed[turn] = await startNode(onPostgres ? 'worker' : 'api,worker')
    },
    async stop() {
      for (const child of [...killed, ...(api ? [api] : [])]) await end(child, 'SIGTERM')
    },
  }
}

/** Fails 30 % of its requests, and checks every signature. */
async function startUnreliableReceiver() {
  const acknowledged = new Map<string, number>()
  const counts = { attempts: 0, refused: 0, duplicates: 0 }
  let secret = ''
  const receiver = await startReceiver((received) => {
    counts.attempts += 1
    if (!isSignedBy(secret, received)) counts.refused += 1
    if (random() < FAILING) return { status: 500 }
    const times = acknowledged.get(received.id) ?? 0
    if (times > 0) counts.duplicates += 1
    acknowledged.set(received.id, times + 1)
    return {}
  })
  after(() => receiver.close())
  const added = runCli(env, 'webhooks', 'add', receiver.url, '--events', 'entity.created', '--json')
  assert.equal(added.status, 0, added.stderr)
  secret = JSON.parse(added.stdout).secret
  return { acknowledged, counts }
}

/** Creates entities one after the other. A request whose answer was lost is repeated, and is idempotent. */
async function produce(producer: number, key: string): Promise<void> {
  for (let index = 0; index < EVENTS_PER_PRODUCER; index++) {
    let created = false
    while (!created) {
      created = await fetch(`http://127.0.0.1:${ports.sandbox}/v1/entities`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ external_id: `p${producer}-${index}` }),
      }).then(
        (response) => response.ok,
        () => false,
      )
      if (!created) await sleep(50)
    }
  }
}

async function deliveriesCounted(key: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${ports.sandbox}/v1/usage`, {
    headers: { Authorization: `Bearer ${key}` },
  })
  return ((await response.json()) as { totals: { webhook_deliveries: number } }).totals.webhook_deliveries
}

test(`${EVENTS} events, failing receivers, killed nodes: every event arrives, signed`, async (t) => {
  const began = Date.now()
  const nodes = await startNodes()
  const receivers = [await startUnreliableReceiver(), await startUnreliableReceiver()]
  const key = /sk_sandbox_\w+/.exec(readFileSync(join(place.dataDir, 'first-run.txt'), 'utf8'))![0]
  const isDone = () => receivers.every(({ acknowledged }) => acknowledged.size >= EVENTS)
  const produced = Promise.all(Array.from({ length: PRODUCERS }, (_, producer) => produce(producer, key)))
  let kills = 0
  while (kills < KILLS && !isDone()) {
    await sleep(500 + random() * 500)
    await nodes.kill(kills)
    kills += 1
  }
  await produced
  const whenProduced = Date.now()
  await until('everything has arrived', isDone, 60_000)
  // A delivery that a killed node had made but not recorded is sent again when its lease expires.
  await until('everything is settled', async () => (await deliveriesCounted(key)) >= EVENTS * receivers.length, 60_000)
  const took = Date.now() - began
  await nodes.stop()

  const storage = await openStorage(readConfig(env))
  const database = storage.environments.sandbox
  const events = await database.query<{ id: string }>(
    "SELECT 'evt_' || substr(id, 5) AS id FROM audit_entries WHERE type = 'entity.created'",
  )
  const states = await database.query('SELECT state, count(*) AS count FROM webhook_deliveries GROUP BY state')
  await storage.close()
  assert.equal(events.length, EVENTS)
  for (const { acknowledged, counts } of receivers) {
    assert.deepEqual(
      events.filter(({ id }) => !acknowledged.has(id)),
      [],
      'no event is lost',
    )
    assert.equal(acknowledged.size, EVENTS, 'no event arrived that was not committed')
    assert.equal(counts.refused, 0, 'every signature verifies')
  }
  assert.deepEqual(states, [{ state: 'delivered', count: EVENTS * receivers.length }])
  const sum = (name: 'attempts' | 'duplicates') => receivers.reduce((total, { counts }) => total + counts[name], 0)
  reportFigures(
    t,
    `${EVENTS} events to ${receivers.length} endpoints, ${kills} kills, ${sum('attempts')} attempts, ${sum('duplicates')} duplicates, 0 losses; ` +
      `produced in ${((whenProduced - began) / 1000).toFixed(1)} s, all delivered after ${(took / 1000).toFixed(1)} s`,
  )
})
