/** Signing in with a passkey: challenges are signed, not stored, and each works once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlUpkeepTasks } from '../src/service/upkeep-tasks.ts'
import { ConsoleClient, signedInOperator } from './console-client.ts'
import { existingTables } from './documented-tables.ts'
import { SoftwarePasskey } from './software-passkey.ts'
import { startTestService } from './test-service.ts'

let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const { storage } = api.service.installation
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'owner' })
const passkey = new SoftwarePasskey()
await passkey.enrol(api, ada.accountId)
const origin = ada.url.replace('127.0.0.1', 'localhost')

async function begin(): Promise<string> {
  const { status, body } = await new ConsoleClient(api).call('open/sign-in.begin-passkey', {}, { Origin: origin })
  assert.equal(status, 200, JSON.stringify(body))
  return body.options.challenge
}

async function signIn(challenge: string, { by = passkey, browser = new ConsoleClient(api) } = {}): Promise<number> {
  const response = by.answer({ challenge, origin })
  const { status, body } = await browser.call('open/sign-in.give-passkey', { response }, { Origin: origin })
  assert.ok(status === 200 || body.error.code === 'passkey_wrong', JSON.stringify(body))
  assert.equal(browser.cookie !== undefined, status === 200)
  return status
}

/** What the sealer and the health check write beside all requests. */
const OF_BACKGROUND_JOBS = /^(audit_(pending|flushes|nodes|heads|announced)|events|leases|node_heartbeats)$/

/** How many rows each table of the installation has. */
async function rowCounts(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const tables = [...(await existingTables(storage))].filter((table) => !OF_BACKGROUND_JOBS.test(table))
  for (const [name, database] of Object.entries({ control: storage.control, ...storage.environments }))
    for (const table of tables) {
      const [found] = await database.query('SELECT to_regclass($1) IS NOT NULL AS exists', [
        `${database.schema}.${table}`,
      ])
      if (!found!.exists) continue
      const [row] = await database.query<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)
      counts[`${name}.${table}`] = Number(row!.count)
    }
  return counts
}

test('a passkey signs its person in, and its answer works once, also at the same moment', async () => {
  const browser = new ConsoleClient(api)
  const challenge = await begin()
  assert.equal(await signIn(challenge, { browser }), 200)
  assert.equal((await browser.call('account/account.show')).body.account.email, 'ada@example.com')
  assert.equal(await signIn(challenge), 401, 'replayed')
  const next = await begin()
  const statuses = await Promise.all([signIn(next), signIn(next), signIn(next)])
  assert.deepEqual(statuses.sort(), [200, 401, 401])
})

test('a challenge ends after ten minutes, and upkeep deletes only what is remembered of one that has ended', async () => {
  const challenge = await begin()
  nowMs += 10 * 60_000 - 1
  const last = await begin()
  assert.equal(await signIn(challenge), 200)
  nowMs += 1
  assert.equal(await signIn(challenge), 401, 'used')
  const late = await begin()
  nowMs += 10 * 60_000
  assert.equal(await signIn(late), 401, 'expired')
  assert.equal(await signIn(last), 401, 'expired')
  assert.equal(await signIn(await begin()), 200)
  nowMs += 1
  for (const task of controlUpkeepTasks({ control: storage.control, isEmbedded: false })) await task(nowMs)
  const [{ count } = {}] = await storage.control.query('SELECT count(*) AS count FROM used_challenges')
  assert.equal(Number(count), 1, 'only the one that may still be replayed')
})

test('a challenge that this installation did not make is refused, and a wrong answer uses none up', async () => {
  const challenge = await begin()
  const bytes = Buffer.from(challenge, 'base64url')
  for (const index of [0, 20, bytes.length - 1]) {
    const forged = Buffer.from(bytes)
    forged[index]! ^= 1
    assert.equal(await signIn(forged.toString('base64url')), 401, `byte ${index}`)
  }
  assert.equal(await signIn(Buffer.alloc(32, 7).toString('base64url')), 401)
  const other = await startTestService({ nowMs: () => nowMs })
  const elsewhere = new ConsoleClient(other)
  const { body } = await elsewhere.call(
    'open/sign-in.begin-passkey',
    {},
    { Origin: elsewhere.url.replace('127.0.0.1', 'localhost') },
  )
  assert.equal(await signIn(body.options.challenge), 401, 'made by another installation')
  assert.equal(await signIn(challenge, { by: new SoftwarePasskey() }), 401, 'a passkey that is not known')
  assert.equal(await signIn(challenge), 200, 'its own person still signs in')
})

test('three hundred callers without a session who begin to sign in, or guess at links, write nothing', async () => {
  const before = await rowCounts()
  assert.ok(before['control.accounts']! >= 1)
  const stranger = new ConsoleClient(api)
  for (let round = 0; round < 30; round++)
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const token = 'A'.repeat(43)
        const accept = { token, name: 'Eve', password: 'seven slow ferries north' }
        await begin()
        if (round >= 5) return
        await stranger.call('open/sign-in.show-options')
        await stranger.call('open/sign-in.give-code', { challenge: token, code: '000000' })
        await stranger.call('open/invitation.show', { token })
        await stranger.call('open/invitation.accept', accept)
        await stranger.call('open/welcome.check', { token })
        await stranger.call('open/welcome.accept', { ...accept, email: 'eve@example.com' })
        await signIn(await begin(), { by: new SoftwarePasskey() })
      }),
    )
  assert.deepEqual(await rowCounts(), before)
})
