/** Behind a reverse proxy, the console counts by the client's address only if the proxy is trusted. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { startTestService, type TestService } from './test-service.ts'

const CLIENT = '203.0.113.5'

async function guessAll(api: TestService, forwarded: (index: number) => string): Promise<number[]> {
  const guess = async (index: number) => {
    const input = { email: `guess-${index}@example.com`, password: 'guess' }
    const headers = { 'X-Forwarded-For': forwarded(index) }
    return (await new ConsoleClient(api).call('open/sign-in.give-password', input, headers)).status
  }
  return Promise.all(Array.from({ length: 40 }, (_, index) => guess(index)))
}

async function addressOf(client: ConsoleClient, forwarded: string): Promise<[number, string | undefined]> {
  const input = { email: 'ada@example.com', password: PASSWORD }
  const { status } = await client.call('open/sign-in.give-password', input, { 'X-Forwarded-For': forwarded })
  if (status !== 200) return [status, undefined]
  const { sessions } = (await client.call('account/account.list-sessions')).body
  return [status, sessions.find((session: { is_this_one: boolean }) => session.is_this_one).address]
}

async function start(env: Record<string, string>): Promise<TestService> {
  const api = await startTestService({ env })
  const { id: organizationId } = await api.newOrganization()
  await signedInOperator(api, { organizationId, email: 'ada@example.com', role: 'owner' })
  return api
}

test('a forged header neither hides who guesses nor names the session', async () => {
  const api = await start({})
  assert.deepEqual(await addressOf(new ConsoleClient(api), CLIENT), [200, '127.0.0.1'])
  const guesses = await guessAll(api, (index) => `198.51.100.${index}`)
  assert.equal(guesses.filter((status) => status === 401).length, 30)
  assert.deepEqual(await addressOf(new ConsoleClient(api), CLIENT), [429, undefined], 'the address of all is locked')
})

test('a trusted proxy names the client: who guesses is locked out, and others sign in', async () => {
  const api = await start({ TRUSTED_PROXIES: '10.0.0.0/8,127.0.0.1' })
  // The client forges the beginning of the header; the proxy appends what it sees.
  const guesses = await guessAll(api, (index) => `198.51.100.${index}, ${CLIENT}`)
  assert.equal(guesses.filter((status) => status === 401).length, 30)
  assert.deepEqual(await addressOf(new ConsoleClient(api), CLIENT), [429, undefined])
  assert.deepEqual(await addressOf(new ConsoleClient(api), '2001:db8::9, 10.1.2.3'), [200, '2001:db8::9'])
})

test('one client that sends without waiting for answers is cut off by the console port too', async () => {
  const api = await start({})
  const { port } = new URL(api.service.urls.console!)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  socket.on('error', () => {}) // Cut off: 'close' follows.
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200))
  await closed
  assert.equal((await fetch(`${api.service.urls.console}/healthz`)).status, 200)
})
