import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { request } from 'undici'
import { selfSignedCertificate } from '../../tests/webhook-certificate.ts'
import { NameLookup } from './name-lookup.ts'
import { RefusedAddress } from './refused-address.ts'
import { createSafeAgent } from './safe-agent.ts'

/** A server in the internal network that must not be reached; the test counts the connections to it. */
let connections = 0
const inside = createServer((_, response) => response.end('secret')).on('connection', () => {
  connections += 1
})
await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
const { port } = inside.address() as AddressInfo
after(() => inside.close())

const v4 = (address: string): LookupAddress => ({ address, family: 4 })
const v6 = (address: string): LookupAddress => ({ address, family: 6 })

async function reach(host: string, answers: LookupAddress[][] = [], allowLoopback = false) {
  const agent = createSafeAgent({
    allowLoopback,
    timeoutMs: 2_000,
    resolveAll: async () => answers.shift() ?? [],
  })
  try {
    const answer = await request(`http://${host}:${port}/`, { dispatcher: agent })
    return { status: answer.statusCode, text: await answer.body.text() }
  } finally {
    await agent.destroy()
  }
}

test('a forbidden address literal is refused at connect in every notation', async () => {
  for (const host of [
    ...['127.0.0.1', '2130706433', '0x7f000001', '017700000001', '0x7f.1', '127.1', '0177.0.0.1', '0.0.0.0', '0'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
    ...[
      '10.0.0.1',
      '192.168.0.1',
      '172.16.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '224.0.0.1',
      '[fe80::1]',
      '[fd00::1]',
    ],
  ]) {
    await assert.rejects(reach(host), RefusedAddress, host)
  }
  assert.equal(connections, 0)
})

test('a name that resolves to an internal address is refused at connect, even if it has public addresses, too', async () => {
  for (const addresses of [
    [v4('127.0.0.1')],
    [v6('::1')],
    [v6('::ffff:127.0.0.1')],
    [v4('169.254.169.254')],
    [v4('93.184.216.34'), v4('127.0.0.1')],
    [v4('127.0.0.1'), v4('93.184.216.34')],
    [v6('2606:4700:4700::1111'), v6('fe80::1')],
  ]) {
    await assert.rejects(reach('receiver.example', [addresses]), RefusedAddress, JSON.stringify(addresses))
  }
  assert.equal(connections, 0)
})

test('an idle connection is closed after a few seconds, even if the receiver asks to keep it longer', async () => {
  const server = createServer((_, response) => response.setHeader('Keep-Alive', 'timeout=600').end())
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const closed = new Promise((resolve) => server.once('connection', (socket) => socket.once('close', resolve)))
  const agent = createSafeAgent({ allowLoopback: true, timeoutMs: 2_000 })
  after(() => agent.destroy())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await (await request(url, { dispatcher: agent })).body.dump()
  const begunMs = performance.now()
  await closed
  const keptMs = performance.now() - begunMs
  assert.ok(keptMs > 1_000 && keptMs < 20_000, `kept for ${keptMs} ms`)
})

test('DNS rebinding fails: a connection uses the addresses that it has checked', async () => {
  // The first lookup returns a public address, which passes the check; every later one returns loopback.
  const answers = [[v4('93.184.216.34')], [v4('127.0.0.1')], [v4('127.0.0.1')]]
  const first = await reach('rebound.example', answers).catch((error) => error)
  assert.ok(!(first instanceof RefusedAddress))
  assert.equal(answers.length, 2, 'the connection resolves the name once')
  await assert.rejects(
    reach('rebound.example', answers),
    RefusedAddress,
    'the next connection resolves and checks again',
  )
  assert.equal(answers.length, 1)
  assert.equal(connections, 0)
})

test('every connection checks a cached lookup again', async () => {
  let lookups = 0
  const names = new NameLookup({
    resolveAll: async () => {
      lookups += 1
      return [v4('127.0.0.1')]
    },
  })
  for (const allowLoopback of [true, false]) {
    const agent = createSafeAgent({ allowLoopback, timeoutMs: 2_000, resolveAll: names.find })
    const answer = request(`http://kept.example:${port}/`, { dispatcher: agent }).then(({ body }) => body.text())
    if (allowLoopback) assert.equal(await answer, 'secret')
    else await assert.rejects(answer, RefusedAddress)
    await agent.destroy()
  }
  assert.equal(lookups, 1)
})

test('where loopback is allowed, it is reached, and other internal addresses are refused', async () => {
  assert.deepEqual(await reach('127.0.0.1', [], true), { status: 200, text: 'secret' })
  assert.deepEqual(await reach('receiver.example', [[v4('127.0.0.1')]], true), { status: 200, text: 'secret' })
  await assert.rejects(reach('receiver.example', [[v4('127.0.0.1'), v4('10.0.0.1')]], true), RefusedAddress)
  await assert.rejects(reach('10.0.0.1', [], true), RefusedAddress)
})

test('a name without an address is an error', async () => {
  await assert.rejects(reach('nowhere.example', [[]]))
})

test('over https, a receiver must have a certificate for its name from a trusted authority', async () => {
  const trusted = selfSignedCertificate('receiver.example')
  setDefaultCACertificates([...getCACertificates('default'), trusted.cert])
  const untrusted = selfSignedCertificate('receiver.example')
  // An operator may have set this for another program; it must not weaken the check here.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  after(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  })
  const call = async (certificate: { key: string; cert: string }, hostname: string) => {
    const server = createSecureServer(certificate, (_, response) => response.end('welcome'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const agent = createSafeAgent({
      allowLoopback: true,
      timeoutMs: 5_000,
      resolveAll: async () => [v4('127.0.0.1')],
    })
    try {
      const url = `https://${hostname}:${(server.address() as AddressInfo).port}/`
      return await (await request(url, { dispatcher: agent })).body.text()
    } finally {
      await agent.destroy()
      server.close()
    }
  }
  assert.equal(await call(trusted, 'receiver.example'), 'welcome')
  await assert.rejects(call(trusted, 'other.example'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  await assert.rejects(call(untrusted, 'receiver.example'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
})
