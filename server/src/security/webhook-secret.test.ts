import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { generateWebhookSecret, WebhookSecretBox } from './webhook-secret.ts'

const box = new WebhookSecretBox(randomBytes(32))
const endpoint = { org_id: 'org_1', id: 'whe_1' }

test('a secret is whsec_ and the base64 of 32 bytes, and no two are alike', () => {
  const secret = generateWebhookSecret()
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const key = box.signingKey(endpoint, box.seal(endpoint, secret))
  assert.equal(key.export().toString('base64'), secret.slice('whsec_'.length))
  assert.notEqual(secret, generateWebhookSecret())
})

test('a sealed secret opens for its own endpoint under its own key, and for nothing else', () => {
  const secret = generateWebhookSecret()
  const sealed = box.seal(endpoint, secret)
  assert.equal(box.open(endpoint, sealed), secret)
  assert.notEqual(box.seal(endpoint, secret), sealed, 'the same secret never looks the same twice')
  assert.ok(!sealed.includes(secret.slice(6, 20)))
  const altered = Buffer.from(sealed, 'base64')
  altered[20]! ^= 1
  assert.throws(() => box.open(endpoint, altered.toString('base64')))
  assert.throws(() => box.open({ ...endpoint, id: 'whe_2' }, sealed))
  assert.throws(() => box.open({ ...endpoint, org_id: 'org_2' }, sealed))
  assert.throws(() => new WebhookSecretBox(randomBytes(32)).open(endpoint, sealed))
  assert.throws(() => box.open(endpoint, ''))
})
