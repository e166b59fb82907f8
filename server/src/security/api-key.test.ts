import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateApiKey, readApiKey } from './api-key.ts'

test('a generated key is read back with its environment', () => {
  for (const environment of ['sandbox', 'production'] as const) {
    const key = generateApiKey(environment)
    assert.match(key, /^sk_(sandbox|production)_[0-9A-Za-z]{38}$/)
    assert.deepEqual(readApiKey(key), { environment })
  }
})

test('a key with any one character changed is refused by its checksum', () => {
  const key = generateApiKey('sandbox')
  for (let index = 'sk_sandbox_'.length; index < key.length; index++) {
    const other = key[index] === 'x' ? 'y' : 'x'
    assert.equal(readApiKey(key.slice(0, index) + other + key.slice(index + 1)), 'malformed')
  }
})

test('a key whose environment is replaced by the other is refused by its checksum', () => {
  assert.equal(readApiKey(generateApiKey('sandbox').replace('sandbox', 'production')), 'malformed')
})

test('the checksum is the CRC-32 of the characters before it, in base62', () => {
  const body = `sk_sandbox_${'0'.repeat(32)}`
  assert.notEqual(readApiKey(`${body}${base62OfCrc(body)}`), 'malformed')
})

function base62OfCrc(text: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let value = (crc ^ 0xffffffff) >>> 0
  let digits = ''
  for (let digit = 0; digit < 6; digit++) {
    digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}
