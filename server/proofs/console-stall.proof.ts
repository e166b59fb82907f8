/** No operation of the console stalls the others (promise 23): viewers and an author of one organization are the attackers. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { hostilePolicy } from '../tests/hostile-policy.ts'
import { runCliForJson } from '../tests/service-process.ts'
import { type ConsoleCall, startConsoleAttack } from './load/console-attack.ts'
import { startProbedService } from './probe/probed-service.ts'
import { reportFigures, trials } from './proof-run.ts'

const VIEWERS = 32
const AUTHORS = 4
const MEASURED_MS = trials(8_000, 3_000)
/** Node starts threads of its own when they are needed; one for each request would be many more. */
const OWN_THREADS = 8
const HOSTILE = 'hostile-1'

const service = await startProbedService()
const consoleUrl = `http://127.0.0.1:${service.process.ports.console}`
const organizations: { id: string; name: string }[] = runCliForJson(service.env, 'orgs', 'list')
const second = organizations.find(({ name }) => name === 'Second')!.id
const first = organizations.find(({ id }) => id !== second)!.id

/** Invites a person by the command line and joins; returns the cookie of the session. */
async function join(organization: string, role: string): Promise<string> {
  const email = `${role}-${organization}@example.com`.toLowerCase()
  const options = ['--name', 'A person', '--role', role, '--org', organization]
  const { link } = runCliForJson(service.env, 'operators', 'invite', email, ...options)
  const answer = await post(`${consoleUrl}/api/open/invitation.accept`, '', {
    token: new URL(link).hash.slice(1),
    name: 'A person',
    password: 'a quiet green ledger 42',
  })
  assert.equal(answer.status, 200, await answer.text())
  return answer.headers.getSetCookie()[0]!.split(';', 1)[0]!
}

function post(url: string, cookie: string, body: unknown): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Origin: new URL(url).origin, Cookie: cookie }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** Records a decision by the API, as the facts of dry runs. */
async function decide(key: string): Promise<string> {
  const ask = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': path }
    const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(response.status, 201)
    return ((await response.json()) as { id: string }).id
  }
  const entity_id = await ask('/v1/entities', { external_id: 'applicant' })
  return ask('/v1/underwrite', { entity_id, product: 'credit_line', requested_amount: 1_000, currency: 'EUR' })
}

/** The answers of one kind that the other organization gets within a time, one after the other. */
async function measure(ask: () => Promise<Response>): Promise<{ p99: number; answers: number; text: string }> {
  const latencies: number[] = []
  for (const end = Date.now() + MEASURED_MS; Date.now() < end || latencies.length === 0; ) {
    const began = performance.now()
    const response = await ask()
    const text = await response.text()
    assert.equal(response.status, 200, text)
    latencies.push(performance.now() - began)
  }
  latencies.sort((a, b) => a - b)
  const p99 = latencies[Math.floor(latencies.length * 0.99)]!
  return { p99, answers: latencies.length, text: `${latencies.length} in p99 ${Math.round(p99)} ms` }
}

test('while 32 viewers and four authors attack, another organization reads, sees its console and tries what-ifs', async (t) => {
  const [viewer, author] = [await join(first, 'viewer'), await join(first, 'policy_author')]
  const neighbour = await join(second, 'viewer')
  const [ours, theirs] = [await decide(service.keys.first), await decide(service.keys.second)]
  const source = JSON.stringify(hostilePolicy(HOSTILE))
  const operation = (organization: string, name: string) => `${consoleUrl}/api/${organization}/sandbox/${name}`
  const proposed = await post(operation(first, 'policies.propose'), author, { source, reason: 'To stall the node.' })
  assert.equal(proposed.status, 200, await proposed.text())

  const ofAttacker = (cookie: string, name: string, input: object): ConsoleCall => ({
    cookie,
    url: operation(first, name),
    body: JSON.stringify(input),
  })
  const byViewers = [
    ofAttacker(viewer, 'playground.decide', { decision_id: ours, policy_versions: [HOSTILE, HOSTILE] }),
    ofAttacker(viewer, 'policies.show', { version: HOSTILE }),
    ofAttacker(viewer, 'decisions.show', { id: ours }),
  ]
  const byAuthors = [
    ofAttacker(author, 'policies.check', { source: '"'.repeat(262_000) }),
    ofAttacker(author, 'policies.check', { source }),
    ofAttacker(author, 'policy-backtests.try', { source, last: 2_000 }),
  ]
  const victims = {
    'API reads': () =>
      fetch(`${service.url}/v1/usage`, { headers: { Authorization: `Bearer ${service.keys.second}` } }),
    'policy lists': () => post(operation(second, 'policies.list'), neighbour, {}),
    'what-ifs': () => post(operation(second, 'playground.decide'), neighbour, { decision_id: theirs }),
  }
  const threadsOf = () => readdirSync(`/proc/${service.process.child.pid}/task`).length
  const threadsBefore = threadsOf()
  const figures: string[] = []
  let [rss, threads] = [0, 0]
  for (const [kind, ask] of Object.entries(victims)) {
    const alone = await measure(ask)
    const stops = [
      startConsoleAttack({ calls: byViewers, callers: VIEWERS }),
      startConsoleAttack({ calls: byAuthors, callers: AUTHORS }),
    ]
    const attacked = await measure(async () => {
      rss = Math.max(rss, service.rssMb())
      threads = Math.max(threads, threadsOf())
      return ask()
    })
    const attacks = await Promise.all(stops.map((stop) => stop()))
    assert.ok(attacks.every((answered) => Object.keys(answered).length > 0))
    for (const status of attacks.flatMap(Object.keys))
      assert.ok(['200', '400', '429', '503'].includes(status), `an attacker got ${status}`)
    figures.push(`${kind} alone ${alone.text}, attacked ${attacked.text} (attackers ${JSON.stringify(attacks)})`)
  }
  assert.ok(rss < 1024, `${rss} MB resident`)
  assert.ok(threads <= threadsBefore + OWN_THREADS, `${threads} threads, ${threadsBefore} before`)
  reportFigures(t, `${figures.join('; ')}; at most ${Math.round(rss)} MB, ${threads} threads (${threadsBefore} before)`)
})
