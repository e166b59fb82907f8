import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SourceKind } from '../../vocabularies.ts'
import { deriveFacts } from '../derive-facts.ts'
import { applyTransactions, type EntityState, emptyState } from '../entity-state.ts'
import type { Fact } from '../facts.ts'
import { combineStates } from '../merged/combine-states.ts'

const NOW = '2026-07-15T12:00:00.000Z'

/** Transactions of the newest days, one a day, each provided by one of these. */
function providedBy(...kinds: readonly (SourceKind | undefined)[]): EntityState {
  const transactions = kinds.map((kind, index) => ({
    externalId: `t-${index}`,
    occurredAt: new Date(Date.parse(NOW) - (index + 1) * 86_400_000).toISOString(),
    amount: 10 + index,
    currency: 'EUR',
    direction: 'debit' as const,
    ...(kind && { providedBy: kind }),
  }))
  return applyTransactions(emptyState(), transactions)
}

function sharesOf(state: EntityState): [applicant: Fact, independent: Fact] {
  const request = { product: 'default', requestedAmount: 100, currency: 'EUR' }
  const { features } = deriveFacts({ state, entity: {}, request, now: NOW })
  return [features['cashflow.applicant_share']!, features['cashflow.independent_share']!]
}

const valuesOf = (state: EntityState) => sharesOf(state).map((fact) => 'value' in fact && fact.value)

describe('who provided the transactions', () => {
  it('is the share of the applicant, and of those that the applicant has no hand in, of all transactions', () => {
    assert.deepEqual(valuesOf(providedBy('bank', 'aggregator', 'own_records', 'credit_bureau')), [0, 1])
    assert.deepEqual(valuesOf(providedBy('applicant', 'bank', 'bank', 'bank')), [0.25, 0.75])
    assert.deepEqual(valuesOf(providedBy('applicant', 'other', undefined, 'bank')), [0.25, 0.25])
  })

  it('is missing where no caller said it, and where the source is not known', () => {
    for (const state of [providedBy(undefined, undefined), providedBy('other')])
      assert.deepEqual(sharesOf(state), [{ missing: 'no_data' }, { missing: 'no_data' }])
  })

  it('is as old as the newest transaction', () => {
    assert.deepEqual(sharesOf(providedBy('bank'))[1], { value: 1, age_days: 1 })
  })

  it('of merged entities counts a transaction once that both report', () => {
    const merged = combineStates([providedBy('bank', 'bank', undefined), providedBy('bank', 'bank', 'applicant')])
    const [applicant, independent] = valuesOf(merged)
    assert.deepEqual([applicant, independent], [0.333333, 0.666666])
  })
})
