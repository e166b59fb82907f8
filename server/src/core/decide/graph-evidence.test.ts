import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ExposureSummary } from '../graph/describe-trust.ts'
import { summarizeExposure } from '../graph/describe-trust.ts'
import { graphEvidence } from './graph-evidence.ts'

const EXPOSURE: ExposureSummary = {
  ...summarizeExposure({ entityId: 'ent_1', asOf: '2026-11-16T09:30:00.000Z', contributions: [], isTruncated: false }),
  paths: [{ entityId: 'ent_2', edges: ['same_as'], strength: 0.9, share: 1, usesPayments: false }],
}

it('every figure of an exposure is part of the evidence, under its name in snake_case', () => {
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const namesIn = (value: unknown): string[] =>
    Object.entries(value as object).flatMap(([name, inner]) => [
      ...(Array.isArray(value) ? [] : [name]),
      ...(typeof inner === 'object' && inner !== null ? namesIn(inner) : []),
    ])
  assert.deepEqual(namesIn(graphEvidence(EXPOSURE)).sort(), namesIn(EXPOSURE).map(snakeCase).sort())
  assert.deepEqual(graphEvidence(EXPOSURE).paths, [
    { entity_id: 'ent_2', edges: ['same_as'], strength: 0.9, share: 1, uses_payments: false },
  ])
})

it('an exposure that was never computed has no date', () => {
  const { asOf: _, ...never } = EXPOSURE
  assert.equal('as_of' in graphEvidence(never), false)
})
