import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskUrl, readEndpointUrl } from './endpoint-url.ts'

const production = { environment: 'production', allowLoopback: false } as const
const sandbox = { environment: 'sandbox', allowLoopback: false } as const
const development = { environment: 'sandbox', allowLoopback: true } as const

const passes = (text: string, rules: Parameters<typeof readEndpointUrl>[1]) => 'url' in readEndpointUrl(text, rules)

test('production accepts https only, the sandbox accepts http as well', () => {
  assert.ok(passes('https://example.com/hooks?x=1', production))
  assert.ok(passes('https://example.com:8443/hooks', production))
  assert.ok(passes('http://example.com/hooks', sandbox))
  assert.ok(!passes('http://example.com/hooks', production))
})

test('a forbidden address is refused in every notation', () => {
  for (const host of [
    ...['127.0.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.1', '127.0.1', '0'],
    ...[
      '10.0.0.1',
      '0xa9fea9fe',
      '2852039166',
      '169.254.169.254',
      '0251.0376.0251.0376',
      '１２７.0.0.1',
      '127。0。0。1',
    ],
    ...[
      '[::1]',
      '[::]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::ffff:a9fe:a9fe]',
      '[fe80::1]',
    ],
    ...['[fd00:ec2::254]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::127.0.0.1]'],
    ...['localhost', 'LOCALHOST', 'api.localhost', 'localhost.'],
  ]) {
    assert.ok(!passes(`https://${host}/`, production), host)
    assert.ok(!passes(`http://${host}/`, sandbox), host)
  }
})

test('where loopback is allowed, other private addresses are still refused', () => {
  for (const host of ['127.0.0.1:9000', 'localhost:9000', '[::1]:9000', '2130706433'])
    assert.ok(passes(`http://${host}/hooks`, development), host)
  for (const host of ['10.0.0.1', '192.168.0.1', '169.254.169.254', '0.0.0.0'])
    assert.ok(!passes(`http://${host}/hooks`, development), host)
})

test('a text that is not a plain http or https URL is refused', () => {
  for (const text of [
    ...['', 'example.com', '//example.com', 'ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/'],
    ...['javascript:alert(1)', 'https://', 'https://user:pass@example.com/', 'https://user@example.com/'],
    ...['https://example.com/#fragment', `https://example.com/${'x'.repeat(2_100)}`, 'https://999.1.1.1/'],
  ]) {
    assert.ok(!passes(text, sandbox), text)
  }
})

test('a masked URL shows scheme and host only, because a token may be anywhere else', () => {
  for (const [text, shown] of [
    ['https://hooks.example.com/services/T0/secret', 'https://hooks.example.com/****'],
    ['https://example.com/?token=secret', 'https://example.com/****'],
    ['https://example.com:8443', 'https://example.com:8443/'],
  ] as const)
    assert.equal(maskUrl(new URL(text)), shown)
})
