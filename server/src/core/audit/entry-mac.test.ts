import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type FlushMacInput, flushMac, hasValidFlushMac } from './entry-mac.ts'

const key = createSecretKey(Buffer.alloc(32, 1))
const otherKey = createSecretKey(Buffer.alloc(32, 2))
const LIST: FlushMacInput = {
  org_id: 'org_a',
  entry_ids: ['aud_1', 'aud_2'],
  leaf_hashes: new Uint8Array(64).fill(7),
}
const others: Record<string, Partial<FlushMacInput>> = {
  'another organization': { org_id: 'org_b' },
  'another id': { entry_ids: ['aud_1', 'aud_3'] },
  'ids in another order': { entry_ids: ['aud_2', 'aud_1'] },
  'an id less': { entry_ids: ['aud_1'] },
  'two ids in one': { entry_ids: ['aud_1 aud_2'] },
  'another hash': { leaf_hashes: new Uint8Array(64).fill(7, 0, 63) },
  'a hash less': { leaf_hashes: new Uint8Array(32).fill(7) },
}

describe('the MAC of a list of entries', () => {
  it('is valid under each of the keys, and under no other', () => {
    const list = { ...LIST, mac: flushMac(key, LIST) }
    assert.equal(hasValidFlushMac([key], list), true)
    assert.equal(hasValidFlushMac([otherKey, key], list), true)
    assert.equal(hasValidFlushMac([otherKey], list), false)
    assert.equal(hasValidFlushMac([], list), false)
    assert.equal(hasValidFlushMac([key], { ...list, mac: new Uint8Array() }), false)
  })

  for (const [what, change] of Object.entries(others))
    it(`is not valid for ${what}`, () => {
      assert.equal(hasValidFlushMac([key], { ...LIST, ...change, mac: flushMac(key, LIST) }), false)
    })

  it('is the same for two lists only if they are the same', () => {
    const list = fc.record({
      org_id: fc.constantFrom('org_a', 'org_b'),
      entry_ids: fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '"', ',', '\\', ']') })),
      leaf_hashes: fc.uint8Array({ maxLength: 3 }),
    })
    fc.assert(
      fc.property(list, list, (one, two) => {
        const isSame = fc.stringify(one) === fc.stringify(two)
        assert.equal(flushMac(key, one) === flushMac(key, two), isSame)
      }),
    )
  })
})
