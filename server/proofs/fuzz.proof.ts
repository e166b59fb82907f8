/** The contract is true (promise 14): whatever is sent, no answer is a 5xx, and each one matches openapi.json. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertMatchesOpenapi } from '../tests/assert-matches-openapi.ts'
import {
  brokenRequest,
  type GeneratedRequest,
  operations,
  resolveReference,
  validRequest,
} from './load/generate-requests.ts'
import { pick, type Source } from './load/generate-values.ts'
import { startProbedService } from './probe/probed-service.ts'
import { assertTime, reportFigures, seed, seededRandom, trials } from './proof-run.ts'

const HOLD_MS_MAX = 50
const REQUESTS_PER_PROBE = 25
/** Some operations have rules beyond their schema, which about one valid request in ten satisfies. */
const REQUESTS_TO_SUCCEED_MAX = 300

const service = await startProbedService()
const key = service.keys.first
const ids = new Map<string, string[]>()
const random = seededRandom()
const source: Source = {
  random,
  resolve: resolveReference,
  existingId: (prefix) => pick(random, ids.get(prefix) ?? []),
}

async function send({ method, path, headers, body }: GeneratedRequest) {
  const response = await fetch(service.url + path, { method, headers, ...(body !== undefined && { body }) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** Remembers the ids of what was created, for later requests. */
function remember(body: { id?: unknown } | undefined): void {
  const [, prefix] = /^([a-z]{3})_/.exec(String(body?.id)) ?? []
  if (prefix) ids.set(prefix, [...(ids.get(prefix) ?? []).slice(-20), String(body!.id)])
}

/** Sends a request and fails the test if the answer is a server error or not what openapi.json describes. */
async function check(request: GeneratedRequest): Promise<number> {
  const answer = await send(request)
  const what = `seed ${seed}: ${request.method} ${request.path.slice(0, 200)} ${request.body?.slice(0, 500)}`
  assert.ok(answer.status < 500, `${answer.status} ${JSON.stringify(answer.body)} to ${what}`)
  const { pathname } = new URL(request.path.replace(/%(?![0-9a-f]{2})/gi, '%25'), 'http://localhost')
  assertMatchesOpenapi(request.method, pathname, answer)
  remember(answer.body)
  return answer.status
}

/** The least hold of a request that is sent again alone, because a batch with it held the event loop for too long. */
async function holdAlone(request: GeneratedRequest): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < 4 && least > HOLD_MS_MAX; time++) {
    await service.longestHoldMs()
    await send(request)
    least = Math.min(least, await service.longestHoldMs())
  }
  return least
}

/** Whether one of many valid requests to an operation succeeds. */
async function canSucceed(operation: (typeof operations)[number]): Promise<boolean> {
  for (let sent = 0; sent < REQUESTS_TO_SUCCEED_MAX; sent++)
    if ((await check(validRequest(operation, source, key))) < 300) return true
  return false
}

test('generated requests, valid and broken, get answers that match their schema, no 5xx and no stall', async (t) => {
  const total = trials(1_500, 200)
  const succeeded = new Set<string>()
  const statuses = new Map<number, number>()
  let batch: GeneratedRequest[] = []
  let longest = 0
  await service.longestHoldMs()
  for (let sent = 0; sent < total; sent++) {
    const operation = operations[sent % operations.length]!
    const request = (random() < 0.5 ? validRequest : brokenRequest)(operation, source, key)
    const status = await check(request)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status < 300) succeeded.add(operation.operationId)
    batch.push(request)
    if (batch.length < REQUESTS_PER_PROBE) continue
    let hold = await service.longestHoldMs()
    if (hold > HOLD_MS_MAX) {
      hold = 0
      for (const one of batch) {
        const alone = await holdAlone(one)
        assertTime(
          t,
          alone <= HOLD_MS_MAX,
          `${alone} ms for seed ${seed}: ${one.method} ${one.path} ${one.body?.slice(0, 500)}`,
        )
        hold = Math.max(hold, alone)
      }
    }
    longest = Math.max(longest, hold)
    batch = []
  }
  const unreached: string[] = []
  for (const operation of operations)
    if (!succeeded.has(operation.operationId) && !(await canSucceed(operation))) unreached.push(operation.operationId)
  assert.deepEqual(unreached, [], 'operations without a success: the generator does not reach them')
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  reportFigures(
    t,
    `${total} requests to ${operations.length} operations (${counts.join(', ')}), longest hold ${longest} ms`,
  )
})
