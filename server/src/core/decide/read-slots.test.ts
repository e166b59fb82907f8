import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { editedPolicy } from '../../../tests/edited-policy.ts'
import { known, missing } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
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

describe('the inputs', () => {
  const { features } = factsFrom(GOOD)
  const names = Object.keys(features).sort()
  const inOrder = (order: readonly string[]) => Object.fromEntries(order.map((name) => [name, features[name]!]))

  it('are read alike from facts in any order', () => {
    const reading = readSlots(policy, inOrder(names), {})
    assert.equal(reading.values[amountSlot], GOOD['request.amount'])
    assert.deepEqual(readSlots(policy, inOrder(names.toReversed()), {}), reading)
    assert.deepEqual(readSlots(policy, inOrder([...names.slice(9), ...names.slice(0, 9)]), {}), reading)
  })

  it('are read to the last where a fact is absent', () => {
    const { values, gaps } = readSlots(policy, inOrder(names), {})
    for (const { feature, slot } of policy.inputsByName) {
      const without = readSlots(policy, inOrder(names.filter((name) => name !== feature)), {})
      assert.equal(without.missing[slot], 'no_data', feature)
      assert.deepEqual(Array.from(without.values), values.with(slot, undefined), feature)
      assert.deepEqual(
        without.gaps,
        [...new Set([...gaps, slot])].sort((a, b) => a - b),
        feature,
      )
    }
  })
})

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
