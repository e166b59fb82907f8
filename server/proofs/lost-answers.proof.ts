/** PostgreSQL's answer to a commit is lost: the service finds out what became of it, or says that it does not know. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { firstRunKey, postJson, startServiceProcess } from '../tests/service-process.ts'
import { createTestStorage, onPostgres } from '../tests/test-storage.ts'
import { CutOffProxy } from './faults/cut-off-proxy.ts'
import { reportFigures, trials } from './proof-run.ts'

const skip = !onPostgres && 'needs PostgreSQL'
const storage = onPostgres ? await createTestStorage() : undefined
const place = storage ? await startBehindProxy(storage.env.DATABASE_URL!) : undefined
after(async () => {
  await place?.service.stop()
  await place?.proxy.close()
  await storage?.remove()
})

async function startBehindProxy(databaseUrl: string) {
  const url = new URL(databaseUrl)
  const proxy = new CutOffProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(await proxy.listen())
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-lost-'))
  after(() => rmSync(dataDir, { recursive: true, force: true }))
  const env = { DATA_DIR: dataDir, DATABASE_URL: url.href, DATABASE_TIMEOUT_SECONDS: '1' }
  const service = await startServiceProcess(env)
  const key = firstRunKey(dataDir)
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    postJson({ port: service.ports.sandbox, path }, { key, body, headers })
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${service.ports.sandbox}${path}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    return JSON.parse(await response.text())
  }
  return { proxy, service, post, get }
}

/** Counts the reviews on an entity's trail. */
async function countReviews(entityId: string): Promise<number> {
  const { data } = await place!.get(`/v1/entities/${entityId}/audit-trail?limit=100`)
  return (data as { type: string }[]).filter(({ type }) => type === 'decision.reviewed').length
}

/** A decision to review. Of all requests, a review has the fewest preconditions: twice the same is accepted twice. */
async function newDecision(name: string): Promise<{ id: string; entity_id: string }> {
  const entity = await place!.post('/v1/entities', { external_id: name })
  assert.equal(entity.status, 201, entity.text)
  const request = { entity_id: JSON.parse(entity.text).id, product: 'marketplace_access' }
  const decision = await place!.post('/v1/underwrite', request, { 'Idempotency-Key': name })
  assert.equal(decision.status, 201, decision.text)
  return { ...JSON.parse(decision.text), entity_id: request.entity_id }
}

/** Submits a review without an idempotency key; a trap of the proxy recognizes the reason in its statement. */
function review(decisionId: string, reason: string) {
  return place!.post(`/v1/decisions/${decisionId}/reviews`, { verdict: 'approve', reviewer: { id: 'u-1' }, reason })
}

/** What a client may conclude from an answer: 201 written once, `overloaded` not written, `effect_unknown` either. */
function assertTold({ status, text }: { status: number; text: string }, written: number): string {
  const code = status === 503 ? JSON.parse(text).error.code : String(status)
  const allowed: Record<string, number[]> = { 201: [1], overloaded: [0], effect_unknown: [0, 1] }
  assert.ok(allowed[code]?.includes(written), `${code}, but ${written} written: ${text}`)
  return code
}

for (const [name, setTrap] of [
  ['the answer is swallowed', (mark: string) => place!.proxy.swallowAnswerTo(mark)],
  ['the connection is reset instead of the answer', (mark: string) => place!.proxy.resetAnswerTo(mark)],
] as const) {
  test(`when ${name}, a request without a key is written once and told 201`, { skip }, async (t) => {
    const count = trials(3)
    for (let trial = 0; trial < count; trial++) {
      const mark = `${name} ${trial}`
      const { id, entity_id } = await newDecision(mark)
      setTrap(mark)
      const answer = await review(id, mark)
      assert.equal(assertTold(answer, await countReviews(entity_id)), '201')
      place!.proxy.pass()
      await sleep(200)
      assert.equal(await countReviews(entity_id), 1, 'a statement that arrived late was written as well')
    }
    reportFigures(t, `${name}: ${count} trials, ${count} written once and told 201`)
  })
}

test('when the statement is held back and delivered late, it is written at most once, as the answer says', {
  skip,
}, async (t) => {
  const count = trials(3)
  let recorded = 0
  for (let trial = 0; trial < count; trial++) {
    const mark = `held back ${trial}`
    const { id, entity_id } = await newDecision(mark)
    place!.proxy.holdStatementWith(mark)
    const told = assertTold(await review(id, mark), await countReviews(entity_id))
    // The service writes it again, unless the time for that has passed.
    assert.ok(told === '201' || told === 'overloaded', told)
    const written = told === '201' ? 1 : 0
    place!.proxy.pass()
    await sleep(200)
    assert.equal(await countReviews(entity_id), written, 'a statement that arrived late was written')
    recorded += written
  }
  reportFigures(
    t,
    `held back: ${count} trials, ${recorded} written once and told 201, ${count - recorded} told "nothing"`,
  )
})

test('when the answer is lost and PostgreSQL stays away, the answer says that the effect is unknown', {
  skip,
}, async (t) => {
  const count = trials(2)
  for (let trial = 0; trial < count; trial++) {
    const mark = `unknown ${trial}`
    const { id, entity_id } = await newDecision(mark)
    place!.proxy.swallowAnswerTo(mark)
    const answering = review(id, mark)
    await sleep(500)
    place!.proxy.refuse()
    const answer = await answering
    place!.proxy.pass()
    assert.equal(assertTold(answer, await countReviews(entity_id)), 'effect_unknown')
  }
  reportFigures(t, `${count} trials, ${count} × effect_unknown`)
})

test('when the answer is lost behind a pooler, whose sessions cannot be told apart, the effect is unknown', {
  skip,
}, async (t) => {
  place!.proxy.actAsPooler()
  await sleep(500)
  const { id, entity_id } = await newDecision('behind a pooler')
  place!.proxy.swallowAnswerTo('pooled review')
  const answer = await review(id, 'pooled review')
  assert.equal(assertTold(answer, await countReviews(entity_id)), 'effect_unknown')
  reportFigures(t, '1 trial, effect_unknown')
})
