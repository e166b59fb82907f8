import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { hashIdentifier, maskIdentifier } from './identifiers.ts'

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

test('a masked identifier shows at most four characters and at most a third of them', () => {
  assert.equal(maskIdentifier('123456789'), '****789')
  assert.equal(maskIdentifier('DE89370400440532013000'), '****3000')
  assert.equal(maskIdentifier('ab'), '****')
})
