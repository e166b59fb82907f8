import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addressRefusal } from './address-rules.ts'

const strict = { allowLoopback: false }

test('public addresses pass', () => {
  for (const address of ['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])
    assert.equal(addressRefusal(address, strict), undefined, address)
  assert.equal(
    addressRefusal('::ffff:8.8.8.8', strict),
    undefined,
    'a mapped address is judged as the IPv4 address inside',
  )
})

test('an address that is not public is refused in every form', () => {
  for (const address of [
    ...[
      '0.0.0.0',
      '0.1.2.3',
      '127.0.0.1',
      '127.255.255.254',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
    ],
    ...['169.254.0.1', '169.254.169.254', '100.64.0.1', '100.100.100.200', '100.127.255.255', '224.0.0.1', '239.1.1.1'],
    ...['255.255.255.255', '240.0.0.1', '192.0.0.192', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ...['168.63.129.16', '192.88.99.1'],
    ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '100::1'],
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '::ffff:0:127.0.0.1'],
    ...['::127.0.0.1', '::7f00:1', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '2002:7f00:1::1'],
    ...['2002:a9fe:a9fe::', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:db8::1', '3fff::1', '5f00::1', '4000::1'],
    ...['', 'localhost', '1.2.3', 'not an address', '1.2.3.4.5', '[::1]'],
  ]) {
    assert.notEqual(addressRefusal(address, strict), undefined, address)
  }
})

test('where loopback is allowed, only loopback passes in addition', () => {
  const lenient = { allowLoopback: true }
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
    assert.equal(addressRefusal(address, lenient), undefined, address)
  for (const address of ['0.0.0.0', '::', '10.0.0.1', '169.254.169.254', '64:ff9b::7f00:1'])
    assert.notEqual(addressRefusal(address, lenient), undefined, address)
})

test('an IPv4 address and its IPv4-mapped form get the same answer', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const isRefused = (text: string) => addressRefusal(text, strict) !== undefined
      assert.equal(isRefused(`::ffff:${address}`), isRefused(address))
    }),
  )
})
