import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { IDENTIFIER_TYPES } from '../core/vocabularies.ts'
import { hashIdentifier, identifierFault, maskIdentifier } from './identifiers.ts'

const key = createSecretKey(Buffer.alloc(32, 7))
const taxId = { organizationId: 'org_a', type: 'tax_id', value: '12-3456789' } as const

test('different spellings of one identifier have the same hash', () => {
  assert.equal(hashIdentifier(key, taxId), hashIdentifier(key, { ...taxId, value: ' 12 345 6789 ' }))
  const email = { organizationId: 'org_a', type: 'email', value: 'Ada@Example.com' } as const
  assert.equal(hashIdentifier(key, email), hashIdentifier(key, { ...email, value: 'ada@example.com ' }))
  const phone = { organizationId: 'org_a', type: 'phone', value: '+44 20 7946 0000' } as const
  assert.equal(hashIdentifier(key, phone), hashIdentifier(key, { ...phone, value: '0044-20-79460000' }))
})

test('another organization, type, issuer, value or key gives another hash', () => {
  const hashes = [
    hashIdentifier(key, taxId),
    hashIdentifier(key, { ...taxId, organizationId: 'org_b' }),
    hashIdentifier(key, { ...taxId, type: 'government_id' }),
    hashIdentifier(key, { ...taxId, issuer: 'US' }),
    hashIdentifier(key, { ...taxId, value: '12-3456780' }),
    hashIdentifier(createSecretKey(Buffer.alloc(32, 8)), taxId),
  ]
  assert.equal(new Set(hashes).size, hashes.length)
})

test('digits of every script are the same digits', () => {
  for (const type of IDENTIFIER_TYPES) {
    const of = (value: string) => hashIdentifier(key, { organizationId: 'org_a', type, value })
    assert.equal(of('٤٤٢٠٧٩٤٦'), of('44207946'), type)
    assert.notEqual(of('٤٤٢٠٧٩٤٦'), of('٤٤٢٠٧٩٤٧'), type)
  }
  assert.equal(hashIdentifier(key, { ...taxId, issuer: 'Ｕ１' }), hashIdentifier(key, { ...taxId, issuer: 'u١ ' }))
})

test('two numbers that differ in a mark of their script stay two', () => {
  const registration = { organizationId: 'org_a', type: 'registration_number' } as const
  assert.notEqual(
    hashIdentifier(key, { ...registration, value: 'กิ1' }),
    hashIdentifier(key, { ...registration, value: 'กี1' }),
  )
})

test('a value whose normal form has no letter and no digit identifies nothing, whatever its type', () => {
  for (const type of IDENTIFIER_TYPES) {
    for (const value of ['---', ' ', '+', '00', '\u200b', '././', '\u0301'])
      if (type === 'phone' || value !== '00') assert.ok(identifierFault(type, value), `${type} ${value}`)
    const digits = type === 'email' ? ['1@example.com', '٣@example.com'] : ['12345', '٣٣٣٣٣', '+44 12345']
    for (const value of digits) assert.equal(identifierFault(type, value), undefined, `${type} ${value}`)
  }
  assert.match(identifierFault('phone', 'unknown')!, /no digit/)
  assert.match(identifierFault('tax_id', 'Unknown')!, /placeholder/)
  assert.match(identifierFault('bank_account', 'DE89 3704 0044 0532 0130 01')!, /check digits/)
})

test('a masked identifier shows at most four characters and at most a third of its normal form', () => {
  assert.equal(maskIdentifier('tax_id', '123456789'), '****789')
  assert.equal(maskIdentifier('bank_account', 'DE89370400440532013000'), '****3000')
  assert.equal(maskIdentifier('tax_id', 'ab'), '****')
  assert.equal(maskIdentifier('tax_id', '--------------1234'), '****4', 'padding does not reveal more of it')
  assert.equal(maskIdentifier('email', 'Alice.Jones@example.com'), '****nes@ex****.com')
  assert.notEqual(maskIdentifier('email', 'alice@example.com'), maskIdentifier('email', 'robert@example.com'))
  assert.equal(maskIdentifier('email', 'a@b.example'), '****@****.example')
  assert.equal(maskIdentifier('phone', '+٤٤ ٢٠ ٧٩٤٦'), '****946')
})
