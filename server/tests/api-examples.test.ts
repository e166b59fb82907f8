/** Sends every example of the API document to a real service, and compares the answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { API_EXAMPLES, type ApiExample } from '../src/api/openapi/api-examples.ts'
import { routes } from '../src/api/routes.ts'
import { type Answer, startTestService } from './test-service.ts'

const STARTED_MS = Date.now()
const EXAMPLE_MS = Date.parse('2026-11-16T09:30:00Z')
/** A late retry is one of two days later. It is the last request, because all that runs then, such as signing a head, has that time. */
const LATE_MS = 2 * 86_400_000
const IN_ORDER_OF_TIME = [
  ...API_EXAMPLES.filter(({ isLateRetry }) => !isLateRetry),
  ...API_EXAMPLES.filter(({ isLateRetry }) => isLateRetry),
]
let aheadMs = 0
const api = await startTestService({
  env: { RATE_LIMIT_PER_SECOND: '5000' },
  nowMs: () => EXAMPLE_MS + aheadMs + Date.now() - STARTED_MS,
})
const acme = await api.newOrganization()

/** Operations whose example shows a part of the answer: the whole has hundreds of lines. */
const SHOW_A_PART = new Set(['replayDecision', 'listAuditTrail'])
/** Values that differ from run to run, or count requests; an example only has to have them. */
const VARYING = new Set(['leaf_index', 'tree_size', 'key_id', 'next_cursor', 'requests', 'endpoints'])

/** The ids of the run, by their prefix, in place of those of the examples. */
const ids = new Map<string, string>()

test('every operation has an example', () => {
  const shown = new Set(API_EXAMPLES.map(({ operationId }) => operationId))
  for (const { operationId, succeeds } of routes) {
    assert.ok(shown.has(operationId), operationId)
    for (const status of Object.keys(succeeds))
      assert.ok(
        API_EXAMPLES.some((example) => example.operationId === operationId && example.status === Number(status)),
        `${operationId} ${status}`,
      )
  }
})

for (const example of IN_ORDER_OF_TIME) {
  test(`the service answers the example of ${example.operationId} (${example.status}) as shown`, async () => {
    if (example.isLateRetry) aheadMs = LATE_MS
    const answer = await send(example)
    assert.equal(answer.status, example.status, answer.text)
    for (const id of answer.text.match(/\b(?:ent|dec)_[0-9a-z]{26}\b/g) ?? []) ids.set(id.slice(0, 3), id)
    const [shown, actual] = [settled(example.reply), settled(answer.body)]
    if (SHOW_A_PART.has(example.operationId)) assertPart(shown, actual, '')
    else assert.deepEqual(actual, shown)
  })
}

/** Sends an example; a proof of the audit log takes a moment, so a replay is asked for until it has one. */
async function send({ operationId, query, request }: ApiExample): Promise<Answer> {
  const { method, path } = routes.find((route) => route.operationId === operationId)!
  const search = query ? `?${new URLSearchParams(query)}` : ''
  const place = path.replace('{entity_id}', ids.get('ent') ?? '').replace('{decision_id}', ids.get('dec') ?? '')
  const body = request && JSON.parse(withOwnIds(JSON.stringify(request)))
  for (let attempt = 0; ; attempt++) {
    const answer = await api.request('sandbox', place + search, {
      method,
      key: acme.keys.sandbox,
      ...(body && { body }),
      ...(method === 'POST' && { headers: { 'Idempotency-Key': `${operationId}-${JSON.stringify(request)?.length}` } }),
    })
    const isProven = operationId !== 'replayDecision' || answer.body.audit.checkpoint !== null
    if (isProven || attempt === 60) return answer
    await wait(250)
  }
}

function withOwnIds(text: string): string {
  return text.replace(/\b(ent|dec)_[0-9a-z]{26}\b/g, (id, prefix: string) => ids.get(prefix) ?? id)
}

/** A value without what differs from run to run: ids, hashes, signatures and the time of the run. */
function settled(value: unknown, name = ''): unknown {
  if (VARYING.has(name)) return `<${name}>`
  if (Array.isArray(value)) return value.map((item) => settled(item))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, settled(member, key)]))
  if (typeof value !== 'string' || name === 'sha256') return value
  if (value.startsWith('2026-11-16T09:3')) return '<now>'
  return value
    .replace(/^([a-z]{3})_(?:[0-9a-z]{26}|[0-9a-z]{10})$/, '<$1>')
    .replace(/^(?:[0-9a-f]{64}){1,2}$/, '<hash>')
}

/** Fails unless everything that is shown is in the answer; of a list, each shown item has to be one of the answer's. */
function assertPart(shown: unknown, actual: unknown, place: string): void {
  if (Array.isArray(shown)) {
    assert.ok(Array.isArray(actual), `${place} is a list`)
    for (const item of shown)
      assert.ok(
        actual.some((other) => isPart(item, other)),
        `${place}: ${JSON.stringify(item)}`,
      )
  } else if (typeof shown === 'object' && shown !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, `${place} is an object, not ${JSON.stringify(actual)}`)
    for (const [name, member] of Object.entries(shown))
      assertPart(member, (actual as Record<string, unknown>)[name], `${place}/${name}`)
  } else assert.equal(actual, shown, place)
}

function isPart(shown: unknown, actual: unknown): boolean {
  try {
    assertPart(shown, actual, '')
    return true
  } catch {
    return false
  }
}
