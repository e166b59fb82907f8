import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addConsent, type ConsentFact, type ConsentState } from './consent-state.ts'

const NOON = '2026-07-15T12:00:00.000Z'
const [SOON, LATE] = ['2026-08-01T00:00:00.000Z', '2026-09-01T00:00:00.000Z']

/** When a consent expires after these grants, each with its instant and perhaps an expiry. */
function expiryAfter(...grants: (readonly [grantedAt: string, expiresAt?: string])[]): string | undefined {
  const state = grants.reduce((known: ConsentState, [grantedAt, expiresAt]) => {
    const granted = { purpose: 'credit_underwriting', status: 'granted', dataCategories: ['transactions'] } as const
    const consent: ConsentFact = { ...granted, grantedAt, ...(expiresAt !== undefined && { expiresAt }) }
    return addConsent(known, consent)
  }, {})
  return state.credit_underwriting?.transactions?.expiresAt
}

test('of two grants at one instant the earlier expiry holds, whichever came first', () => {
  assert.deepEqual([expiryAfter([NOON, SOON], [NOON, LATE]), expiryAfter([NOON, LATE], [NOON, SOON])], [SOON, SOON])
  assert.deepEqual([expiryAfter([NOON, SOON], [NOON]), expiryAfter([NOON], [NOON, SOON])], [SOON, SOON])
  assert.equal(expiryAfter([NOON], [NOON]), undefined)
})

test('of two grants at different instants the later one holds, with its expiry or without', () => {
  const before = '2026-07-14T12:00:00.000Z'
  assert.deepEqual([expiryAfter([before, SOON], [NOON, LATE]), expiryAfter([NOON, LATE], [before, SOON])], [LATE, LATE])
  assert.deepEqual([expiryAfter([before, SOON], [NOON]), expiryAfter([NOON], [before, SOON])], [undefined, undefined])
})
