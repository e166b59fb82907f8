import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { generateWebhookSecret, WebhookSecretBox } from './webhook-secret.ts'

const box = new WebhookSecretBox(randomBytes(32))
const owner = { organizationId: 'org_1', endpointId: 'whe_1' }

test('a secret is whsec_ and the base64 of 32 random bytes, which sign the webhooks', () => {
  const secret = generateWebhookSecret()
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const key = box.signingKey(owner, box.encrypt(owner, secret))
  assert.equal(key.export().toString('base64'), secret.slice('whsec_'.length))
  assert.notEqual(secret, generateWebhookSecret())
})

test('an encrypted secret decrypts only unaltered, for its own webhook endpoint and with its own key', () => {
  const secret = generateWebhookSecret()
  const stored = box.encrypt(owner, secret)
  assert.equal(box.decrypt(owner, stored), secret)
  assert.notEqual(box.encrypt(owner, secret), stored, 'encrypting a secret twice gives two ciphertexts')
  assert.ok(!stored.includes(secret.slice(6, 20)))
  const altered = Buffer.from(stored, 'base64')
  altered[20]! ^= 1
  assert.throws(() => box.decrypt(owner, altered.toString('base64')))
  assert.throws(() => box.decrypt({ ...owner, endpointId: 'whe_2' }, stored))
  assert.throws(() => box.decrypt({ ...owner, organizationId: 'org_2' }, stored))
  assert.throws(() => new WebhookSecretBox(randomBytes(32)).decrypt(owner, stored))
  assert.throws(() => box.decrypt(owner, ''))
})
