import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedPolicy } from '../../../tests/edited-policy.ts'
import { known, missing } from '../facts/facts.ts'
import { readAgain, readSlots } from './read-slots.ts'

const MEASURED = 'request.instalment_to_income'
const compiled = editedPolicy(({ inputs }) => ({
  inputs: [
    ...inputs.filter(({ feature }) => feature !== MEASURED && feature !== 'request.amount'),
    { feature: MEASURED, type: 'number', weight: 0, missing: 'transactions_missing' },
    { feature: 'request.amount', type: 'number', weight: 0 },
  ],
}))
/** Refuses a measured value above one, as no policy does that can be proposed today. */
const policy = {
  ...compiled,
  inputs: compiled.inputs.map((input) => ({ ...input, isProbability: input.feature === MEASURED })),
}
const [measuredSlot, amountSlot] = [MEASURED, 'request.amount'].map((name) => policy.slots.before.get(name)!) as [
  number,
  number,
]

describe('the inputs read for another amount', () => {
  it('have the amount and what was measured for it', () => {
    const reading = readSlots(policy, { 'request.amount': known(900) }, { [MEASURED]: known(0.9) })
    assert.deepEqual([reading.values[measuredSlot], reading.values[amountSlot]], [0.9, 900])
    const { values, gaps } = readAgain(policy, reading, { measured: { [MEASURED]: known(0.5) }, amount: 500 })
    assert.deepEqual([values[measuredSlot], values[amountSlot]], [0.5, 500])
    assert.deepEqual(gaps, reading.gaps)
    assert.deepEqual([reading.values[measuredSlot], reading.values[amountSlot]], [0.9, 900], 'the first stays')
  })

  it('are missing where they were missing before, so that completeness and reasons still apply', () => {
    for (const fact of [known(1.5), missing('no_data')]) {
      const reading = readSlots(policy, {}, { [MEASURED]: fact })
      const { values } = readAgain(policy, reading, { measured: { [MEASURED]: known(0.5) }, amount: 500 })
      assert.deepEqual([values[measuredSlot], values[amountSlot]], [undefined, undefined])
    }
  })
})
