/** The request log, and the health checks and metrics of the console port. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

/** Names of the operating guide that look like metrics. */
const SCHEMAS = ['verdigraph_control', 'verdigraph_sandbox', 'verdigraph_production']

const api = await startTestService()
const acme = await api.newOrganization()

test('the log has one JSON line for each request, with its id and without its secrets', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'logged-external-id' })
  const answer = await acme.post(`/v1/entities/${entity.id}/identity-links`, {
    identifier: { type: 'phone', value: '+491701234567' },
    verification: { status: 'verified' },
  })
  const lines = api.logs
    .map((line) => JSON.parse(line))
    .filter(({ request_id }) => request_id === answer.headers.get('request-id'))
  assert.deepEqual(
    lines.map(({ status, route }) => [status, route]),
    [[201, '/v1/entities/:entity_id/identity-links']],
  )
  const everything = api.logs.join('')
  for (const secret of [acme.keys.sandbox, '+491701234567', 'logged-external-id'])
    assert.ok(!everything.includes(secret))
})

test('the console port reports health, readiness and metrics, and serves the page', async () => {
  await acme.post('/v1/entities', { external_id: 'counted' })
  const get = async (path: string) => fetch(api.service.urls.console + path)
  assert.equal((await get('/healthz')).status, 200)
  // A database that a busy machine keeps waiting for two seconds counts as unreachable until the next look.
  await until('the node is ready', async () => (await get('/readyz')).status === 200)
  assert.match(
    await (await get('/metrics')).text(),
    /verdigraph_http_requests_total\{environment="sandbox",method="POST",route="\/v1\/entities",status="201"\} [1-9]/,
  )
  assert.match(await (await get('/')).text(), /<title>Verdigraph<\/title>/)
})

test('decisions are counted by verdict, each once, and the release is a label', async () => {
  const counted = async () => {
    const text = await (await fetch(`${api.service.urls.console}/metrics`)).text()
    return {
      reviews: Number(
        text.match(/verdigraph_decisions_total\{environment="sandbox",verdict="manual_review"\} (\d+)/)?.[1],
      ),
      builds: text.match(/^verdigraph_build_info\{version="[^"]+",node_version="v24[^"]+"\} 1$/gm)?.length,
    }
  }
  const before = await counted()
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'decided' })
  const request = { entity_id: entity.id, product: 'credit_line', requested_amount: 100, currency: 'EUR' }
  for (const replayed of [null, 'true']) {
    const answer = await acme.post('/v1/underwrite', request, { 'Idempotency-Key': 'counted-once' })
    assert.deepEqual([answer.body.verdict, answer.headers.get('idempotent-replayed')], ['manual_review', replayed])
  }
  // The page is written once a second.
  await until('the decision is counted', async () => (await counted()).reviews > before.reviews)
  assert.deepEqual(await counted(), { reviews: before.reviews + 1, builds: 1 })
})

test('every metric that the operating guide and the runbook name is served', async () => {
  const text = await (await fetch(`${api.service.urls.console}/metrics`)).text()
  for (const file of ['operating.md', 'runbook.md']) {
    const page = readFileSync(join(import.meta.dirname, '../../docs', file), 'utf8')
    const named = [...page.matchAll(/`((?:verdigraph|nodejs|process)_[a-z0-9_]+)`/g)].map(([, name]) => name!)
    const metrics = named.filter((name) => !SCHEMAS.includes(name))
    assert.ok(metrics.length > 5, file)
    for (const name of metrics) assert.ok(text.includes(`# TYPE ${name} `), `${file}: ${name}`)
  }
})
