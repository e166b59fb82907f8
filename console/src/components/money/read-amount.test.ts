/** What a money field understands, asks back and refuses, and that it reads whatever the console writes. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { currencyDecimals } from '../../../../server/src/core/schema/currency-decimals.ts'
import { CURRENCIES } from '../../../../server/src/core/schema/iso-codes.ts'
import { NUMBER_NOTATIONS } from '../../../../server/src/core/vocabularies.ts'
import { writeAmount, writeMoney } from '../write-number.ts'
import { type NumberNotation, notationOfLocale, setNotation } from './number-notation.ts'
import { moneyRules, type Reading, readAmount } from './read-amount.ts'

after(() => setNotation('comma_point'))

const read = (notation: NumberNotation, text: string, currency = 'EUR') =>
  said(readAmount(text, moneyRules(notation, currency)))

/** A reading in short: the amount, the amounts that are offered, or the first word of its kind. */
function said(reading: Reading): number | number[] | string {
  if (reading.kind === 'amount') return reading.amount
  return reading.kind === 'unclear' ? reading.amounts : reading.kind
}

/** Amounts of a currency, whole and with minor units, of few digits and of many: those with one mark matter most. */
const amounts = (currency: string) => {
  const inMajor = (minor: number) => minor / 10 ** currencyDecimals(currency)
  return fc.oneof(
    fc.integer({ min: 1, max: 999_999 }),
    fc.integer({ min: 1, max: 99_999_999 }).map(inMajor),
    fc.integer({ min: 1, max: 999_999_999_999 }).map(inMajor),
  )
}

test('every amount that the console writes is read as that amount, in every currency and notation', () => {
  const everywhere = fc
    .tuple(fc.constantFrom(...CURRENCIES), fc.constantFrom(...NUMBER_NOTATIONS))
    .chain(([currency, notation]) => fc.tuple(fc.constant(currency), fc.constant(notation), amounts(currency)))
  fc.assert(
    fc.property(everywhere, ([currency, notation, amount]) => {
      setNotation(notation)
      assert.equal(read(notation, writeMoney(amount, currency), currency), amount)
      assert.equal(read(notation, writeAmount(amount, currencyDecimals(currency)), currency), amount)
    }),
    { numRuns: 3_000 },
  )
})

test('every currency and every notation reads small, round and large amounts that the console writes', () => {
  for (const notation of NUMBER_NOTATIONS)
    for (const currency of CURRENCIES) {
      setNotation(notation)
      const smallest = 10 ** -currencyDecimals(currency)
      for (const amount of [smallest, 1, 999, 1_000, 13_500, 1_000_000, 1_000 + smallest, 1_000_000_000])
        assert.equal(read(notation, writeMoney(amount, currency), currency), amount, `${notation} ${currency}`)
    }
})

test('no text is read as an amount whose digits are not those of the text', () => {
  const texts = fc.string({ unit: fc.constantFrom(...'0123456789.,\u202f\u00a0 ’-€'), maxLength: 14 })
  fc.assert(
    fc.property(fc.constantFrom(...NUMBER_NOTATIONS), texts, (notation, text) => {
      const reading = readAmount(text, moneyRules(notation, 'EUR'))
      if (reading.kind !== 'amount') return
      const digits = text.replace(/\D/g, '').replace(/^0+/, '')
      const { amount } = reading
      const own = String(amount).replace(/\D/g, '').replace(/^0+/, '')
      assert.match(digits, new RegExp(`^${own}0*$`), `${JSON.stringify(text)} became ${amount}`)
    }),
    { numRuns: 3_000 },
  )
})

test('the mark of thousands of the notation is never taken for a decimal sign', () => {
  assert.equal(read('comma_point', '13,500'), 13_500)
  assert.equal(read('comma_point', '1,000,000'), 1_000_000)
  assert.equal(read('point_comma', '13.500'), 13_500)
  assert.equal(read('space_comma', '13\u202f500'), 13_500)
  assert.equal(read('apostrophe_point', '13’500'), 13_500)
  assert.equal(read('indian', '12,34,567.50'), 1_234_567.5)
  assert.equal(read('indian', '1,234,567.50'), 1_234_567.5)
  assert.equal(read('comma_point', '12,34,567'), 'refused')
})

test('forms with one reading are understood in every notation, pasted spaces and signs included', () => {
  const oneWay = {
    13500: 13_500,
    '€ 13 500': 13_500,
    '13\u00a0500 €': 13_500,
    "13'500.00": 13_500,
    "13'500.–": 13_500,
    '13.500,-': 13_500,
    '13.500,00': 13_500,
    '13,500.00': 13_500,
    '1.000.000': 1_000_000,
    '1,000,000': 1_000_000,
    '+13500': 13_500,
    'EUR 13500.5': 13_500.5,
    '\u200e13500,50\u00a0eur': 13_500.5,
  }
  for (const notation of ['point_comma', 'space_comma', 'comma_point', 'apostrophe_point'] as const)
    for (const [text, amount] of Object.entries(oneWay)) {
      // A decimal mark that separates thousands in the notation is asked back instead.
      if (text.includes(notation === 'comma_point' ? '500,50' : notation === 'point_comma' ? '500.5' : '?')) continue
      assert.equal(read(notation, text), amount, `${notation}: ${text}`)
    }
})

test('one mark before exactly three digits that the notation does not settle is asked back with both readings', () => {
  assert.deepEqual(read('comma_point', '13.500'), [13.5, 13_500])
  assert.deepEqual(read('point_comma', '13,500'), [13.5, 13_500])
  assert.deepEqual(read('space_comma', '13,500'), [13.5, 13_500])
  assert.deepEqual(read('space_comma', '13.500'), [13.5, 13_500])
  assert.deepEqual(read('apostrophe_point', '13,500'), [13.5, 13_500])
  // 13.505 is no amount in euro, so one reading is left; it is still offered, not assumed.
  assert.deepEqual(read('comma_point', '13.505'), [13_505])
  assert.deepEqual(read('comma_point', '13.500', 'JPY'), [13_500])
})

test('three digits after the last mark are asked back, with any groups before it', () => {
  for (const text of ['1 234,500', '1.234,500', "1'234,500"])
    assert.deepEqual(read('comma_point', text), [1_234.5, 1_234_500], text)
  assert.deepEqual(read('comma_point', '1234,500'), [1_234.5, 1_234_500])
  assert.deepEqual(read('point_comma', '1.234,500'), [1_234.5, 1_234_500])
  assert.deepEqual(read('space_comma', '1234.500'), [1_234.5, 1_234_500])
  assert.deepEqual(read('apostrophe_point', '12500.000'), [12_500, 12_500_000])
})

test('a letter after the digits is not taken for the sign of a currency', () => {
  assert.equal(typeof read('comma_point', '13k', 'MMK'), 'string')
  assert.equal(read('comma_point', 'K 13,500', 'MMK'), 13_500)
})

test('three decimals of a currency that has them are settled by the decimal sign of the notation', () => {
  assert.equal(read('comma_point', '13.500', 'KWD'), 13.5)
  assert.equal(read('comma_point', '13,500', 'KWD'), 13_500)
  assert.equal(read('point_comma', '13,500', 'KWD'), 13.5)
  assert.deepEqual(read('space_comma', '13.500', 'KWD'), [13.5, 13_500])
})

test('the mark of thousands before fewer than three digits is asked back as a decimal sign or a slip', () => {
  assert.deepEqual(read('comma_point', '13,50'), [13.5, 13_500])
  assert.deepEqual(read('point_comma', '13.5'), [13.5, 13_500])
  assert.equal(read('point_comma', '13,50'), 13.5)
  assert.equal(read('space_comma', '13.50'), 13.5)
})

test('decimals follow the currency', () => {
  assert.equal(read('comma_point', '10.5', 'JPY'), 'refused')
  assert.equal(read('comma_point', '10.00', 'JPY'), 10)
  assert.equal(read('comma_point', '10.1234', 'KWD'), 'refused')
  assert.equal(read('comma_point', '10.1234', 'CLF'), 10.1234)
  const reading = readAmount('10.5', moneyRules('comma_point', 'JPY'))
  assert.deepEqual(reading, { kind: 'refused', why: 'JPY has no decimals.' })
})

test('what is no amount above zero is refused with the reason', () => {
  const why = (text: string) => {
    const reading = readAmount(text, moneyRules('comma_point', 'EUR'))
    return reading.kind === 'refused' ? reading.why : reading.kind
  }
  for (const text of ['-5', '−5', '–5', '€-5', '5-', '(5)']) assert.equal(why(text), 'The amount cannot be negative.')
  for (const text of ['0', '0,00']) assert.equal(why(text), 'Write more than zero.')
  for (const text of ['0.001', '13500.555']) assert.equal(why(text), 'EUR has at most two decimals.')
  assert.equal(why('$500'), 'Write the amount in EUR alone, without “$”.')
  assert.equal(why('13k'), 'Write the amount in EUR alone, without “k”.')
  assert.match(why('13 50'), /^The digits are not in groups of three/)
  assert.match(why('1,000 000'), /^The digits are not in groups of three/)
  assert.match(why('1e3'), /without “e”/)
  assert.match(why('13²'), /without “²”/)
  assert.match(why('9999999999999'), /million millions/)
  assert.equal(why('  '), 'empty')
})

test('a number that may be negative keeps its sign: a minus, any hyphen or dash, before or behind the currency', () => {
  const rules = { ...moneyRules('comma_point', 'EUR'), allows: 'negative' } as const
  for (const sign of ['-', '\u2212', '\u2010', '\u2011', '\u2013', '\u2014', '\ufe63', '\uff0d'])
    for (const text of [`${sign}1,250.5`, `${sign} 1250.50`, `${sign}€1,250.50`, `€${sign}1,250.50`, `1250.5${sign}`])
      assert.deepEqual(readAmount(text, rules), { kind: 'amount', amount: -1_250.5 }, text)
})

test('a negative amount is written with a minus sign, and read back, in every notation', () => {
  for (const notation of NUMBER_NOTATIONS) {
    setNotation(notation)
    for (const written of [writeMoney(-1_250.5, 'EUR'), writeAmount(-1_250.5, 2)]) {
      assert.match(written, /^\u2212/)
      assert.equal(said(readAmount(written, { ...moneyRules(notation, 'EUR'), allows: 'negative' })), -1_250.5)
    }
  }
})

test('the notation of a browser follows its locale', () => {
  const locales = ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'en-IN', 'es-ES', 'pl-PL', 'sv-SE', 'ja-JP', 'ar-EG', 'pt-BR']
  assert.deepEqual(locales.map(notationOfLocale), [
    ...['comma_point', 'point_comma', 'space_comma', 'apostrophe_point', 'indian'],
    ...['point_comma', 'space_comma', 'space_comma', 'comma_point', 'comma_point', 'point_comma'],
  ])
})
