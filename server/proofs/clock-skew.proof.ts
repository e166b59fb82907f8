/** Nodes of one installation whose machines' clocks are six seconds apart. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import { openStorage } from '../src/store/storage.ts'
import { latestDecision } from '../src/store/write-path/decision-statements.ts'
import { firstRunKey, freePorts, postJson, type ServiceProcess, spawnService } from '../tests/service-process.ts'
import { createTestStorage, onPostgres } from '../tests/test-storage.ts'
import { reportFigures, trials } from './proof-run.ts'

const skip = !onPostgres && 'needs PostgreSQL: the embedded database has one node'
const SKEW_MS = 3_000

/** Two nodes on one database, one ahead and one behind. */
async function startSkewedNodes(env: Record<string, string>) {
  const storage = await createTestStorage()
  const start = async (skewMs: number) => {
    const settings = { ...storage.env, ...env, SKEW_MS: String(skewMs) }
    const node = spawnService(settings, await freePorts(), { entry: 'server/proofs/faults/skewed-node.ts' })
    await node.untilOutput('"msg":"ready"')
    return node
  }
  const ahead = await start(SKEW_MS)
  const behind = await start(-SKEW_MS)
  after(async () => {
    await Promise.all([ahead.stop(), behind.stop()])
    await storage.remove()
  })
  const key = firstRunKey(storage.dataDir)
  // biome-ignore lint/suspicious/noExplicitAny: each request has its own answer.
  const post = async (node: ServiceProcess, path: string, body: unknown, idempotencyKey?: string): Promise<any> => {
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
    const { status, text } = await postJson({ port: node.ports.sandbox, path }, { key, body, headers })
    assert.equal(status, 201, text)
    return JSON.parse(text)
  }
  // biome-ignore lint/suspicious/noExplicitAny: each request has its own answer.
  const get = async (node: ServiceProcess, path: string): Promise<any> => {
    const url = `http://127.0.0.1:${node.ports.sandbox}${path}`
    return (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).json()
  }
  return { storage, ahead, behind, post, get }
}

test('nodes with skewed clocks see each other’s facts at once, and no record is dated before what it is based on', {
  skip,
}, async (t) => {
  // Uncorrected: order must not depend on the correction, which is only as good as its last measurement.
  const { storage, ahead, behind, post, get } = await startSkewedNodes({ UNCORRECTED: 'true' })
  const database = await openStorage(readConfig(storage.env))
  after(() => database.close())
  const count = trials(10)
  for (let trial = 0; trial < count; trial++) {
    const { id } = await post(ahead, '/v1/entities', { external_id: `skewed-${trial}` })
    const grant = (node: ServiceProcess, status: string) =>
      post(node, `/v1/entities/${id}/consents`, { purpose: 'credit_underwriting', status })
    const decide = async (node: ServiceProcess, name: string) => {
      const decision = await post(
        node,
        '/v1/underwrite',
        { entity_id: id, product: 'marketplace_access' },
        `${name}-${trial}`,
      )
      const replay = await get(behind, `/v1/decisions/${decision.id}/replay`)
      return { ...decision, consent: replay.evidence.feature_snapshot['consent.credit_underwriting'].value }
    }

    const consent = await grant(ahead, 'granted')
    const first = await decide(behind, 'first')
    assert.equal(first.consent, 'granted', 'a consent granted on the node ahead is missing on the node behind')
    assert.ok(first.created_at >= consent.created_at, 'the decision is dated before a fact it used')

    await grant(ahead, 'revoked')
    assert.equal((await decide(behind, 'revoked')).consent, 'revoked')
    await grant(behind, 'granted')
    const again = await decide(ahead, 'again')
    assert.equal(again.consent, 'granted', 'a consent granted on the node behind does not end an earlier revocation')

    const review = await post(behind, `/v1/decisions/${again.id}/reviews`, {
      verdict: 'approve',
      reviewer: { id: 'u-1' },
      reason: 'Seen.',
    })
    assert.ok(review.created_at >= again.created_at, 'the review is dated before its decision')

    const last = await decide(behind, 'last')
    const [latest] = await database.environments.sandbox.query<{ id: string }>(
      `SELECT latest.id FROM entities AS entity CROSS JOIN LATERAL ${latestDecision('entity.org_id', 'entity.id')} AS latest
       WHERE entity.id = $1`,
      [id],
    )
    assert.equal(latest!.id, last.id, 'the latest decision is the one that was committed last')
  }
  reportFigures(t, `clocks ${(2 * SKEW_MS) / 1000} s apart: ${count} trials, 0 facts missing, 0 records out of order`)
})

test('nodes follow the clock of the database, and report the skew of their machines', { skip }, async (t) => {
  const { ahead, behind, post } = await startSkewedNodes({})
  let widestMs = 0
  for (const [name, node] of Object.entries({ ahead, behind })) {
    for (let trial = 0; trial < trials(5); trial++) {
      const before = Date.now()
      const { created_at } = await post(node, '/v1/entities', { external_id: `${name}-${trial}` })
      const [earliest, latest] = [before - Date.parse(created_at), Date.parse(created_at) - Date.now()]
      widestMs = Math.max(widestMs, earliest, latest)
    }
  }
  assert.ok(widestMs < SKEW_MS / 3, `a record is dated ${widestMs} ms outside of its request`)
  const skews = await Promise.all([ahead, behind].map(reportedSkew))
  assert.ok(Math.abs(skews[0]! - SKEW_MS) < 1_000 && Math.abs(skews[1]! + SKEW_MS) < 1_000, `${skews}`)
  for (const node of [ahead, behind]) await node.untilOutput('the clock of this machine differs')
  reportFigures(
    t,
    `records at most ${Math.max(0, widestMs)} ms off; reported skews ${skews.map((ms) => `${ms / 1000} s`).join(' and ')}`,
  )
})

/** The skew that a node reports to Prometheus, once it has measured it. */
async function reportedSkew({ ports }: ServiceProcess): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const metrics = await (await fetch(`http://127.0.0.1:${ports.console}/metrics`)).text()
    const skew = /verdigraph_clock_skew_seconds\{database="control"\} (\S+)/.exec(metrics)
    if (skew) return Math.round(Number(skew[1]) * 1_000)
    await sleep(100)
  }
  throw new Error('no skew was reported')
}
