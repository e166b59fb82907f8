import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from './network-of.ts'

test('an IPv4 address is its own network, also when it is mapped to IPv6', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
})

test('IPv6 addresses with the same 64-bit prefix are one network, however they are written', () => {
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  assert.equal(networkOf('2001:db8:1:2::9'), '2001:db8:1:2')
  assert.equal(networkOf('2001:db8::9'), '2001:db8:0:0')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0')
  assert.equal(networkOf('::1'), '0:0:0:0')
  assert.notEqual(networkOf('2001:db8:1:2::9'), networkOf('2001:db8:1:3::9'))
})

test('a connection whose address is not known any more has a network, too', () => {
  assert.equal(networkOf(undefined), '')
})
