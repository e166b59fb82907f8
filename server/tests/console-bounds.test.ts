/** Work on policies that operators ask for is bounded: a viewer cannot stop the node, nor another organization's console. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { hostilePolicy } from './hostile-policy.ts'
import { Gate, TASKS } from './pool-tasks.ts'
import { recordPersona } from './record-persona.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { threads } = api.service.installation
const [acme, other] = [await api.newOrganization(), await api.newOrganization()]
const [viewer, author, neighbour] = [
  await signedInOperator(api, { organizationId: acme.id, email: 'v@example.com', role: 'viewer' }),
  await signedInOperator(api, { organizationId: acme.id, email: 'a@example.com', role: 'policy_author' }),
  await signedInOperator(api, { organizationId: other.id, email: 'n@example.com', role: 'viewer' }),
]
const HOSTILE = 'hostile-1'
/** What may wait for one organization. */
const WAITING_MAX = 16
const ASKED_AT_ONCE = 32

const [ours, theirs] = [await recordPersona(acme, 'prime'), await recordPersona(other, 'prime')]
const source = JSON.stringify(hostilePolicy(HOSTILE))
await call(author, 'policies.propose', { source, reason: 'To stop the node.' })

async function call(client: ConsoleClient, name: string, input: object) {
  const answer = await client.call(`${acme.id}/sandbox/${name}`, input)
  assert.equal(answer.status, 200, `${name}: ${JSON.stringify(answer.body).slice(0, 500)}`)
  return answer.body
}

const HOSTILE_RUN = { decision_id: ours.id, policy_versions: [HOSTILE] }

/** Keeps both threads of the pool at work for a third organization until the function that it returns is called. */
async function holdThreads(): Promise<() => Promise<void>> {
  const gates = [new Gate(), new Gate()]
  const held = gates.map(({ cells }, index) =>
    threads.run(index === 0 ? TASKS.slowGate : TASKS.passGate, { cells, name: '' }, { organizationId: 'org_third' }),
  )
  await Promise.all(gates.map((gate) => gate.reached()))
  return async () => {
    for (const gate of gates) gate.open()
    await Promise.all(held)
  }
}

const PATIENCE_MS = 60_000

/** Waits for a condition; fails after a minute, so that a broken bound does not look like a slow one. */
async function until(condition: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !condition(); await sleep(5)) assert.ok(Date.now() < end, what)
}

const untilWaiting = (count: number) => until(() => threads.waiting === count, `${threads.waiting} tasks wait`)

/** An operation of a client that may leave before it is answered. */
function leavingCall(client: ConsoleClient, name: string, input: object) {
  const leaving = new AbortController()
  const answer = fetch(`${client.url}/api/${acme.id}/sandbox/${name}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: client.url, Cookie: client.cookie! },
    body: JSON.stringify(input),
    signal: leaving.signal,
  })
  return {
    async leave() {
      leaving.abort()
      await assert.rejects(answer, { name: 'AbortError' })
    },
  }
}

test('beyond the queue of an organization its dry runs are refused with 429, and everything else is answered', async () => {
  const release = await holdThreads()
  let refusals = 0
  const asked = Array.from({ length: ASKED_AT_ONCE }, async () => {
    const answer = await viewer.call(`${acme.id}/sandbox/playground.decide`, { decision_id: ours.id })
    if (answer.status === 429) refusals += 1
    return answer
  })
  await until(() => refusals === ASKED_AT_ONCE - WAITING_MAX, 'the refusals')
  await untilWaiting(WAITING_MAX)
  const neighbours = neighbour.call(`${other.id}/sandbox/playground.decide`, { decision_id: theirs.id })
  await untilWaiting(WAITING_MAX + 1)
  assert.ok((await call(viewer, 'policies.list', {})).policies.length > 1)
  assert.equal((await acme.get('/v1/usage')).status, 200)
  await release()

  const answers = await Promise.all(asked)
  const refused = answers.filter(({ status }) => status === 429)
  assert.equal(refused.length, ASKED_AT_ONCE - WAITING_MAX)
  for (const { headers, body } of refused) {
    assert.equal(headers.get('Retry-After'), '1')
    assert.equal(body.error.code, 'busy')
    assert.match(body.error.message, /^16 checks and dry runs .* Try again in a moment\.$/)
  }
  assert.equal(answers.filter(({ status }) => status === 200).length, WAITING_MAX)
  assert.equal((await neighbours).status, 200)
})

test('a dry run under a hostile policy does not take the time of the main thread', async () => {
  await call(viewer, 'playground.decide', { decision_id: ours.id })
  const [main, all] = [process.threadCpuUsage(), process.cpuUsage()]
  const { status } = await viewer.call(`${acme.id}/sandbox/playground.decide`, HOSTILE_RUN)
  // A busy machine may take longer than the budget, which is an answer too.
  assert.ok(status === 200 || status === 400)
  const [mainUsed, allUsed] = [process.threadCpuUsage(main), process.cpuUsage(all)]
  assert.ok(
    mainUsed.user + mainUsed.system < (allUsed.user + allUsed.system) / 2,
    `${mainUsed.user} of ${allUsed.user} µs`,
  )
})

test('a policy that many callers show is examined once, and a policy that was examined is not examined again', async () => {
  const fresh = sandboxPolicySource().replace('version: sandbox-policy-v1', 'version: fresh-1')
  await call(author, 'policies.propose', { source: fresh, reason: 'To be shown.' })
  const release = await holdThreads()
  const shown = Array.from({ length: ASKED_AT_ONCE }, () => call(viewer, 'policies.show', { version: 'fresh-1' }))
  await untilWaiting(1)
  // Each call reads the policy before it waits, so all of them have come when later calls have been answered.
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, () => call(viewer, 'policies.list', {})))
  assert.deepEqual([threads.waiting, threads.threads], [1, 2])
  await release()
  for (const { tests } of await Promise.all(shown)) assert.ok(tests.length > 0)

  const releaseAgain = await holdThreads()
  let tests: unknown[] = []
  const again = call(viewer, 'policies.show', { version: 'fresh-1' }).then((body) => {
    tests = body.tests
  })
  await until(() => tests.length > 0, 'an examined policy waits for a thread')
  await Promise.all([again, releaseAgain()])
})

test('work ends with its client: checks, trials and dry runs leave the queue', async () => {
  const release = await holdThreads()
  const calls = [
    leavingCall(author, 'policies.check', { source }),
    leavingCall(author, 'policy-backtests.try', { source, last: 100 }),
    leavingCall(viewer, 'playground.decide', HOSTILE_RUN),
  ]
  await untilWaiting(calls.length)
  await Promise.all(calls.map(({ leave }) => leave()))
  await untilWaiting(0)
  await release()
  assert.deepEqual(
    api.logs.filter((line) => line.includes('unexpected error')),
    [],
  )
})

test('a text of 262,000 quotes is checked within the budget, and its problems are listed', async () => {
  const { problems } = await call(author, 'policies.check', { source: '"'.repeat(262_000) })
  assert.equal(problems.length, 100)
})
