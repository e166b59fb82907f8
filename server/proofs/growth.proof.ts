/**
 * Nothing grows without a bound or a setting: days of the same load, with upkeep in between. Rows and bytes of every
 * table are measured; a table that grows from one day to the next is one that docs/operating.md keeps for good.
 */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { beginBacktest } from '../src/admin/backtest-policy.ts'
import { inviteOperator } from '../src/admin/invitations.ts'
import { addEndpoint } from '../src/admin/manage-webhooks.ts'
import { Upkeep } from '../src/service/upkeep.ts'
import { controlUpkeepTasks, upkeepTasks } from '../src/service/upkeep-tasks.ts'
import { beginSession } from '../src/sign-in/sessions.ts'
import { insertActKey } from '../src/store/control/act-keys.ts'
import { insertChallenge } from '../src/store/control/sign-in-challenges.ts'
import { countAttempt } from '../src/store/control/sign-in-failures.ts'
import { noteChallengeUse } from '../src/store/control/used-challenges.ts'
import type { Database } from '../src/store/database/database.ts'
import { byService } from '../tests/acts.ts'
import { documentedTables } from '../tests/documented-tables.ts'
import { exampleTransaction } from '../tests/example-transaction.ts'
import { addAccount } from '../tests/people.ts'
import { startTestService } from '../tests/test-service.ts'
import { onPostgres } from '../tests/test-storage.ts'
import { startReceiver, until } from '../tests/webhook-receiver.ts'
import { reportFigures, trials } from './proof-run.ts'

const DAY_MS = 86_400_000
const KEEP_DAYS = 2
/** Until the first events are deleted, which are kept a day longer. */
const WARM_UP_DAYS = KEEP_DAYS + 3
const DAYS = WARM_UP_DAYS + trials(6, 3)
const ENTITIES = 5
/** Answers of retries that a busy client would leave in a day; written directly, because the disk is what is measured. */
const ANSWERS_PER_DAY = 10_000
/** The requests about an entity in a day that have a key and make no decision. */
const OTHER_KEYS = 5
const BACKTESTS_PER_DAY = 3
const STARTS_PER_DAY = 20
/** No number of attempts locks anything out. */
const NO_LIMIT = { failuresMax: 1_000_000, lockSeconds: 1, lockSecondsMax: 1 }
const COUNTERS_MAX = 10

let aheadMs = 0
const nowMs = () => Date.now() + aheadMs
const api = await startTestService({
  env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' },
  nowMs,
})
const { installation } = api.service
const { sandbox: database } = installation.storage.environments
const store = installation.stores.sandbox
const acme = await api.newOrganization()
const receiver = await startReceiver()
after(() => receiver.close())
const errors: unknown[] = []
const upkeep = new Upkeep({
  database,
  tasks: upkeepTasks({
    store,
    database,
    newId: installation.newId,
    // Fewer than the settings take, so that rows of every kind grow old within the proof.
    keepDays: {
      webhooks: KEEP_DAYS,
      usage: KEEP_DAYS,
      trustHistory: KEEP_DAYS,
      erasedDecisions: KEEP_DAYS,
      backtests: KEEP_DAYS,
    },
    isEmbedded: installation.storage.embedded,
  }),
  nowMs,
  onError: (error) => errors.push(error),
})

/** The load of one day: the same entities, each with a transaction, a consent and a reviewed decision; retries; starts. */
async function liveOneDay(day: number, entities: readonly string[]): Promise<void> {
  for (const [index, id] of entities.entries()) {
    const send = async (path: string, body: object) => {
      const answer = await acme.post(path, body, { 'Idempotency-Key': `${day}-${index}-${path}` })
      assert.ok(answer.status === 201 || answer.status === 200, answer.text)
      return answer.body.id as string
    }
    const transactions = [exampleTransaction(`t-${day}`, { occurred_at: new Date(nowMs() - DAY_MS).toISOString() })]
    const identifier = { type: 'tax_id', value: `11-${index}` }
    await send(`/v1/entities/${id}/transactions`, { transactions })
    await send(`/v1/entities/${id}/consents`, { purpose: 'marketing' })
    await send(`/v1/entities/${id}/identity-links`, { identifier, verification: { status: 'verified' } })
    const decision = await send('/v1/underwrite', { entity_id: id, product: 'marketplace_access' })
    const review = { verdict: 'decline', reviewer: { id: 'u' }, reason: 'The load of a day.' }
    await send(`/v1/decisions/${decision}/reviews`, review)
    // Another default changes the trust score every day.
    await send(`/v1/decisions/${decision}/outcomes`, { type: 'default', occurred_at: new Date(nowMs()).toISOString() })
  }
  for (let number = 0; number < BACKTESTS_PER_DAY; number++) {
    const wanted = { version: 'sandbox-policy-v1', range: { last: ENTITIES } }
    await (await beginBacktest(installation, byService(acme.id), wanted)).done
  }
  const now = new Date(nowMs()).toISOString()
  await database.query(
    `INSERT INTO idempotency_keys (org_id, key_hash, fingerprint, status, body, created_at)
     SELECT $1, decode(md5($2 || '-' || n), 'hex'), sha256('f'), 201, repeat('x', 500), $3::timestamptz
     FROM generate_series(1, $4::integer) AS n`,
    [acme.id, `day-${day}`, now, ANSWERS_PER_DAY],
  )
  // Each start of a process counts under a node of its own.
  const usage = Array.from({ length: STARTS_PER_DAY }, (_, start) => ({
    day: now.slice(0, 10),
    node: `node_${day}_${start}`,
    counter: 'requests',
    count: 1,
  }))
  await store.commit({ organizationId: acme.id, usage })
}

type Figures = ReadonlyMap<string, { rows: number; bytes: number }>

/** Rows and bytes of every table of a database. */
async function measure(of: Database): Promise<Figures> {
  const tables = await of.query<{ name: string; bytes: number }>(
    `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
     WHERE relnamespace = $1::regnamespace AND relkind = 'r'`,
    [of.schema],
  )
  const figures = new Map<string, { rows: number; bytes: number }>()
  for (const { name, bytes } of tables) {
    const [count] = await of.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`)
    figures.set(name, { rows: count!.rows, bytes })
  }
  return figures
}

/** The bytes of write-ahead log that were ever written. */
async function walPosition(): Promise<number> {
  const [row] = await database.query<{ bytes: string }>("SELECT pg_current_wal_lsn() - '0/0' AS bytes")
  return Number(row!.bytes)
}

/** The bytes of a folder, with everything in it. */
function bytesOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

/** Fails if a table grew that is not documented as kept for good; returns the names of those that grew. */
function assertOnlyRecordsGrew(early: Figures, late: Figures): string[] {
  const kept = documentedTables()
  const grown = [...late].filter(([name, { rows, bytes }]) => {
    const before = early.get(name)!
    return rows > before.rows * 1.1 + 5 || bytes > before.bytes * 1.5 + 2 ** 20
  })
  for (const [name, figures] of grown)
    assert.equal(kept.get(name)?.kept, 'for good', `${name} grew: ${JSON.stringify([early.get(name), figures])}`)
  return grown.map(([name]) => name)
}

const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20)

test('after days of the same load, only what is documented as kept for good has grown', async (t) => {
  await addEndpoint(installation, byService(acme.id), { url: receiver.url, description: '', eventTypes: 'all' })
  const entities: string[] = []
  for (let index = 0; index < ENTITIES; index++)
    entities.push((await acme.post('/v1/entities', { external_id: `e-${index}` })).body.id)

  const { dataDir } = installation.config
  const walStart = await walPosition()
  const wal = () => bytesOf(join(dataDir, 'database/pg_wal'))
  let early: Figures = new Map()
  let earlyFiles: string[] = []
  let walBytesMax = 0
  for (let day = 0; day < DAYS; day++) {
    await liveOneDay(day, entities)
    await until('everything is sealed, delivered and done', async () => {
      const [left] = await database.query<{ n: number }>(
        `SELECT (SELECT count(*) FROM audit_pending) + (SELECT count(*) FROM unchecked_decisions) + (SELECT count(*) FROM consequences)
           + (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending') AS n`,
      )
      return left!.n === 0
    })
    await upkeep.run()
    assert.deepEqual(errors, [])
    // In a real day autovacuum comes by; this day takes seconds.
    if (onPostgres) await database.query('VACUUM')
    walBytesMax = Math.max(walBytesMax, wal())
    if (day === WARM_UP_DAYS) {
      early = await measure(database)
      earlyFiles = readdirSync(dataDir).sort()
    }
    aheadMs += DAY_MS
  }
  const late = await measure(database)
  await upkeep.close()

  const grown = assertOnlyRecordsGrew(early, late)
  assert.ok(grown.includes('decisions'), 'the load is large enough to be seen')
  const usageRows = late.get('usage_by_day')!.rows
  const usageRowsMax = KEEP_DAYS * COUNTERS_MAX + 2 * (STARTS_PER_DAY + COUNTERS_MAX)
  assert.ok(usageRows <= usageRowsMax, `${usageRows} rows of usage, whatever the ${DAYS * STARTS_PER_DAY} starts`)
  for (const table of ['usage_by_day', 'usage_by_key', 'decision_latencies']) {
    const [row] = await database.query<{ days: number }>(`SELECT count(DISTINCT day)::integer AS days FROM ${table}`)
    assert.deepEqual(row, { days: KEEP_DAYS + 1 }, table)
  }
  assert.deepEqual(readdirSync(dataDir).sort(), earlyFiles, 'files in DATA_DIR')
  const walWritten = (await walPosition()) - walStart
  if (!onPostgres)
    assert.ok(walBytesMax < walWritten / 2, `kept ${walBytesMax} bytes of write-ahead logs of ${walWritten}`)
  const answers = late.get('idempotency_keys')!
  const [keys] = await database.query<{ decided: number; answered: number }>(
    `SELECT count(decision_id) AS decided, count(body) AS answered FROM idempotency_keys`,
  )
  assert.deepEqual(keys, { decided: DAYS * ENTITIES, answered: ANSWERS_PER_DAY + ENTITIES * OTHER_KEYS })
  reportFigures(
    t,
    `${DAYS} days, ${late.size} tables, ${grown.length} grew and all of them are kept for good; ` +
      `${DAYS * ANSWERS_PER_DAY} kept answers left ${answers.rows} rows in ${megabytes(answers.bytes)} MB` +
      (onPostgres ? '' : `; ${megabytes(walBytesMax)} of ${megabytes(walWritten)} MB of write-ahead logs`),
  )
})

/** Until the first invitations are deleted, a month after their links have expired. */
const CONTROL_WARM_UP_DAYS = 40
const SIGN_INS_PER_DAY = 5
const TRIES_PER_DAY = 50

/** What people do in a day: they sign in, fail to, act in the console, and invite others. */
async function signInForOneDay(day: number, accountId: string): Promise<void> {
  const { control } = installation.storage
  const now = new Date(nowMs())
  const soon = new Date(now.getTime() + 600_000).toISOString()
  const client = { address: '192.0.2.7', userAgent: 'growth' }
  for (let number = 0; number < SIGN_INS_PER_DAY; number++)
    await beginSession(installation, { accountId, method: 'password', client })
  const invited = { email: `${day}@example.com`, name: `Person ${day}`, role: 'viewer' }
  await inviteOperator(installation, byService(acme.id), invited)
  for (let number = 0; number < TRIES_PER_DAY; number++) {
    const name = `${day} ${number}`
    await countAttempt(control, { subject: name, now: now.toISOString() }, NO_LIMIT)
    const challenge = { token_hash: name, purpose: 'code', account_id: accountId, expires_at: soon, mac: '' } as const
    await insertChallenge(control, challenge)
    await noteChallengeUse(control, { tokenHash: name, expiresAt: soon })
    const answer = { fingerprint: Buffer.from('f'), status: 200, body: '{}', created_at: now.toISOString() }
    await insertActKey(control, { accountId, key: name }, answer)
  }
}

test('after months of sign-ins, only what is documented as kept for good has grown in the control database', async (t) => {
  const { control } = installation.storage
  const account = { id: installation.newId('acc'), email: 'ada@example.com', name: 'Ada', password_hash: null }
  await addAccount(installation, { ...account, created_at: new Date(nowMs()).toISOString() })
  const tasks = controlUpkeepTasks({ control, isEmbedded: installation.storage.embedded })
  const days = CONTROL_WARM_UP_DAYS + trials(20, 15)
  let early: Figures = new Map()
  for (let day = 0; day < days; day++) {
    await signInForOneDay(day, account.id)
    for (const task of tasks) while (await task(nowMs()));
    if (onPostgres) await control.query('VACUUM')
    if (day === CONTROL_WARM_UP_DAYS) early = await measure(control)
    aheadMs += DAY_MS
  }
  const late = await measure(control)
  assert.deepEqual(assertOnlyRecordsGrew(early, late), ['operators'])
  const left = (name: string) => late.get(name)!.rows
  reportFigures(
    t,
    `${days} days of sign-ins left ${left('sessions')} sessions, ${left('invitations')} invitations and ${left('act_keys')} answers`,
  )
})
