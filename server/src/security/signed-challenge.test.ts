import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { challengeEnd, signChallenge } from './signed-challenge.ts'

const key = createSecretKey(Buffer.alloc(32, 1))
const END_MS = Date.parse('2026-11-15T09:40:00.000Z')

test('a challenge tells its end, and no two are the same', () => {
  const [one, two] = [signChallenge(key, END_MS), signChallenge(key, END_MS)]
  assert.notEqual(one, two)
  assert.equal(challengeEnd(key, one), END_MS)
  assert.equal(challengeEnd(key, two), END_MS)
})

test('a challenge under another key, with any bit altered, cut off or written otherwise is none', () => {
  const token = signChallenge(key, END_MS)
  assert.equal(challengeEnd(createSecretKey(Buffer.alloc(32, 2)), token), undefined)
  const bytes = Buffer.from(token, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes)
    altered[bit >> 3]! ^= 1 << (bit & 7)
    assert.equal(challengeEnd(key, altered.toString('base64url')), undefined, `bit ${bit}`)
  }
  for (const text of ['', 'A', token.slice(1), token.slice(0, -1), `${token}A`, ` ${token}`, `${token}=`])
    assert.equal(challengeEnd(key, text), undefined, text)
})
