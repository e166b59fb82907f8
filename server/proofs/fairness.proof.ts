/** 32 attackers do not keep another organization from being answered, on any port (promise 23). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Pool } from 'undici'
import { type AttackRequest, startAttackers } from './load/attackers.ts'
import { hostileRequests, largestRequests } from './load/worst-bodies.ts'
import { startSharedService } from './probe/shared-service.ts'
import { reportFigures, trials } from './proof-run.ts'

const ATTACKERS = 32
const READERS_PER_PORT = 2
const ROUND_MS = trials(4_000, 1_500)
const RSS_MB_MAX = 1024

const service = await startSharedService()
const { attacker, victim, origins } = service
const pools = {
  sandbox: new Pool(origins.sandbox, { connections: ATTACKERS }),
  production: new Pool(origins.production, { connections: READERS_PER_PORT }),
  console: new Pool(origins.console, { connections: READERS_PER_PORT }),
}

const jsonHeaders = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })
const consoleHeaders = (cookie = '') => ({
  'content-type': 'application/json',
  origin: origins.console,
  'sec-fetch-site': 'same-origin',
  cookie,
})

let created = 0
async function createEntity(key: string): Promise<string> {
  created += 1
  const body = JSON.stringify({ external_id: `entity-${created}` })
  const answer = await pools.sandbox.request({
    method: 'POST',
    path: '/v1/entities',
    headers: jsonHeaders(key),
    body,
  })
  assert.equal(answer.statusCode, 201)
  return ((await answer.body.json()) as { id: string }).id
}

const ownEntity = await createEntity(victim.keys.sandbox)
const attackedEntities = await Promise.all(Array.from({ length: ATTACKERS }, () => createEntity(attacker.keys.sandbox)))

/** What the victim asks for, one request after the other on each connection. */
const READS = [
  { pool: pools.sandbox, method: 'GET', path: `/v1/entities/${ownEntity}`, headers: jsonHeaders(victim.keys.sandbox) },
  { pool: pools.production, method: 'GET', path: '/v1/usage', headers: jsonHeaders(victim.keys.production) },
  {
    pool: pools.console,
    method: 'POST',
    path: '/api/account/account.show',
    headers: consoleHeaders(victim.viewerCookie),
    body: '{}',
  },
] as const

/** Reads as the victim for a while on every port. Each request has to be answered with 200. */
async function readAsVictim(): Promise<{ perSecond: number; p99: number; rssMb: number }> {
  const times: number[] = []
  let rssMb = 0
  const begun = performance.now()
  await Promise.all(
    READS.flatMap((read) => Array.from({ length: READERS_PER_PORT }, () => read)).map(async ({ pool, ...request }) => {
      while (performance.now() - begun < ROUND_MS) {
        const sent = performance.now()
        const { statusCode, body } = await pool.request(request)
        const text = await body.text()
        assert.equal(statusCode, 200, `${request.path}: ${text}`)
        times.push(performance.now() - sent)
        rssMb = Math.max(rssMb, service.rssMb())
      }
    }),
  )
  const perSecond = times.length / ((performance.now() - begun) / 1000)
  return { perSecond, p99: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!, rssMb }
}

/** Reads as the victim without and with the attackers, in this order; the milliseconds are reported, not asserted. */
async function withstand(t: TestContext, attacks: { origin: string; requests: AttackRequest[] }[]): Promise<void> {
  await readAsVictim()
  const alone = await readAsVictim()
  const stops = attacks.map((attack) => startAttackers({ ...attack, connections: ATTACKERS / attacks.length }))
  const attacked = await readAsVictim()
  const reports = await Promise.all(stops.map((stop) => stop()))
  const answered = reports.flatMap((report) => Object.values(report)).reduce((sum, count) => sum + count, 0)
  assert.ok(answered > 0, 'the attackers were not answered at all')
  assert.ok(attacked.rssMb < RSS_MB_MAX, `${attacked.rssMb} MB resident`)
  const shown = ({ perSecond, p99 }: typeof alone) => `${Math.round(perSecond)}/s, p99 ${p99.toFixed(1)} ms`
  reportFigures(
    t,
    `${shown(alone)} alone; ${shown(attacked)} with ${ATTACKERS} attackers (${answered} answers), ${Math.round(attacked.rssMb)} MB`,
  )
}

const asTenant = (requests: readonly { path: string; body: string }[]) => ({
  origin: origins.sandbox,
  requests: requests.map(({ path, body }) => ({
    method: 'POST' as const,
    path,
    body,
    headers: jsonHeaders(attacker.keys.sandbox),
  })),
})

test('while 32 attackers of one organization send the worst bodies, every request of another is answered', (t) =>
  withstand(t, [asTenant(hostileRequests({ entity: attackedEntities[0]!, decision: 'dec_x' }))]))

test('while 32 attackers of one organization write the largest batches, every request of another is answered', (t) =>
  withstand(t, [asTenant(attackedEntities.flatMap((entity) => largestRequests(entity, 0).filter((_, at) => at > 3)))]))

test('while 32 attackers of one organization decide under the costliest policy, every request of another is answered', (t) => {
  const ask = (entity_id: string) => ({ entity_id, product: 'credit_line', requested_amount: 1e12, currency: 'EUR' })
  const bodies = attackedEntities.map((entity) => ({ path: '/v1/underwrite', body: JSON.stringify(ask(entity)) }))
  return withstand(t, [asTenant(bodies)])
})

test('while 32 attackers without a key or a session use every port, every request of an organization is answered', (t) => {
  const nested = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  const guess = (index: number) => `${attacker.keys.sandbox.slice(0, -6)}${String(index).padStart(6, '0')}`
  const [worst] = asTenant(hostileRequests({ entity: 'ent_x', decision: 'dec_x' })).requests
  const guesses = Array.from({ length: 50 }, (_, index) => ({ ...worst!, headers: jsonHeaders(guess(index)) }))
  const signIn = { method: 'POST', path: '/api/open/sign-in.give-password', headers: consoleHeaders() } as const
  const open: AttackRequest[] = [
    { ...signIn, body: nested },
    { ...signIn, body: JSON.stringify({ email: 'guessed@example.com', password: 'a wrong password' }) },
    { method: 'GET', path: '/metrics', headers: {} },
    { method: 'GET', path: '/', headers: {} },
  ]
  return withstand(t, [
    { origin: origins.sandbox, requests: guesses },
    { origin: origins.console, requests: open },
  ])
})

test.after(async () => {
  await Promise.all(Object.values(pools).map((pool) => pool.destroy()))
})
