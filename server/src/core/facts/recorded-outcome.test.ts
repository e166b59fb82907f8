import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { outcomeFact, type RecordedOutcome } from './recorded-outcome.ts'

const recorded: RecordedOutcome = {
  id: 'out_1',
  decision_id: 'dec_1',
  type: 'late',
  occurred_at: '2026-03-01T00:00:00.000Z',
}
const fact = { id: 'out_1', decisionId: 'dec_1', type: 'late', occurredAt: '2026-03-01T00:00:00.000Z' }

describe('the fact of a recorded outcome', () => {
  it('has the days past due, the amount and the currency that were recorded', () => {
    assert.deepEqual(outcomeFact({ ...recorded, days_past_due: 0, amount: 0, currency: 'EUR' }), {
      ...fact,
      daysPastDue: 0,
      amount: 0,
      currency: 'EUR',
    })
  })

  it('has no field for what was not recorded', () => assert.deepEqual(outcomeFact(recorded), fact))
})
