import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasLetterOrDigit, plainSpelling } from './plain-spelling.ts'

/** Every decimal digit of Unicode, in the order of code points. */
const decimalDigits = Array.from({ length: 0x110000 }, (_, codePoint) => codePoint)
  .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
  .map((codePoint) => String.fromCodePoint(codePoint))
  .filter((character) => /\p{Nd}/u.test(character))

test('every decimal digit of every script becomes the ASCII digit of its value', () => {
  assert.ok(decimalDigits.length >= 650, `${decimalDigits.length} digits`)
  decimalDigits.forEach((digit, index) => {
    assert.equal(plainSpelling(digit), String(index % 10), `U+${digit.codePointAt(0)!.toString(16)}`)
  })
  assert.equal(plainSpelling('٠١٢٣٤٥٦٧٨٩'), '0123456789')
  assert.equal(plainSpelling('۱۲۳ १२३ １２３ 𝟭𝟮𝟯'), '123 123 123 123')
})

test('a spelling does not depend on capitals, compatibility forms or characters that are not seen', () => {
  assert.equal(plainSpelling(' A\u200bd\u00ada\ufe0f '), 'ada')
  assert.equal(plainSpelling('e\u200d\u0301'), 'é')
  assert.equal(plainSpelling('ＡＢ①'), 'ab1')
  assert.equal(plainSpelling('\u200b\u2060\ufeff'), '')
})

test('the spelling of any text has no decimal digit but 0 to 9 and no invisible character', () => {
  const text = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(text, (value) => {
      const plain = plainSpelling(value)
      assert.doesNotMatch(plain.replace(/[0-9]/g, ''), /[\p{Nd}\p{Cf}\p{Default_Ignorable_Code_Point}]/u)
    }),
  )
})

test('a text of punctuation, spaces or marks alone tells nothing apart', () => {
  for (const text of ['', ' ', '---', '+', '././.', '\u0301', '@'])
    assert.equal(hasLetterOrDigit(text), false, JSON.stringify(text))
  for (const text of ['0', 'a', '١', 'ก', '中', '-7-']) assert.equal(hasLetterOrDigit(text), true, text)
})
