import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KnownHead } from './known-heads.ts'
import { hasLostEntries, isBehind } from './lost-entries.ts'

const headOf = (tree_size: number, root_hash = 'a') => ({
  org_id: 'org_1',
  tree_size,
  root_hash,
  signed_at: '2026-03-01T09:30:00.000Z',
  key_id: 'k',
  signature: 's',
})
const known = (tree_size: number, timeline?: string): KnownHead => {
  const { org_id: organization_id, ...head } = headOf(tree_size)
  return { ...head, organization_id, ...(timeline && { timeline }) }
}

const timeline = '00000002'
const end = (size: number, root = 'a') => ({ head: size > 0 ? headOf(size, root) : null, timeline })

test('a log is behind a known head that it does not reach, or at whose size it had another root', () => {
  assert.equal(isBehind({ end: end(7), known: known(8) }), true)
  assert.equal(isBehind({ end: end(8), known: known(8), rootAtKnown: 'a' }), false)
  assert.equal(isBehind({ end: end(8, 'b'), known: known(8), rootAtKnown: 'b' }), true)
  assert.equal(isBehind({ end: end(9), known: known(8) }), false)
  assert.equal(isBehind({ end: end(9), known: known(8), rootAtKnown: 'b' }), true)
  assert.equal(isBehind({ end: end(0), known: known(1) }), true)
  assert.equal(isBehind({ end: end(0), known: known(0) }), false, 'an accepted log without entries')
  assert.equal(isBehind({ end: end(7), known: undefined }), false)
})

test('only a log that is behind a head of another timeline has lost entries', () => {
  assert.equal(hasLostEntries({ end: end(7), known: known(8, '00000001') }), true)
  assert.equal(hasLostEntries({ end: end(8), known: known(8, '00000001'), rootAtKnown: 'a' }), false, 'nothing is lost')
  assert.equal(hasLostEntries({ end: end(9), known: known(8, '00000001'), rootAtKnown: 'b' }), true, 'it went on')
  assert.equal(hasLostEntries({ end: end(7), known: known(8, timeline) }), false, 'rows were deleted')
  assert.equal(hasLostEntries({ end: end(7), known: known(8) }), false, 'no timeline is known')
  assert.equal(hasLostEntries({ end: end(7), known: undefined }), false)
})
