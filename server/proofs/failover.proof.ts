/**
 * A failover loses nothing that was acknowledged (promise 29): three machines under Patroni and etcd, two nodes of the service, and
 * clients with a ledger of their own. One kill -9 and one switchover by default; `--long` repeats every fault, for more than an hour,
 * or those that `--faults` names.
 */
import assert from 'node:assert/strict'
import { createPublicKey, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Checkpoint } from '../src/core/audit/checkpoint.ts'
import { firstRunKey, runCliForJson, type ServiceProcess, startServiceProcess } from '../tests/service-process.ts'
import { startReceiver } from '../tests/webhook-receiver.ts'
import { DurableWrites } from './cluster/durable-writes.ts'
import { FAULTS, type Strike } from './cluster/faults.ts'
import { checkAcknowledged, Ledger, type Node, startClients } from './cluster/ledger.ts'
import { startCluster, whyNoCluster } from './cluster/patroni-cluster.ts'
import { assertTime, chosenFaults, isLongRun, reportFigures, seededRandom, trials, until } from './proof-run.ts'

const skip = whyNoCluster() ?? false
const CLIENTS = 6
/** Patroni's own time plus this is how soon the service is to answer again. */
const LATER_MAX_MS = 2_000
const random = seededRandom()

const folder = mkdtempSync(join(tmpdir(), 'verdigraph-failover-'))
let scene: Awaited<ReturnType<typeof startScene>>
before(async () => {
  if (!skip) scene = await startScene()
})
after(async () => {
  await scene?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A cluster with two nodes: one knows all servers, the other only HAProxy. Each has a data folder of its own. */
async function startScene() {
  const cluster = await startCluster()
  const receiver = await startReceiver()
  const MASTER_KEY = randomBytes(32).toString('base64')
  const { all, proxied } = cluster.databaseUrls
  const envOf = (name: string, DATABASE_URL: string) => ({
    DATA_DIR: join(folder, name),
    DATABASE_URL,
    MASTER_KEY,
    DATABASE_TIMEOUT_SECONDS: '2',
    WEBHOOKS_ALLOW_LOOPBACK: 'true',
  })
  const envs = [envOf('by-hosts', all), envOf('by-proxy', proxied)]
  const services: ServiceProcess[] = []
  for (const env of envs) services.push(await startServiceProcess(env))
  const nodes = services.map(
    ({ ports }, index): Node => ({
      name: ['by hosts', 'by proxy'][index]!,
      origin: `http://127.0.0.1:${ports.sandbox}`,
    }),
  )
  const env = envs[0]!
  runCliForJson(env, 'webhooks', 'add', receiver.url, '--events', 'decision.created,audit.checkpoint')
  const keys: { environment: string; public_key: string }[] = runCliForJson(env, 'audit', 'public-key')
  const ledger = new Ledger(join(folder, 'ledger.jsonl'))
  return {
    cluster,
    envs,
    nodes,
    ledger,
    receiver,
    apiKey: firstRunKey(env.DATA_DIR),
    publicKey: createPublicKey(keys.find(({ environment }) => environment === 'sandbox')!.public_key),
    heads: [] as Checkpoint[],
    async stop() {
      for (const service of services) service.child.kill('SIGKILL')
      ledger.close()
      cluster.stop()
      await receiver.close()
    },
  }
}

/** The longest time without a success, in milliseconds, from one moment to another. */
function longestGap(times: readonly number[], fromMs: number, toMs: number): number {
  const within = [fromMs, ...times.filter((time) => time > fromMs && time < toMs), toMs]
  return Math.max(...within.slice(1).map((time, index) => time - within[index]!))
}

/** What the trials of one fault have shown. */
interface Shown {
  trials: number
  acknowledged: number
  repeated: number
  refused: number
  /** For how long the slower node answered no write, and how much longer than PostgreSQL itself. */
  awayMs: number[]
  laterMs: number[]
}

/** Strikes once under load, and checks everything that was acknowledged meanwhile. */
async function tryOnce(strike: Strike, shown: Shown): Promise<void> {
  const { cluster, nodes, ledger, apiKey, publicKey } = scene
  const known = ledger.read().length
  const bare = new DurableWrites(cluster.members)
  const clients = startClients({ nodes, apiKey, ledger, round: String(known), count: CLIENTS, random })
  const { seen } = clients
  await until(() => [...seen.written.values()].every((times) => times.length > 20), 'both nodes write')
  const beganMs = performance.now()
  await strike(cluster, () => [...seen.written.values()].flat().length)
  const struckMs = performance.now()
  await until(() => {
    assert.deepEqual(seen.wrong, [])
    return [bare.times, ...seen.written.values()].every((times) => times.filter((time) => time > struckMs).length > 5)
  }, 'both nodes write again')
  await clients.stop()
  await bare.stop()
  const endedMs = performance.now()
  assert.deepEqual(seen.wrong, [])
  await cluster.untilWhole()

  const answers = ledger.read().slice(known)
  const keys = new Set(answers.map(({ key }) => key))
  assert.equal(keys.size, answers.length)
  for (const node of nodes) scene.heads.push(...(await checkAcknowledged(answers, { node, apiKey, publicKey })))
  const gaps = [...seen.written.values()].map((times) => longestGap(times, beganMs, endedMs))
  // Now, because a node keeps its newest heads only.
  for (const { DATA_DIR } of scene.envs) scene.heads.push(...headsOf(join(DATA_DIR, 'heads-sandbox.jsonl')))
  shown.trials += 1
  shown.acknowledged += answers.length
  shown.repeated += seen.repeated
  shown.refused += seen.refused
  shown.awayMs.push(Math.max(...gaps))
  shown.laterMs.push(Math.max(...gaps) - longestGap(bare.times, beganMs, endedMs))
}

/** Everything that was acknowledged in all trials, the heads that were given out, and the events that were sent. */
async function checkAll(): Promise<string> {
  const { cluster, envs, nodes, ledger, apiKey, publicKey, receiver, heads } = scene
  const answers = ledger.read()
  heads.push(...(await checkAcknowledged(answers, { node: nodes[0]!, apiKey, publicKey })))
  const primary = (await cluster.primary()).client()
  await primary.connect()
  const rows = async (sql: string): Promise<Record<string, string>[]> => (await primary.query(sql)).rows

  const decisions = new Map(
    (await rows('SELECT id, entity_id FROM verdigraph_sandbox.decisions')).map(({ id, entity_id }) => [
      id!,
      entity_id!,
    ]),
  )
  assert.equal(new Set(decisions.values()).size, decisions.size, 'one decision per idempotency key')
  const acknowledged = answers.filter(({ path }) => path === '/v1/underwrite')
  assert.equal(decisions.size, acknowledged.length, 'one decision per acknowledged request')

  const announcedIds = () =>
    receiver.received
      .filter(({ event }) => event.type === 'decision.created')
      .map(({ event }) => event.data.decision_id)
  await until(() => {
    const announced = new Set(announcedIds())
    return [...decisions.keys()].every((id) => announced.has(id))
  }, 'every decision was announced')
  const announced = announcedIds()
  assert.deepEqual(
    announced.filter((id) => !decisions.has(String(id))),
    [],
    'events of decisions that are not there',
  )

  const checkpoints = receiver.received.filter(({ event }) => event.type === 'audit.checkpoint')
  heads.push(...checkpoints.map(({ event }) => event.data as never as Checkpoint))
  const stored = new Map(
    (await rows('SELECT tree_size, root_hash FROM verdigraph_sandbox.audit_heads')).map(({ tree_size, root_hash }) => [
      Number(tree_size),
      root_hash!,
    ]),
  )
  assert.deepEqual(
    heads.filter(({ tree_size, root_hash }) => !stored.has(tree_size) || stored.get(tree_size) !== root_hash),
    [],
    'heads that are not of the log',
  )
  await primary.end()
  // That the stored heads follow from the entries.
  for (const env of envs)
    for (const { intact, problems } of runCliForJson(env, 'audit', 'verify')) assert.ok(intact, String(problems))
  return `${answers.length} acknowledged and there, ${decisions.size} decisions for as many keys to the byte with their proofs, ${new Set(heads.map(({ tree_size }) => tree_size)).size} heads of the log, ${announced.length} events, ${cluster.rewinds()} old primaries rewound`
}

/** The heads that a node has signed; it has no file as long as the other one seals. */
function headsOf(file: string): Checkpoint[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Checkpoint)
}

/** Tries faults in turn, and reports what they have shown. */
async function tryFaults(t: TestContext, counts: Readonly<Record<string, number>>): Promise<void> {
  for (const [name, count] of Object.entries(counts)) {
    const { what, strike } = FAULTS[name]!
    const shown: Shown = { trials: 0, acknowledged: 0, repeated: 0, refused: 0, awayMs: [], laterMs: [] }
    for (let trial = 0; trial < count; trial++) {
      await sleep(random() * 1_000)
      await tryOnce(strike, shown).catch((cause: Error) => {
        throw new Error(`${cause.message}\n${scene.cluster.logs()}`, { cause })
      })
    }
    const seconds = (ms: number) => (ms / 1_000).toFixed(1)
    const middle = (values: readonly number[]) => seconds(values.toSorted((a, b) => a - b)[values.length >> 1]!)
    const later = Math.max(...shown.laterMs)
    reportFigures(
      t,
      `${what}: ${shown.trials} trials, ${shown.acknowledged} acknowledged, ${shown.repeated} answered alike by the other node, ${shown.refused} answers 503, no write for ${middle(shown.awayMs)} s (at most ${seconds(Math.max(...shown.awayMs))}), at most ${seconds(later)} s longer than PostgreSQL`,
    )
    assertTime(t, later <= LATER_MAX_MS, `${what}: ${seconds(later)} s longer than PostgreSQL`)
  }
  reportFigures(t, await checkAll())
}

test(
  'one kill -9 of the primary and one switchover lose nothing that was acknowledged',
  { skip: skip || (chosenFaults !== undefined && 'left out by --faults') },
  (t) => tryFaults(t, { 'primary-killed': 1, switchover: 1 }),
)

test('every fault, again and again, loses nothing that was acknowledged', {
  skip: skip || (!isLongRun && 'takes more than an hour: --long'),
}, (t) => {
  const names = chosenFaults ?? Object.keys(FAULTS)
  return tryFaults(t, Object.fromEntries(names.map((name) => [name, trials(FAULTS[name]!.usual)])))
})
