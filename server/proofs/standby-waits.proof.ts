/** Commits on the primary alone, which a failover would take away: no answer of the service rests on them. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { startPostgres } from '../../scripts/throwaway-postgres.ts'
import { firstRunKey, postJson, startServiceProcess } from '../tests/service-process.ts'
import { onPostgres } from '../tests/test-storage.ts'
import { signalTree } from './faults/signal-tree.ts'
import { reportFigures, until } from './proof-run.ts'

const skip = !onPostgres && 'needs PostgreSQL'

/** SQL: the processes of the statement that writes an entity, once only the standby is missing. */
const WAITS_FOR_STANDBY = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%INSERT INTO entities %'"

const readOrEmpty = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')

/** Two nodes on a primary whose commits wait for its standby, which the test stops and continues. */
async function startScene(t: TestContext) {
  const started: { stop(): Promise<unknown> }[] = []
  const primary = await startPostgres({ fsync: false })
  started.push(primary)
  const standby = await primary.startStandby()
  const continueStandby = () => signalTree(standby.pid, 'SIGCONT')
  started.push(standby)
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-standby-'))
  t.after(async () => {
    continueStandby()
    for (const { stop } of started.toReversed()) await stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const env = { DATA_DIR: dataDir, DATABASE_URL: primary.url, DATABASE_TIMEOUT_SECONDS: '2' }
  const one = await startServiceProcess(env)
  started.push(one)
  const other = await startServiceProcess(env)
  started.push(other)
  const key = firstRunKey(dataDir)
  const sql = async (text: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client(primary.url)
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
  // Otherwise the primary would end its connections to the stopped standby after a minute.
  await sql("ALTER SYSTEM SET wal_sender_timeout = '0'")
  await sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
  await sql('SELECT pg_reload_conf()')
  const create = ({ ports }: typeof one, externalId: string, headers: Record<string, string> = {}) =>
    postJson({ port: ports.sandbox, path: '/v1/entities' }, { key, body: { external_id: externalId }, headers })
  const get = ({ ports }: typeof one, path: string) =>
    fetch(`http://127.0.0.1:${ports.sandbox}${path}`, { headers: { Authorization: `Bearer ${key}` } })
  const trail = (node: typeof one, entityId: string) => get(node, `/v1/entities/${entityId}/audit-trail`)
  const storedId = async (externalId: string) => {
    const rows = await sql(`SELECT id FROM verdigraph_sandbox.entities WHERE external_id = '${externalId}'`)
    return rows[0]?.id as string | undefined
  }
  const isStored = async (externalId: string) => (await storedId(externalId)) !== undefined
  assert.equal((await create(one, 'before')).status, 201)
  assert.equal((await create(other, 'before')).status, 200)
  return {
    primary,
    one,
    other,
    sql,
    create,
    get,
    trail,
    storedId,
    isStored,
    knownHeads: () => readOrEmpty(join(dataDir, 'heads-sandbox.jsonl')),
    stopStandby: () => signalTree(standby.pid, 'SIGSTOP'),
    continueStandby,
  }
}

test('a commit whose wait for the standby was cancelled is never answered as done, on no node', { skip }, async (t) => {
  const { one, other, sql, create, isStored, stopStandby, continueStandby } = await startScene(t)
  stopStandby()
  const retryable = { 'Idempotency-Key': 'cancelled' }
  const creating = create(one, 'cancelled', retryable)
  let cancelled = 0
  const cancelling = (async () => {
    while (!(await isStored('cancelled'))) {
      const rows = await sql(`SELECT pg_cancel_backend(pid) ${WAITS_FOR_STANDBY}`)
      cancelled += rows.length
    }
  })()
  await cancelling
  // The row is visible, and the standby does not have it. Without a key, the answer would be 200 with this entity, most likely
  // before the other node has a commit of unknown fate itself.
  const [first, elsewhere] = await Promise.all([creating, create(other, 'cancelled')])
  assert.ok(cancelled > 0)
  assert.equal(first.status, 503, first.text)
  assert.equal(elsewhere.status, 503, elsewhere.text)
  const retries = await Promise.all([create(one, 'cancelled', retryable), create(other, 'cancelled', retryable)])
  assert.deepEqual(
    retries.map(({ status }) => status),
    [503, 503],
  )
  assert.equal((await create(one, 'cancelled')).status, 503)
  continueStandby()
  await until(async () => (await create(other, 'cancelled', retryable)).status === 201, 'the standby has it')
  assert.equal((await create(other, 'cancelled')).status, 200)
  reportFigures(t, `${cancelled} cancelled waits; 5 answers 503 until the standby was back, then the kept 201`)
})

test('a signed head leaves no node before the standby has it', { skip }, async (t) => {
  const { primary, one, other, sql, create, trail, knownHeads, stopStandby, continueStandby } = await startScene(t)
  const nodes = [one, other]
  const sealing = (waits: string) => `FROM pg_stat_activity WHERE ${waits} AND query LIKE '%INSERT INTO audit_heads%'`
  // The sealer is held by a lock until the standby is stopped.
  const holder = new pg.Client(primary.url)
  await holder.connect()
  await holder.query('BEGIN; LOCK TABLE verdigraph_sandbox.audit_heads IN SHARE ROW EXCLUSIVE MODE')
  const created = await create(one, 'sealed')
  assert.equal(created.status, 201)
  const entityId: string = JSON.parse(created.text).id
  await until(async () => (await sql(`SELECT ${sealing("wait_event_type = 'Lock'")}`)).length > 0, 'the sealer is held')
  stopStandby()
  await holder.end()
  const forStandby = sealing("wait_event = 'SyncRep'")
  await until(async () => (await sql(`SELECT ${forStandby}`)).length > 0, 'the sealer waits for the standby')
  const headsBefore = await sql('SELECT tree_size FROM verdigraph_sandbox.audit_heads')
  const cancelled = await sql(`SELECT pg_cancel_backend(pid) ${forStandby}`)
  assert.ok(cancelled.length > 0)
  const newest = async () => {
    const heads = await sql('SELECT tree_size, signature FROM verdigraph_sandbox.audit_heads ORDER BY tree_size')
    return heads.length > headsBefore.length ? heads.at(-1)! : undefined
  }
  await until(async () => (await newest()) !== undefined, 'the head is visible')
  const { signature, tree_size } = (await newest())!
  const refused = await Promise.all(nodes.map((node) => trail(node, entityId)))
  assert.deepEqual(
    refused.map(({ status }) => status),
    [503, 503],
  )
  assert.equal(knownHeads().includes(String(signature)), false)
  continueStandby()
  for (const node of nodes)
    await until(async () => {
      const answer = await trail(node, entityId)
      if (answer.status !== 200) return false
      const { checkpoint } = (await answer.json()) as { checkpoint: { tree_size: number } }
      return checkpoint.tree_size >= Number(tree_size)
    }, 'the node gives the head')
  reportFigures(t, 'the wait of the sealer cancelled: no node gave its head before the standby was back')
})

test('as long as no standby answers, retries leave no more processes behind that wait for it', { skip }, async (t) => {
  const { one, other, sql, create, stopStandby, continueStandby } = await startScene(t)
  stopStandby()
  const waiting = async () =>
    Number((await sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))[0]!.count)
  const counts: number[] = []
  // Statements that were under way come to their time limit one after the other; then the count stays.
  await until(async () => {
    const answers = await Promise.all([one, other].map((node) => create(node, `refused-${counts.length}`)))
    for (const { status } of answers) assert.equal(status, 503)
    counts.push(await waiting())
    return counts.length > 3 && new Set(counts.slice(-3)).size === 1
  }, 'three rounds of refused writes leave the same number of processes behind')
  continueStandby()
  await until(async () => (await create(other, 'back')).status === 201, 'the standby is back')
  await until(async () => (await waiting()) === 0, 'none waits')
  reportFigures(t, `processes that waited for the standby after each pair of refused writes: ${counts.join(', ')}`)
})

/** How a primary crashes, and starts again in place. */
const CRASHES: Record<string, (scene: Awaited<ReturnType<typeof startScene>>) => Promise<void>> = {
  'after kill -9 of the server': async ({ primary }) => {
    process.kill(primary.pid, 'SIGKILL')
    await primary.restart()
  },
  // The postmaster then refuses connections, ends all other processes and recovers without a start of its own.
  'after kill -9 of one of its processes': async ({ primary, sql }) => {
    const watching = new pg.Client(primary.url)
    watching.on('error', () => {})
    await watching.connect()
    const ended = new Promise((resolve) => watching.once('end', resolve))
    const [idle] = await sql(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'verdigraph' AND state = 'idle'",
    )
    process.kill(Number(idle!.pid), 'SIGKILL')
    // Until the postmaster has noticed the kill, it still accepts connections, and ends them at once.
    await ended
    await until(() => sql('SELECT').then(Boolean, () => false), 'the server accepts connections again')
  },
}

for (const [crashed, crash] of Object.entries(CRASHES))
  test(`${crashed}, what the primary shows from its own disk alone is no answer before a standby has it`, {
    skip,
  }, async (t) => {
    const scene = await startScene(t)
    const { one, other, sql, create, get, storedId, isStored, stopStandby, continueStandby } = scene
    stopStandby()
    const retryable = { 'Idempotency-Key': 'flushed' }
    const creating = create(one, 'flushed', retryable)
    // Written and flushed, but not visible to others until the standby has it.
    await until(async () => (await sql(`SELECT ${WAITS_FOR_STANDBY}`)).length > 0, 'the write waits for the standby')
    assert.equal(await isStored('flushed'), false)
    await crash(scene)
    const id = await storedId('flushed')
    assert.ok(id, 'after the recovery it is visible')
    assert.equal((await creating).status, 503)
    const reads = await Promise.all([one, other].map((node) => get(node, `/v1/entities/${id}`)))
    assert.deepEqual(
      reads.map(({ status }) => status),
      [503, 503],
    )
    // Without a key, the answer would be 200 with the entity that is stored under this external id.
    const retries = await Promise.all(
      [one, other].flatMap((node) => [create(node, 'flushed', retryable), create(node, 'flushed')]),
    )
    assert.deepEqual(
      retries.map(({ status }) => status),
      [503, 503, 503, 503],
    )
    continueStandby()
    await until(async () => (await create(other, 'flushed', retryable)).status === 201, 'the standby has it')
    assert.equal((await create(one, 'flushed', retryable)).status, 201)
    assert.equal((await create(one, 'flushed')).status, 200)
    assert.equal((await get(one, `/v1/entities/${id}`)).status, 200)
    reportFigures(t, `${crashed}: 7 answers 503 until the standby was back, then the kept 201`)
  })
