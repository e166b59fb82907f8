import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ID_ALPHABET } from './id-format.ts'
import { claimsOperatorId } from './operator-id-claim.ts'

const tail = fc.string({ unit: fc.constantFrom(...ID_ALPHABET), minLength: 25, maxLength: 25 })
const digit = fc.constantFrom(...'01234567')
const invisible = fc.constantFrom('', '\u200b', '\u00ad', '\u2060', '\ufe0f', '\ufeff')

test('no spelling of an id of an operator or an account passes: capitals, widths, invisible and other letters', () => {
  const letters = {
    o: ['o', 'O', 'ｏ', 'о', 'ο', '𝐨'],
    p: ['p', 'P', 'ｐ', 'р', 'ρ'],
    r: ['r', 'R', 'ｒ', 'г'],
    a: ['a', 'A', 'а', 'α'],
    c: ['c', 'C', 'с', 'ϲ'],
    _: ['_', '＿', 'ߺ'],
  }
  const spelled = (prefix: string) =>
    fc
      .tuple(...[...prefix].map((letter) => fc.tuple(fc.constantFrom(...letters[letter as 'o']), invisible)))
      .map((pairs) => pairs.flat().join(''))
  fc.assert(
    fc.property(
      fc.oneof(spelled('opr_'), spelled('acc_')),
      digit,
      tail,
      fc.constantFrom('', ' ', '\n', 'Olga (', 'id:'),
      (prefix, first, rest, before) => claimsOperatorId(`${before}${prefix}${first}${rest}`),
    ),
  )
})

test('ids that callers make for their own reviewers pass', () => {
  for (const id of [
    'u-17',
    'crm_7',
    'oprah',
    'opera_1',
    'copr_17',
    'bacc_2',
    'a@b.example',
    'Олег Петров',
    '4711',
    'opr',
  ])
    assert.equal(claimsOperatorId(id), false, id)
})
