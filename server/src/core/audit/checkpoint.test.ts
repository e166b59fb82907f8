import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { keyId, type LogIdentity, signCheckpoint, signedText, verifyCheckpoint } from './checkpoint.ts'
import { EMPTY_ROOT } from './merkle-tree.ts'

/** The secret key of RFC 8032 §7.1, test 1, in PKCS #8 form. */
const privateKey = createPrivateKey({
  key: Buffer.from(
    '302e020100300506032b657004220420' + '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'hex',
  ),
  format: 'der',
  type: 'pkcs8',
})
const publicKey = createPublicKey(privateKey)

const log: LogIdentity = { environment: 'sandbox', organizationId: 'org_1' }
const head = { tree_size: 3, root_hash: EMPTY_ROOT, signed_at: '2026-03-01T09:30:00.000Z' }
const checkpoint = signCheckpoint(log, head, privateKey)

describe('checkpoint', () => {
  it('signs exactly this text', () => {
    assert.equal(
      signedText(log, head),
      `{"environment":"sandbox","organization_id":"org_1","root_hash":"${EMPTY_ROOT}",` +
        '"signed_at":"2026-03-01T09:30:00.000Z","tree_size":3,"type":"verdigraph.tree-head.v1"}',
    )
  })

  it('has the signature that OpenSSL computes for the same key and text', () => {
    const expected =
      '680d73acfcde2da7069ae731b1d997f488114616167192f0023717cdf7f48210' +
      'cf9545955618b4efd49cccc30b0b5028e6b2b749ec05cbeca0b4f3f4ac97d900'
    assert.equal(checkpoint.signature, expected)
    assert.equal(checkpoint.key_id, '06e3fd8fda29bb60')
  })

  it('verifies only with the key that signed it', () => {
    assert.ok(verifyCheckpoint(log, checkpoint, publicKey))
    assert.ok(!verifyCheckpoint(log, checkpoint, generateKeyPairSync('ed25519').publicKey))
  })

  it('does not verify after any of its fields was changed', () => {
    const changes = [
      { tree_size: 4 },
      { root_hash: EMPTY_ROOT.replace('e', 'f') },
      { signed_at: '2026-03-01T09:30:00.001Z' },
      { signature: checkpoint.signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
      { signature: checkpoint.signature.toUpperCase() },
      { signature: '' },
    ]
    for (const change of changes) assert.ok(!verifyCheckpoint(log, { ...checkpoint, ...change }, publicKey))
  })

  it('proves nothing about the log of another organization or environment', () => {
    assert.ok(!verifyCheckpoint({ ...log, organizationId: 'org_2' }, checkpoint, publicKey))
    assert.ok(!verifyCheckpoint({ ...log, environment: 'production' }, checkpoint, publicKey))
  })

  it('identifies a key by its public key', () => {
    assert.equal(keyId(publicKey), checkpoint.key_id)
    assert.match(checkpoint.key_id, /^[0-9a-f]{16}$/)
  })

  it('refuses keys other than Ed25519', () => {
    const { privateKey: other } = generateKeyPairSync('ed448')
    assert.throws(() => signCheckpoint(log, head, other), TypeError)
    assert.throws(() => verifyCheckpoint(log, checkpoint, createPublicKey(other)), TypeError)
  })
})
