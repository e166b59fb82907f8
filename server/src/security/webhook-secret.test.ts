import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { generateWebhookSecret, WebhookSecretBox } from './webhook-secret.ts'

const box = new WebhookSecretBox([randomBytes(32)])
const owner = { organizationId: 'org_1', endpointId: 'whe_1' }

test('a secret is whsec_ and the base64 of 32 random bytes, which sign the webhooks', () => {
  const secret = generateWebhookSecret()
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const key = box.signingKey(owner, box.encrypt(owner, secret))
  assert.equal(key.export().toString('base64'), secret.slice('whsec_'.length))
  assert.notEqual(secret, generateWebhookSecret())
})

test('a secret and a URL decrypt only for their own webhook endpoint, and neither as the other', () => {
  const secret = box.encrypt(owner, generateWebhookSecret())
  const url = box.encryptUrl(owner, 'https://example.com/hooks?token=t')
  assert.ok(!Buffer.from(url, 'base64').includes('token'))
  assert.equal(box.decryptUrl(owner, url), 'https://example.com/hooks?token=t')
  assert.ok(box.signingKey(owner, secret))
  for (const other of [
    { ...owner, endpointId: 'whe_2' },
    { ...owner, organizationId: 'org_2' },
  ]) {
    assert.throws(() => box.signingKey(other, secret))
    assert.throws(() => box.decryptUrl(other, url))
  }
  assert.throws(() => box.signingKey(owner, url))
  assert.throws(() => box.decryptUrl(owner, secret))
})
