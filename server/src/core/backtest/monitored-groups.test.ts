import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editedDocument } from '../../../tests/edited-policy.ts'
import type { FactSet, FactValue } from '../facts/facts.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import { addMonitored, countMonitored, monitoredAttributes, noMonitored } from './monitored-groups.ts'

const [APPROVED, DECLINED] = [{ isApproved: true }, { isApproved: false }]

function documentWith(...monitored: NonNullable<PolicyDocument['monitored']>): PolicyDocument {
  return editedDocument({ monitored })
}

function featuresOf(values: Record<string, FactValue | undefined>): FactSet {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      `snapshot.${name}`,
      value === undefined ? { missing: 'no_data' } : { value },
    ]),
  )
}

test('approvals are counted by the values of each attribute, the largest group first', () => {
  const document = documentWith(
    { feature: 'snapshot.sex', describes: 'sex' },
    { feature: 'snapshot.years', describes: 'age' },
  )
  const counts = noMonitored(document)
  countMonitored(counts, featuresOf({ sex: 'f', years: 61.9 }), { before: APPROVED, after: DECLINED })
  const others = noMonitored(document)
  countMonitored(others, featuresOf({ sex: 'f', years: 62 }), { before: DECLINED, after: APPROVED })
  countMonitored(others, featuresOf({ sex: undefined }), { before: APPROVED, after: APPROVED })
  addMonitored(counts, others)
  const group = (value: string | null, decided: number, approved_before: number, approved_after: number) => ({
    value,
    decided,
    approved_before,
    approved_after,
  })
  assert.deepEqual(monitoredAttributes(counts), [
    { feature: 'snapshot.sex', describes: 'sex', groups: [group('f', 2, 1, 1), group(null, 1, 1, 1)] },
    {
      feature: 'snapshot.years',
      describes: 'age',
      groups: [group(null, 1, 1, 1), group('62 years or more', 1, 0, 1), group('under 62 years', 1, 1, 0)],
    },
  ])
})

test('of an attribute with many values the largest 20 groups are listed, and the others together', () => {
  const counts = noMonitored(documentWith({ feature: 'snapshot.origin', describes: 'national_origin' }))
  for (let value = 0; value < 25; value++)
    for (let times = 0; times <= value; times++)
      countMonitored(counts, featuresOf({ origin: `o${value}` }), { before: APPROVED, after: DECLINED })
  const { groups } = monitoredAttributes(counts)[0]!
  assert.equal(groups.length, 21)
  assert.deepEqual([groups[0]!.value, groups[0]!.decided], ['o24', 25])
  assert.deepEqual([groups[20]!.value, groups[20]!.decided], ['other values', 1 + 2 + 3 + 4 + 5])
})
