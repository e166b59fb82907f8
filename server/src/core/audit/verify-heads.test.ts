import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  entryOf,
  foreignKey,
  forged,
  key,
  problemsOf,
  sealedLog,
  signHead,
  verifyLog,
} from '../../../tests/sealed-log.ts'
import { keyId } from './checkpoint.ts'

describe('verifying the heads of a log reports', () => {
  it('a signed head of zero leaves that does not have the empty root', async () => {
    const sealed = sealedLog([0, 3])
    const wrong = signHead(0, sealed.heads[1]!.root_hash)
    const problems = await problemsOf({ ...sealed, heads: sealed.heads.with(0, wrong) })
    assert.equal(problems[0]?.kind, 'heads_conflict')
  })

  it('the index from which leaves and their heads were cut off, if a later head is pinned', async () => {
    const sealed = sealedLog([7, 12, 20])
    const cut = { ...sealed, leaves: sealed.leaves.slice(0, 12), heads: sealed.heads.slice(0, 2) }
    assert.equal((await verifyLog(cut)).status, 'intact')
    assert.deepEqual(await problemsOf({ ...cut, pinnedHead: sealed.heads[2]! }), [
      { kind: 'log_truncated', leafIndex: 12, treeSize: 20 },
    ])
  })

  it('a log that its operator rewrote and signed again, if an original head is pinned', async () => {
    const original = sealedLog([7, 12, 20])
    const entry = (index: number) => (index === 3 ? forged(original.leaves[3]!).entry! : entryOf(index))
    const rewritten = sealedLog([7, 12, 20], { entry })
    assert.equal((await verifyLog(rewritten)).status, 'intact')
    const problems = await problemsOf({ ...rewritten, pinnedHead: original.heads[1]! })
    assert.deepEqual(problems, [
      {
        kind: 'heads_conflict',
        treeSize: 12,
        rootHashes: [rewritten.heads[1]!.root_hash, original.heads[1]!.root_hash],
      },
      { kind: 'leaves_altered', leafIndex: 0, lastLeafIndex: 11, entryId: 'aud_0', treeSize: 12 },
      { kind: 'heads_inconsistent', firstTreeSize: 12, secondTreeSize: 20 },
    ])
  })

  it('an altered head, and does not verify leaves against it', async () => {
    const sealed = sealedLog([7, 12, 20])
    const altered = { ...sealed.heads[1]!, root_hash: sealed.heads[0]!.root_hash }
    const problems = await problemsOf({ ...sealed, heads: sealed.heads.with(1, altered) })
    assert.deepEqual(problems, [{ kind: 'head_signature_invalid', treeSize: 12, keyId: keyId(key.publicKey) }])
  })

  it('a head signed with an unknown key', async () => {
    const sealed = sealedLog([7, 12])
    const forgedHead = signHead(12, sealed.heads[1]!.root_hash, foreignKey.privateKey)
    const problems = await problemsOf({ ...sealed, heads: [sealed.heads[0]!, forgedHead] })
    assert.deepEqual(problems, [
      { kind: 'head_key_unknown', treeSize: 12, keyId: keyId(foreignKey.publicKey) },
      { kind: 'leaves_unsealed', leafIndex: 7, lastLeafIndex: 11, entryId: 'aud_7' },
    ])
  })

  it('a head that a retired key signed after its successor', async () => {
    const sealed = sealedLog([7, 12, 20])
    const signedBy = (n: number, { privateKey }: typeof key) =>
      signHead(sealed.heads[n]!.tree_size, sealed.heads[n]!.root_hash, privateKey)
    const publicKeys = [key.publicKey, foreignKey.publicKey]
    const rotated = [signedBy(0, foreignKey), signedBy(1, key), signedBy(2, key)]
    assert.equal((await verifyLog({ ...sealed, publicKeys, heads: rotated })).status, 'intact')
    const stolen = [signedBy(0, foreignKey), signedBy(1, key), signedBy(2, foreignKey)]
    assert.deepEqual(await problemsOf({ ...sealed, publicKeys, heads: stolen }), [
      { kind: 'head_key_retired', treeSize: 20, keyId: keyId(foreignKey.publicKey) },
      { kind: 'leaves_unsealed', leafIndex: 12, lastLeafIndex: 19, entryId: 'aud_12' },
    ])
  })

  it('a head signed with another key under the id of a known key', async () => {
    const sealed = sealedLog([7])
    const borrowed = { ...signHead(7, sealed.heads[0]!.root_hash, foreignKey.privateKey), key_id: keyId(key.publicKey) }
    const [problem] = await problemsOf({ ...sealed, heads: [borrowed] })
    assert.equal(problem?.kind, 'head_signature_invalid')
  })

  it('a log of another organization or environment', async () => {
    const sealed = sealedLog([7])
    assert.equal((await problemsOf({ ...sealed, environment: 'production' }))[0]?.kind, 'head_signature_invalid')
    const kinds = (await problemsOf({ ...sealed, organizationId: 'org_2' })).map(({ kind }) => kind)
    assert.ok(kinds.includes('head_signature_invalid') && kinds.includes('entry_edited'))
  })
})
