import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import { bureauPolicy } from '../../../tests/bureau-policy.ts'
import { decideGoldenCases } from '../../../tests/golden-recordings.ts'
import { relationshipPolicy } from '../../../tests/relationship-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson, sha256 } from '../../core/canonical-json.ts'
import { dictionaryFile, NEWEST_DICTIONARY } from './dictionary.ts'
import { packSegment, unpackSegment } from './segment.ts'

/** The SHA-256 of each dictionary. One that a release has used never changes: what was packed with it could not be read any more. */
const RECORDED = ['c763b7547a72974d700c018335b62fc1265eff2d54b6cebec65bf4f5968c90f4']

test('no dictionary has changed, and the newest one is in use', () => {
  assert.equal(NEWEST_DICTIONARY, RECORDED.length)
  const files = RECORDED.map((_, index) => dictionaryFile(index + 1))
  assert.deepEqual(
    files.map((file) => sha256(readFileSync(file, 'utf8'))),
    RECORDED,
  )
  assert.equal(readdirSync(new URL('dictionaries/', import.meta.url)).length, RECORDED.length)
})

test('with the dictionary the documents of a decision take less than half the room', async () => {
  for (const { facts, decision, trace } of decideGoldenCases([
    sandboxPolicy(),
    relationshipPolicy(),
    bureauPolicy(),
  ]).slice(0, 30)) {
    const [body, factsText, traceText] = [decision, facts, trace].map(canonicalJson) as [string, string, string]
    const documents = { decision_id: 'dec_1', body, facts: factsText, trace: traceText, graph: '{}' }
    const packed = await packSegment([documents])
    assert.deepEqual(unpackSegment(packed), [documents])
    assert.ok(packed.length < zstdCompressSync(Object.values(documents).join('')).length / 2, `${packed.length} bytes`)
  }
})

test('a segment that names no dictionary cannot be read', async () => {
  const packed = await packSegment([{ decision_id: 'dec_1', body: '{}', facts: '{}', trace: '{}', graph: '{}' }])
  for (const number of [0, RECORDED.length + 1, 255])
    assert.throws(() => unpackSegment(Buffer.concat([Uint8Array.of(number), packed.subarray(1)])))
})
