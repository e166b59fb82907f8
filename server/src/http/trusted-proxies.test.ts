import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { ConfigError, readConfig } from '../config.ts'
import { TrustedProxies } from './trusted-proxies.ts'

const requestOf = (peer: string | undefined, forwarded?: string) =>
  ({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage

test('without trusted proxies the header is never read', () => {
  const none = new TrustedProxies([])
  assert.equal(none.clientOf(requestOf('127.0.0.1', '192.0.2.1')), '127.0.0.1')
  assert.equal(none.clientOf(requestOf(undefined, '192.0.2.1')), '')
  assert.equal(none.trusts('127.0.0.1'), false)
})

test('only a trusted proxy says who the client is, and only what no other trusted proxy appended', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '2001:db8:1::/48', '127.0.0.1'])
  const cases: [peer: string, forwarded: string | undefined, client: string][] = [
    ['192.0.2.9', '203.0.113.5', '192.0.2.9'],
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', '203.0.113.5', '203.0.113.5'],
    ['::ffff:10.1.2.3', '203.0.113.5', '203.0.113.5'],
    ['2001:db8:1::7', '2001:db8:2::1', '2001:db8:2::1'],
    // The client sent a header of its own, to which the proxies appended.
    ['127.0.0.1', '198.51.100.7, 203.0.113.5', '203.0.113.5'],
    ['127.0.0.1', '198.51.100.7, 203.0.113.5, 10.9.9.9', '203.0.113.5'],
    ['127.0.0.1', '10.9.9.9', '10.9.9.9'],
    ['127.0.0.1', '203.0.113.5, unknown, 10.9.9.9', '10.9.9.9'],
    ['127.0.0.1', '203.0.113.5:4711', '203.0.113.5'],
    ['127.0.0.1', '[2001:db8:2::1]:4711', '2001:db8:2::1'],
    ['127.0.0.1', '203.0.113.5, <script>', '127.0.0.1'],
    ['127.0.0.1', `${'1.2.3.4,'.repeat(500)}203.0.113.5`, '203.0.113.5'],
  ]
  for (const [peer, forwarded, client] of cases)
    assert.equal(proxies.clientOf(requestOf(peer, forwarded)), client, `${peer}: ${forwarded?.slice(0, 60)}`)
})

test('the setting takes addresses and networks, and none by default', () => {
  assert.deepEqual(readConfig({}).trustedProxies, [])
  const right = '127.0.0.1, 10.0.0.0/8,0.0.0.0/0,::1,2001:db8::/32,::/128'
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: right })
  assert.equal(trustedProxies.length, 6)
  assert.ok(new TrustedProxies(trustedProxies).trusts('::1'))
  for (const wrong of [
    'proxy',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '::/129',
    'fe80::1%eth0',
    '1.2.3.4:80',
    '::1,',
  ])
    assert.throws(() => readConfig({ TRUSTED_PROXIES: wrong }), ConfigError, wrong)
})
