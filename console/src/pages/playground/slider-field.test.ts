import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { NUMBER_NOTATIONS } from '../../../../server/src/core/vocabularies.ts'
import { setNotation } from '../../components/money/number-notation.ts'
import { readAmount } from '../../components/money/read-amount.ts'
import { writeValue } from '../../decision-view/write-feature.ts'
import { sliderField } from './slider-field.ts'

after(() => setNotation('comma_point'))

/** Values that the page writes without rounding, by their unit. */
const VALUES = {
  share: fc.integer({ min: 0, max: 1_000 }).map((tenths) => tenths / 1_000),
  ratio: fc.integer({ min: 0, max: 999 }).map((hundredths) => hundredths / 100),
  days: fc.integer({ min: 0, max: 4_000 }),
  money: fc.integer({ min: -10_000_000, max: 10_000_000 }).map((cents) => cents / 100),
  none: fc.integer({ min: 0, max: 1_000 }),
}

test('a value that the page writes, typed into the field, is that value: in every unit and notation', () => {
  for (const notation of NUMBER_NOTATIONS)
    for (const [name, values] of Object.entries(VALUES)) {
      const unit = name === 'none' ? null : name
      const { rules, fromField } = sliderField({ unit, from: -100_000 }, { notation, currency: 'EUR' })
      fc.assert(
        fc.property(values, (value) => {
          setNotation(notation)
          const written = writeValue(value, unit, 'EUR')
          const reading = readAmount(written, rules)
          assert.equal(reading.kind === 'amount' && fromField(reading.amount), value, `${notation}: ${written}`)
        }),
      )
    }
})

test('what a field shows is read as the value that it shows', () => {
  const values = fc.integer({ min: 0, max: 10_000 }).map((parts) => parts / 10_000)
  fc.assert(
    fc.property(values, fc.constantFrom('share', 'ratio', null), (value, unit) => {
      const { toField, fromField } = sliderField({ unit, from: 0 }, { notation: 'comma_point', currency: undefined })
      assert.equal(fromField(toField(value)), value)
    }),
  )
})
