import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { signatureHeaders } from './signature.ts'

/** The test vector that Standard Webhooks and its reference libraries publish. */
const PUBLISHED = {
  key: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  message: { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampS: 1614265330, body: '{"test": 2432232314}' },
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

test('the published test vector of Standard Webhooks is reproduced', () => {
  const key = Buffer.from(PUBLISHED.key, 'base64')
  assert.deepEqual(signatureHeaders(PUBLISHED.message, [createSecretKey(key)]), {
    'webhook-id': PUBLISHED.message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': PUBLISHED.signature,
  })
})

test('the reference library verifies every signed body, with each of the signing keys', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 3 }), (text, count) => {
      const keys = Array.from({ length: count }, () => randomBytes(32))
      const body = JSON.stringify({ text })
      const headers = signatureHeaders(
        { id: 'evt_1', timestampS: Math.floor(Date.now() / 1000), body },
        keys.map((key) => createSecretKey(key)),
      )
      for (const key of keys) assert.deepEqual(new Webhook(key.toString('base64')).verify(body, headers), { text })
    }),
    { numRuns: 200 },
  )
})

test('the reference library refuses another secret, an old timestamp, another body and another id', () => {
  const key = randomBytes(32)
  const now = Math.floor(Date.now() / 1000)
  const verifier = new Webhook(key.toString('base64'))
  const sign = (timestampS: number) => signatureHeaders({ id: 'evt_1', timestampS, body: '{}' }, [createSecretKey(key)])
  assert.deepEqual(verifier.verify('{}', sign(now)), {})
  assert.throws(() => new Webhook(randomBytes(32).toString('base64')).verify('{}', sign(now)), /signature/)
  assert.throws(() => verifier.verify('{}', sign(now - 6 * 60)), /timestamp too old/)
  assert.throws(() => verifier.verify('{} ', sign(now)), /signature/)
  assert.throws(() => verifier.verify('{}', { ...sign(now), 'webhook-id': 'evt_2' }), /signature/)
  assert.throws(() => verifier.verify('{}', { ...sign(now), 'webhook-timestamp': String(now - 1) }), /signature/)
})
