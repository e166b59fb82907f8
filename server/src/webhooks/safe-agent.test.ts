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

/** Something inside that must not be reached: every connection to it is counted. */
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

test('address literals in every notation are refused at connect', async () => {
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

test('names that lead inside are refused at connect, also when only one of their records does', async () => {
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

test('a receiver cannot have its connection kept for longer than a few seconds', async () => {
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

test('a name that is rebound leads nowhere: the answer that was checked is the one that is used', async () => {
  // Outside first, which is let through, whatever is there; inside for whoever should ask again.
  const answers = [[v4('93.184.216.34')], [v4('127.0.0.1')], [v4('127.0.0.1')]]
  const first = await reach('rebound.example', answers).catch((error) => error)
  assert.ok(!(first instanceof RefusedAddress))
  assert.equal(answers.length, 2, 'it was looked up once')
  await assert.rejects(
    reach('rebound.example', answers),
    RefusedAddress,
    'and the next connection looks and checks anew',
  )
  assert.equal(answers.length, 1)
  assert.equal(connections, 0)
})

test('an answer that is kept for a moment is checked again by every connection', async () => {
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

test('where loopback is allowed, it is reached, and nothing else inside is', async () => {
  assert.deepEqual(await reach('127.0.0.1', [], true), { status: 200, text: 'secret' })
  assert.deepEqual(await reach('receiver.example', [[v4('127.0.0.1')]], true), { status: 200, text: 'secret' })
  await assert.rejects(reach('receiver.example', [[v4('127.0.0.1'), v4('10.0.0.1')]], true), RefusedAddress)
  await assert.rejects(reach('10.0.0.1', [], true), RefusedAddress)
})

test('a name without an address is an error, not a way around', async () => {
  await assert.rejects(reach('nowhere.example', [[]]))
})

test('over https, a receiver must show a certificate for its name from somebody this machine trusts', async () => {
  const trusted = selfSignedCertificate('receiver.example')
  setDefaultCACertificates([...getCACertificates('default'), trusted.cert])
  const untrusted = selfSignedCertificate('receiver.example')
  // Whoever has this in the environment for another program's sake must not send events to strangers.
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
