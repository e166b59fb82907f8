import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { generateWebhookSecret, WebhookSecretBox } from './webhook-secret.ts'

const box = new WebhookSecretBox(randomBytes(32))
const endpoint = { org_id: 'org_1', id: 'whe_1' }

test('a secret is whsec_ and the base64 of 32 random bytes, which sign the webhooks', () => {
  const secret = generateWebhookSecret()
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const key = box.signingKey(endpoint, box.encrypt(endpoint, secret))
  assert.equal(key.export().toString('base64'), secret.slice('whsec_'.length))
  assert.notEqual(secret, generateWebhookSecret())
})

test('an encrypted secret decrypts only unaltered, for its own webhook endpoint and with its own key', () => {
  const secret = generateWebhookSecret()
  const stored = box.encrypt(endpoint, secret)
  assert.equal(box.decrypt(endpoint, stored), secret)
  assert.notEqual(box.encrypt(endpoint, secret), stored, 'encrypting a secret twice gives two ciphertexts')
  assert.ok(!stored.includes(secret.slice(6, 20)))
  const altered = Buffer.from(stored, 'base64')
  altered[20]! ^= 1
  assert.throws(() => box.decrypt(endpoint, altered.toString('base64')))
  assert.throws(() => box.decrypt({ ...endpoint, id: 'whe_2' }, stored))
  assert.throws(() => box.decrypt({ ...endpoint, org_id: 'org_2' }, stored))
  assert.throws(() => new WebhookSecretBox(randomBytes(32)).decrypt(endpoint, stored))
  assert.throws(() => box.decrypt(endpoint, ''))
})
