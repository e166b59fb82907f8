import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { knownDevice, signDevice } from './known-device.ts'

const key = createSecretKey(randomBytes(32))
const email = 'ada@example.com'

test('a device is known for its e-mail and until its end, and each sign-in makes another', () => {
  const token = signDevice(key, { email, endsAtMs: 1_000 })
  assert.match(knownDevice(key, token, { email, nowMs: 999 })!, /^[0-9a-f]{32}$/)
  assert.equal(knownDevice(key, token, { email, nowMs: 1_000 }), undefined)
  assert.equal(knownDevice(key, token, { email: 'ben@example.com', nowMs: 0 }), undefined)
  assert.notEqual(
    knownDevice(key, signDevice(key, { email, endsAtMs: 1_000 }), { email, nowMs: 0 }),
    knownDevice(key, token, { email, nowMs: 0 }),
  )
})

test('a token that this installation did not make, or that was altered, names no device', () => {
  const token = signDevice(key, { email, endsAtMs: 1_000 })
  const other = createSecretKey(randomBytes(32))
  assert.equal(knownDevice(other, token, { email, nowMs: 0 }), undefined)
  const bytes = Buffer.from(token, 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes)
    altered[at]! ^= 1
    assert.equal(knownDevice(key, altered.toString('base64url'), { email, nowMs: 0 }), undefined, `byte ${at}`)
  }
  for (const text of ['', 'x', token.slice(0, -2)]) assert.equal(knownDevice(key, text, { email, nowMs: 0 }), undefined)
})
