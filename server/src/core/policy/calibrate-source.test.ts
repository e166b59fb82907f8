import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { editedPolicy } from '../../../tests/edited-policy.ts'
import { sandboxPolicy, sandboxPolicySource } from '../../../tests/sandbox-policy.ts'
import { judge } from '../decide/decide.ts'
import { readTable } from '../decide/score.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { calibrateSource } from './calibrate-source.ts'
import { diffPolicies } from './diff-policies.ts'
import { parsePolicy } from './parse-policy.ts'

const source = sandboxPolicySource()

/** The lines of a text that another one does not have. */
function linesOnlyIn(text: string, other: string): string[] {
  const known = new Set(other.split('\n'))
  return text.split('\n').filter((line) => !known.has(line))
}

function documentOf(text: string) {
  const parsed = parsePolicy(text)
  assert.ok('policy' in parsed, JSON.stringify(parsed))
  return parsed.policy.document
}

test('points and version are the only lines that change, and comments stay', () => {
  const first = calibrateSource(source, [{ segment: null, points: -14 }], 'sandbox-policy-v1-2')
  assert.deepEqual(linesOnlyIn(first, source), ['version: "sandbox-policy-v1-2"', '  calibration_points: -14'])
  assert.deepEqual(linesOnlyIn(source, first), ['version: sandbox-policy-v1'])
  const changes = diffPolicies(documentOf(source), documentOf(first))
  assert.deepEqual(changes.map(({ path }) => path).sort(), ['/scorecard/calibration_points', '/version'])
  const second = calibrateSource(first, [{ segment: null, points: 3 }])
  assert.deepEqual(linesOnlyIn(second, first), ['  calibration_points: 3'])
})

test('the scorecard of a segment is calibrated apart, and a policy in JSON as well', () => {
  const segment = { name: 'young', when: 'cashflow.days_observed < 90', scorecard: sandboxPolicy().document.scorecard }
  const json = JSON.stringify({ ...sandboxPolicy().document, segments: [segment] })
  const calibrated = calibrateSource(json, [
    { segment: 'young', points: 20 },
    { segment: null, points: -5 },
  ])
  const { scorecard, segments } = JSON.parse(calibrated)
  assert.deepEqual([scorecard.calibration_points, segments[0].scorecard.calibration_points], [-5, 20])
})

test('calibration points move the probability as the same points of the score would, and nothing else', () => {
  const { document, probability } = sandboxPolicy()
  const facts = document.tests
    .filter(({ facts: each }) => each['request.amount'])
    .map((each) => factsFrom(each.facts, each.age_days))
  assert.ok(facts.length > 10)
  for (const points of [-300, -17, 0, 8, 300]) {
    const moved = editedPolicy(({ scorecard }) => ({ scorecard: { ...scorecard, calibration_points: points } }))
    for (const each of facts) {
      const [{ asked: before }, { asked: after }] = [judge(sandboxPolicy(), each), judge(moved, each)]
      assert.deepEqual([after.total, after.tier, after.confidence], [before.total, before.tier, before.confidence])
      assert.equal(after.badPpm, readTable(probability!, before.total + points))
    }
  }
})

test('calibration points beyond their bounds are refused', () => {
  for (const points of [-301, 301, 1.5])
    assert.ok('problems' in parsePolicy(calibrateSource(source, [{ segment: null, points }])), String(points))
  const bureau = readFileSync(new URL('../../../../policies/bureau-snapshot-v1.yaml', import.meta.url), 'utf8')
  assert.throws(() => calibrateSource(bureau, [{ segment: 'nowhere', points: 1 }]), /no scorecard nowhere/)
})
