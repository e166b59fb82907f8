import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { canonicalJson } from '../src/core/canonical-json.ts'
import { decide } from '../src/core/decide/decide.ts'
import { replay } from '../src/core/decide/replay.ts'
import { compileStoredPolicy } from '../src/core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import { jsonDifferences } from '../src/core/policy/json-differences.ts'
import { addRecording, FACTS, goldenFacts, isUntouched, readRecordings } from './golden-recordings.ts'
import { sandboxPolicy } from './sandbox-policy.ts'

const recordings = readRecordings()

describe('golden decisions', () => {
  it('include every verdict and every value of settled_by', () => {
    const golden = recordings.flatMap(({ decisions }) => decisions)
    assert.ok(golden.length >= 440)
    assert.deepEqual([...new Set(golden.map(({ decision }) => decision.verdict))].sort(), [
      'approve',
      'approve_with_conditions',
      'decline',
      'manual_review',
    ])
    assert.deepEqual([...new Set(golden.map(({ trace }) => trace.settled_by))].sort(), [
      'completeness',
      'conditions',
      'confidence',
      'counter_offer',
      'data_questioned',
      'knock_out',
      'limit_unknown',
      'no_limit_left',
      'nothing_against',
      'review_rule',
      'score',
    ])
  })

  it('include applicants of every segment of a policy, of none of them, and features that the policy computes', () => {
    const traces = recordings.flatMap(({ decisions }) => decisions.map(({ trace }) => trace))
    const segments = traces.flatMap(({ segment }) => (segment === undefined ? [] : [segment]))
    assert.deepEqual([...new Set(segments)].sort(), [null, 'returning', 'short_history', 'thin_file'].sort())
    const derived = traces.flatMap((trace) => trace.derived ?? [])
    assert.ok(derived.some(({ value }) => value !== null) && derived.some(({ missing }) => missing !== undefined))
  })

  for (const recording of recordings) {
    const policies = new Map([...recording.policies].map(([checksum, text]) => [checksum, compiled(checksum, text)]))

    it(`the recording ${recording.name} is unaltered`, () => {
      assert.ok(isUntouched(recording))
    })

    for (const { policy_checksum, facts, decision, trace } of recording.decisions) {
      it(`${recording.name} ${decision.policy_version} ${decision.id} is ${decision.verdict} again, byte for byte`, () => {
        const policy = policies.get(policy_checksum)
        assert.ok(policy)
        assert.equal(canonicalJson(decide(policy, facts).trace), canonicalJson(trace))
        const { matches, differences } = replay(policy, facts, decision)
        assert.deepEqual(differences, [])
        assert.ok(matches)
      })
    }
  }
})

it('a recording is never overwritten, and an altered one is detected by its name', () => {
  const path = mkdtempSync(join(tmpdir(), 'verdigraph-golden-'))
  const folder = pathToFileURL(`${path}/`)
  const [{ decisions } = { decisions: [] }] = recordings
  const one = { day: '2026-01-01', decisions: decisions.slice(0, 1), policies: [sandboxPolicy()] }
  addRecording(one, folder)
  assert.throws(() => addRecording(one, folder), /EEXIST/)
  addRecording({ ...one, decisions: decisions.slice(0, 2) }, folder)
  const read = readRecordings(folder)
  assert.deepEqual(read.map((recording) => recording.decisions.length).sort(), [1, 2])
  assert.ok(read.every(isUntouched))
  assert.equal(isUntouched({ ...read[0]!, sha256: read[1]!.sha256 }), false)
  rmSync(path, { recursive: true })
})

it('the facts of the golden cases are as recorded; record-golden-decisions.ts facts replaces them', () => {
  const recorded = readFileSync(FACTS, 'utf8').trimEnd().split('\n')
  const derived = goldenFacts()
  assert.equal(derived.length, recorded.length)
  for (const [index, facts] of derived.entries()) {
    const before = recorded[index]!
    assert.deepEqual(jsonDifferences(JSON.parse(before), JSON.parse(facts)), [], `line ${index + 1} of facts.jsonl`)
    assert.equal(facts, before)
  }
})

function compiled(checksum: string, document: string): CompiledPolicy {
  const result = compileStoredPolicy({ checksum, document })
  assert.ok('policy' in result, JSON.stringify(result))
  return result.policy
}
