import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson, sha256 } from '../../core/canonical-json.ts'
import { dataOf, storeData } from './entry-data.ts'

const data = {
  entity_id: 'ent_1',
  decision_id: 'dec_1',
  product: 'personal_loan',
  verdict: 'approve',
  policy_version: 'v1',
  policy_checksum: sha256('policy'),
  decision_sha256: sha256('decision'),
  facts_sha256: sha256('facts'),
  trace_sha256: sha256('trace'),
  graph_sha256: sha256('graph'),
}
const row = {
  type: 'decision.created',
  trail_id: 'ent_1',
  subject_id: 'dec_1',
  ...storeData('decision.created', data, canonicalJson(data)),
}

test('the data of a decision’s entry is read as it was stored, and takes less than half the room', () => {
  assert.deepEqual(dataOf(row), data)
  assert.equal(row.data, '["v1","personal_loan","approve"]')
  assert.ok(row.data.length + row.hashes!.length < canonicalJson(data).length / 2)
})

test('the data of other entries is stored as it is', () => {
  const other = { reason: 'r', via: 'a' }
  const stored = storeData('policy.approved', other, canonicalJson(other))
  assert.deepEqual(stored, { data: '{"reason":"r","via":"a"}', hashes: null })
  assert.deepEqual(dataOf({ ...row, type: 'policy.approved', ...stored }), other)
})

test('a keyed hash that only some entries have is read where it was stored', () => {
  const named = { ...data, reference_hash: sha256('reference') }
  const stored = storeData('decision.created', named, canonicalJson(named))
  assert.deepEqual(dataOf({ ...row, ...stored }), named)
  assert.equal(stored.data, row.data)
})

test('no altered row reads as the data that was stored', () => {
  const hashes = row.hashes!
  const alterations = {
    'another hash': { hashes: hashes.with(40, hashes[40]! ^ 1) },
    'a hash less': { hashes: hashes.subarray(32) },
    'a hash more': { hashes: Buffer.concat([hashes, hashes.subarray(0, 32)]) },
    'a byte more': { hashes: Buffer.concat([hashes, Buffer.of(0)]) },
    'no hashes': { hashes: null },
    'an object': { data: canonicalJson({ policy_version: 'v1', product: 'personal_loan', verdict: 'approve' }) },
    'a text more': { data: '["v1","personal_loan","approve","more"]' },
    'a text less': { data: '["v1","personal_loan"]' },
    'another text': { data: '["v1","personal_loan","decline"]' },
    'no JSON': { data: '["v1","personal_loan","approve"' },
    'another subject': { subject_id: 'dec_2' },
    'another trail': { trail_id: 'ent_2' },
    'another type': { type: 'consent.granted' },
    'no array': { data: 'null' },
  }
  for (const [what, altered] of Object.entries(alterations))
    assert.notDeepEqual(dataOf({ ...row, ...altered }), data, what)
})
