import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { SecretBox } from './secret-box.ts'

test('an encrypted secret decrypts only unaltered, for its own owner and with its own key', () => {
  const box = new SecretBox([randomBytes(32)])
  const stored = box.encrypt('org_1 whe_1', 'the secret')
  assert.equal(box.decrypt('org_1 whe_1', stored), 'the secret')
  assert.notEqual(box.encrypt('org_1 whe_1', 'the secret'), stored, 'encrypting a secret twice gives two ciphertexts')
  assert.ok(!Buffer.from(stored, 'base64').includes('the secret'))
  const altered = Buffer.from(stored, 'base64')
  altered[20]! ^= 1
  assert.throws(() => box.decrypt('org_1 whe_1', altered.toString('base64')))
  assert.throws(() => box.decrypt('org_1 whe_2', stored))
  assert.throws(() => new SecretBox([randomBytes(32)]).decrypt('org_1 whe_1', stored))
  assert.throws(() => box.decrypt('org_1 whe_1', ''))
})

test('a secret of a retired key is decrypted, and encrypted with the current key from then on', () => {
  const [retired, current] = [randomBytes(32), randomBytes(32)]
  const stored = new SecretBox([retired]).encrypt('org_1 whe_1', 'the secret')
  const box = new SecretBox([current, retired])
  assert.equal(box.decrypt('org_1 whe_1', stored), 'the secret')
  assert.equal(new SecretBox([current]).decrypt('org_1 whe_1', box.encrypt('org_1 whe_1', 'the secret')), 'the secret')
})
