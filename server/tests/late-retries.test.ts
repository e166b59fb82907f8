/** A key that made a decision is remembered as long as the decision; what other keys answered is deleted after a day. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import type { Change } from '../src/store/write-path/change.ts'
import { alterDocument, deleteDocuments } from './alter-documents.ts'
import { exampleTransaction } from './example-transaction.ts'
import { tamper } from './tamper.ts'
import { testKeys } from './test-keys.ts'
import { startTestService } from './test-service.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
let aheadMs = 0
const nowMs = () => Date.now() + aheadMs
const api = await startTestService({ nowMs })
const acme = await api.newOrganization()
const { sandbox } = api.service.installation.stores
const database = api.service.installation.storage.environments.sandbox

beforeEach(() => {
  aheadMs = 0
})

const purge = (afterMs = aheadMs) => sandbox.idempotencyKeys.purge(new Date(Date.now() + afterMs).toISOString())

/** A request for a decision about a new entity, under a key of the same name. */
async function newRequest(name: string) {
  const { body: entity } = await acme.post('/v1/entities', { external_id: name })
  const ask = (request: object = {}) =>
    acme.post(
      '/v1/underwrite',
      { entity_id: entity.id, product: 'marketplace_access', ...request },
      { 'Idempotency-Key': name },
    )
  const decisions = async () =>
    (await database.query<{ id: string }>('SELECT id FROM decisions WHERE entity_id = $1', [entity.id])).map(
      ({ id }) => id,
    )
  return { entityId: entity.id as string, ask, decisions }
}

/** A batch of transactions for a new entity, under a key of the same name. */
async function newBatch(name: string) {
  const { body: entity } = await acme.post('/v1/entities', { external_id: name })
  const batch = { transactions: [exampleTransaction(name)] }
  const send = () => acme.post(`/v1/entities/${entity.id}/transactions`, batch, { 'Idempotency-Key': name })
  const ingested = async () =>
    (
      await database.query(`SELECT 1 FROM audit_entries WHERE trail_id = $1 AND type = 'transactions.ingested'`, [
        entity.id,
      ])
    ).length
  return { send, ingested }
}

/** Runs `meanwhile` before the next change with an idempotency key is committed: after the key was looked up. */
function beforeCommit(meanwhile: (change: Change) => Promise<void>): void {
  const { commit } = sandbox
  sandbox.commit = async (change) => {
    if (!change.idempotencyKey) return commit(change)
    sandbox.commit = commit
    await meanwhile(change)
    return commit(change)
  }
}

/** Commits a change as another node does: a second store has its own queue, so only the database decides the race. */
async function commitElsewhere(change: Change): Promise<void> {
  assert.deepEqual(await openEnvironmentStore(database, testKeys).commit(change), {})
}

test('a late retry gets the decision with the bytes of the first answer: 201 for a day, then 200', async () => {
  const { ask, decisions } = await newRequest('late')
  const first = await ask()
  assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [201, null])
  for (const [hours, status] of [
    [0, 201],
    [23.9, 201],
    [24.1, 200],
    [24 * 400, 200],
  ] as const) {
    aheadMs = hours * HOUR_MS
    await purge()
    const again = await ask()
    assert.deepEqual([again.status, again.text], [status, first.text], `after ${hours} hours`)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
  }
  assert.deepEqual(await decisions(), [first.body.id])
})

test('another body under the key of a decision is refused however late, and decides nothing', async () => {
  const { ask, decisions } = await newRequest('other-body')
  await ask()
  aheadMs = YEAR_MS
  await purge()
  const refused = await ask({ product: 'platform_access' })
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'idempotency_key_reused'])
  assert.equal((await decisions()).length, 1)
})

test('two nodes that use one key across a purge make one decision, and both answer it', async () => {
  const { ask, decisions } = await newRequest('raced')
  let theirs = ''
  beforeCommit(async ({ organizationId, idempotencyKey, decisions: [ours] = [] }) => {
    const { id, documents } = ours!
    theirs = `${id.slice(0, -4)}zzzz`
    const body = documents.body.replace(id, theirs)
    await commitElsewhere({
      organizationId,
      idempotencyKey: { ...idempotencyKey!, decision_id: theirs },
      decisions: [{ ...ours!, id: theirs, documents: { ...documents, body } }],
    })
    await purge(YEAR_MS)
  })
  const answer = await ask()
  assert.deepEqual([answer.status, answer.body.id], [201, theirs])
  assert.equal(answer.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(await decisions(), [theirs])
})

test('an answer that is purged after a retry has found it is given, and nothing is written', async () => {
  const { send, ingested } = await newBatch('purged-while-read')
  const first = await send()
  const { keptAnswer } = sandbox.idempotencyKeys
  sandbox.idempotencyKeys.keptAnswer = async (key) => {
    sandbox.idempotencyKeys.keptAnswer = keptAnswer
    const kept = await keptAnswer(key)
    assert.ok((await purge(25 * HOUR_MS)) > 0)
    return kept
  }
  const again = await send()
  assert.deepEqual([again.status, again.text, again.headers.get('idempotent-replayed')], [201, first.text, 'true'])
  assert.equal(await ingested(), 1)
})

test('of two nodes that use a purged key again, one acts and both give its answer', async () => {
  const { send, ingested } = await newBatch('purged-then-raced')
  const first = await send()
  await purge(25 * HOUR_MS)
  const body = JSON.stringify({ ...first.body, received: 7 })
  beforeCommit(async ({ organizationId, idempotencyKey }) => {
    await commitElsewhere({ organizationId, idempotencyKey: { ...idempotencyKey!, body } })
    await purge()
  })
  const again = await send()
  assert.deepEqual([again.status, again.text, again.headers.get('idempotent-replayed')], [201, body, 'true'])
  assert.equal(await ingested(), 1)
})

test('retries of many decisions at once each get their own', async () => {
  const requests = await Promise.all(Array.from({ length: 40 }, (_, n) => newRequest(`many-${n}`)))
  const first = await Promise.all(requests.map(({ ask }) => ask()))
  const again = await Promise.all(requests.map(({ ask }) => ask()))
  assert.deepEqual(
    again.map(({ text }) => text),
    first.map(({ text }) => text),
  )
  assert.equal(new Set(again.map(({ text }) => text)).size, 40)
})

for (const [what, alter] of [
  ['was taken out of its segment', (id) => deleteDocuments(database, id)],
  ['is not JSON any more', (id) => alterDocument(database, id, 'body', '{"id":')],
  ['is no decision any more', (id) => alterDocument(database, id, 'body', '{}')],
  [
    'is in a segment that cannot be unpacked',
    (id) => tamper(database, `UPDATE document_segments SET content = 'x' WHERE $1 = ANY(decision_ids)`, [id]),
  ],
  [
    'is in a segment that was deleted',
    (id) => tamper(database, 'DELETE FROM document_segments WHERE $1 = ANY(decision_ids)', [id]),
  ],
  ['has no row any more', (id) => tamper(database, 'DELETE FROM decisions WHERE id = $1', [id])],
] satisfies [string, (id: string) => Promise<void>][]) {
  test(`a retry for a decision that ${what} gets 404, raises the alarm and decides nothing`, async () => {
    const { ask, decisions } = await newRequest(what)
    const { body: decision } = await ask()
    await alter(decision.id)
    const before = await decisions()
    const { status, body } = await ask()
    assert.deepEqual([status, body.error.code], [404, 'decision_not_found'])
    assert.ok(body.error.message.includes(decision.id))
    assert.deepEqual(await decisions(), before)
    const alarm = api.logs
      .map((line) => JSON.parse(line))
      .find(({ request_id }) => request_id === body.error.request_id)
    assert.equal(alarm.alarm, 'decision_unreadable')
  })
}

test('the fields of a decision keep their order, so that a retry after an upgrade gets the same bytes', async () => {
  const { ask } = await newRequest('order')
  const { body } = await ask()
  const ORDER = [
    ...['id', 'object', 'environment', 'verdict', 'reason_codes', 'model_version', 'policy_version', 'policy_checksum'],
    ...[
      'request_id',
      'created_at',
      'recommended_limit',
      'repayment_probability',
      'risk_tier',
      'confidence',
      'conditions',
    ],
  ]
  assert.deepEqual(
    Object.keys(body),
    ORDER.filter((name) => name in body),
  )
})
