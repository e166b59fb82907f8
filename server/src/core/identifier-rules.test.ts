import assert from 'node:assert/strict'
import { test } from 'node:test'
import { impossibleBecause } from './identifier-rules.ts'
import { IDENTIFIER_TYPES } from './vocabularies.ts'

test('placeholders are refused for every type of identifier', () => {
  for (const type of IDENTIFIER_TYPES)
    for (const value of ['n/a', 'na', 'unknown', 'none', 'not available', '000', '0000000000', 'xxxx'])
      assert.match(impossibleBecause(type, value) ?? '', /identifies nothing/, `${type} ${value}`)
  for (const value of ['nathan', '0', '00100', '111111111', 'xxy'])
    assert.equal(impossibleBecause('tax_id', value), undefined)
})

test('an e-mail address needs a local part and a domain of two labels', () => {
  for (const value of [
    'ada@example.com',
    'a.b+c@sub.example.co.uk',
    "o'neil@example.org",
    'jörg@müller.example',
    'a_b@xn--mller-kva.example',
  ])
    assert.equal(impossibleBecause('email', value), undefined, value)
  for (const value of [
    'ada',
    '@example.com',
    'ada@',
    'ada@example',
    'ada@@example.com',
    'ada smith@example.com',
    '.ada@example.com',
    'a..b@example.com',
    'ada@example..com',
    'ada@-example.com',
    'ada@1.2.3.4',
    `${'a'.repeat(65)}@example.com`,
  ])
    assert.match(impossibleBecause('email', value) ?? '', /e-mail/, value)
})

test('a phone number has 5 to 15 digits, and no country code that starts with 0', () => {
  for (const value of ['+442079460000', '0301234', '12345', '+123456789012345'])
    assert.equal(impossibleBecause('phone', value), undefined, value)
  for (const value of ['1234', '+1', '+1234567890123456', '+0301234567', '030+1234567'])
    assert.match(impossibleBecause('phone', value) ?? '', /phone number/, value)
})

test('the length and the check digits of an IBAN are checked, and other account numbers are taken as they are', () => {
  for (const value of [
    'de89370400440532013000',
    'gb29nwbk60161331926819',
    'no9386011117947',
    'mt84malt011000012345mtlcast001s',
  ])
    assert.equal(impossibleBecause('bank_account', value), undefined, value)
  assert.match(impossibleBecause('bank_account', 'de89370400440532013001') ?? '', /check digits/)
  assert.match(impossibleBecause('bank_account', 'gb29nwbk60161331926891') ?? '', /check digits/)
  assert.match(
    impossibleBecause('bank_account', 'de8937040044053201300') ?? '',
    /DE has 22 characters, and this one 21/,
  )
  for (const value of ['12345678', 'zz12345678901234', 'de-branch-7', 'account17'])
    assert.equal(impossibleBecause('bank_account', value), undefined, value)
})
