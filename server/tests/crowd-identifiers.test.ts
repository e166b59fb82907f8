/** An identifier weakens with the number of its holders, and a crowd of them costs no more than a few. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimQueries } from '../src/store/environment/graph-claims.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { rowsTouched } from './rows-touched.ts'
import { startTestService } from './test-service.ts'

const START_MS = Date.parse('2026-11-15T09:00:00Z')
const api = await startTestService({ nowMs: () => START_MS + performance.now() })
const acme = await api.newOrganization()
const { installation } = api.service
const database = installation.storage.environments.sandbox
const worker = newConsequenceWorker(installation)

/** What the service asks of the database: statements, rows that they return, and values that they send. */
const asked = { statements: 0, rows: 0, values: 0 }
const { query } = database
database.query = async (sql, params = []) => {
  const rows = await query.call(database, sql, params)
  asked.statements += 1
  asked.rows += rows.length
  asked.values += params.reduce((sum: number, param) => sum + (Array.isArray(param) ? param.length : 1), 0)
  return rows as never
}

let count = 0
async function newEntity(): Promise<string> {
  const { body } = await acme.post('/v1/entities', { external_id: `crowd-${count++}` })
  return body.id
}

/** Creates entities at the same moment, which the service writes together. */
function newEntities(number: number): Promise<string[]> {
  return Promise.all(Array.from({ length: number }, newEntity))
}

type Cost = typeof asked

async function give(entityId: string, identifier: object, status = 'verified'): Promise<Cost> {
  const before = { ...asked }
  const body = { identifier, verification: { status } }
  const answer = await acme.post(`/v1/entities/${entityId}/identity-links`, body)
  assert.equal(answer.status, 201, answer.text)
  return {
    statements: asked.statements - before.statements,
    rows: asked.rows - before.rows,
    values: asked.values - before.values,
  }
}

async function hasDefaulted(entityId: string): Promise<void> {
  const key = { 'Idempotency-Key': entityId }
  const { body: decision } = await acme.post(
    '/v1/underwrite',
    { entity_id: entityId, product: 'marketplace_access' },
    key,
  )
  const body = { type: 'default', occurred_at: decision.created_at }
  assert.equal((await acme.post(`/v1/decisions/${decision.id}/outcomes`, body, key)).status, 201)
}

const exposureOf = async (entityId: string): Promise<number> =>
  (await acme.get(`/v1/entities/${entityId}`)).body.trust.negative_exposure

const linksOf = async (entityId: string) =>
  (await database.query('SELECT 1 FROM graph_links WHERE entity_id = $1', [entityId])).length

test('a shared identifier weakens with the number of its holders, and carries nothing among more than two dozen', async () => {
  const shared = { type: 'tax_id', value: '77-7777777' }
  const [bad, subject] = (await newEntities(2)) as [string, string]
  await hasDefaulted(bad)
  for (const id of [bad, subject]) await give(id, shared)
  const seen = [await exposureOf(subject)]
  for (const holder of await newEntities(23)) {
    await give(holder, shared)
    seen.push(await exposureOf(subject))
  }
  assert.ok(seen[0]! > 0.44 && seen[0]! <= 0.45, 'two holders: nine tenths of one half')
  assert.ok(Math.abs(seen[1]! - (seen[0]! * 2) / 3) < 0.00001, 'three holders: two thirds of that')
  for (const [index, exposure] of seen.entries())
    assert.ok(index === 0 || exposure < seen[index - 1]!, `${index + 2} holders`)
  assert.ok(seen.at(-2)! > 0.03)
  assert.equal(seen.at(-1), 0)
  assert.equal(await linksOf(subject), 0)
})

test('the 30th holder of an identifier costs no more statements, rows or values than the third', async () => {
  for (const status of ['verified', 'unverified']) {
    const third: Cost[] = []
    for (let identifier = 0; identifier < 5; identifier++)
      third.push((await addHolders({ type: 'device', value: `pair-${status}-${identifier}` }, status, 3)).at(-1)!)
    const last = (await addHolders({ type: 'device', value: `kiosk-${status}` }, status, 30)).slice(-5)
    for (const name of ['statements', 'rows', 'values'] as const) {
      const [few, many] = [median(third, name), median(last, name)]
      assert.ok(many <= few, `${name}: ${many} for the 30th, ${few} for the third`)
    }
  }
})

async function addHolders(identifier: object, status: string, number: number): Promise<Cost[]> {
  const costs: Cost[] = []
  for (const holder of await newEntities(number)) costs.push(await give(holder, identifier, status))
  return costs
}

/** The median of five, because the background jobs of the service ask the database too. */
function median(costs: readonly Cost[], name: keyof Cost): number {
  return costs.map((cost) => cost[name]).sort((a, b) => a - b)[2]!
}

test('unverified assertions do not weaken a verified link, however many there are', async () => {
  const shared = { type: 'tax_id', value: '88-8888888' }
  const [bad, subject] = (await newEntities(2)) as [string, string]
  await hasDefaulted(bad)
  for (const id of [bad, subject]) await give(id, shared)
  const before = await exposureOf(subject)
  assert.ok(before > 0.44)
  for (const fake of await newEntities(30)) await give(fake, shared, 'unverified')
  await worker.drain()
  assert.equal(await exposureOf(subject), before)
})

test('claims that a check exposed as false do not weaken an unverified link, however many there are', async () => {
  const shared = { type: 'device', value: 'family-tablet' }
  const [bad, subject] = (await newEntities(2)) as [string, string]
  await hasDefaulted(bad)
  for (const id of [bad, subject]) await give(id, shared, 'unverified')
  const before = await exposureOf(subject)
  assert.ok(before > 0.09, String(before))
  for (const fake of await newEntities(30)) await give(fake, shared, 'failed')
  await worker.drain()
  assert.equal(await exposureOf(subject), before)
})

test('an identifier with 20,000 holders is read in as few rows as one with 50', async () => {
  await query.call(
    database,
    `INSERT INTO identifier_holders
     SELECT $1, 'crowd', 'ent_crowd_' || n, false, CASE WHEN n > 19990 THEN now() END, CASE WHEN n <= 15000 THEN now() END,
       CASE WHEN n > 15000 THEN now() END
     FROM generate_series(1, 20000) AS n`,
    [acme.id],
  )
  // Autovacuum would do this a little later; until then the planner may assume a table of a few rows.
  await query.call(database, 'ANALYZE identifier_holders', [])
  const holders = await installation.stores.sandbox.graph.otherHolders(acme.id, 'crowd', 'ent_crowd_19999')
  const verified = holders.filter(({ assertions }) => assertions.some(({ status }) => status === 'verified'))
  assert.deepEqual([holders.length, verified.length], [25 + 9, 9], 'the crowd does not hide the verified holders')
  let rowsRead = 0
  const explained = claimQueries({
    ...database,
    async query(sql, params = []) {
      rowsRead = (await rowsTouched(database, sql, params)).reduce((sum, { rows }) => sum + rows, 0)
      return []
    },
  })
  await explained.otherHolders(acme.id, 'crowd', 'ent_crowd_19999')
  assert.ok(rowsRead >= holders.length && rowsRead <= 50, `${rowsRead} rows were read`)
})
