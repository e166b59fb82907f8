import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { request } from 'undici'
import { createSafeAgent, RefusedAddress } from './safe-agent.ts'

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

test('a name that is rebound leads nowhere: it is looked up once, and that answer is the one that is used', async () => {
  const answers = [[v4('127.0.0.1')], [v4('127.0.0.1')]]
  const before = answers.length
  await assert.rejects(reach('rebound.example', answers), RefusedAddress)
  assert.equal(before - answers.length, 1)
  assert.equal(connections, 0)
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
