import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { emailFault, normalizedEmail, personNameFault } from './person-rules.ts'

test('addresses that people have are taken, and compared without capitals', () => {
  const taken = ['ada@example.com', "o'brien+risk@mail.example.co.uk", 'a@localhost', 'x_y-z.1@xn--mller-kva.example']
  for (const email of taken) assert.equal(emailFault(normalizedEmail(` ${email.toUpperCase()}\t`)), undefined, email)
  assert.equal(normalizedEmail(' Ada@Example.COM '), 'ada@example.com')
})

test('line breaks, markup, look-alikes, invisible characters and broken forms are no address', () => {
  const refused = [
    'ada@example.com\n',
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@exam\nple.com',
    '<b>ada</b>@example.com',
    'ada@example.com<script>',
    '"ada"@example.com',
    'ada@exаmple.com', // Cyrillic а
    'аda@example.com',
    'ada@example。com',
    'ada@\u200bexample.com',
    'ada\u00ad@example.com',
    '\u202eada@example.com',
    'ada@example.com\u0000',
    'an\u212Aa@example.com', // the Kelvin sign, which becomes k in lower case
    'ada@İstanbul.example',
    'ａda@example.com',
    'ada example.com',
    'ada@',
    '@example.com',
    'ada@@example.com',
    'ada@-example.com',
    'ada@example..com',
    '.ada@example.com',
    'a..da@example.com',
    'ada.@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a'.repeat(64)}.com`,
    `ada@${'a.'.repeat(130)}com`,
    '',
  ]
  for (const email of refused) assert.ok(emailFault(normalizedEmail(email)), JSON.stringify(email))
})

test('whatever is taken as an address is plain ASCII without spaces, quotes and markup', () => {
  const address = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })).map((parts) => parts.join('@')),
    fc.emailAddress(),
  )
  fc.assert(
    fc.property(address, (text) => {
      const email = normalizedEmail(text)
      return emailFault(email) !== undefined || /^[!#-;=?-~]+@[a-z0-9.-]+$/.test(email)
    }),
  )
})

test('names of people in every alphabet are taken', () => {
  const taken = [
    'Ada Quist',
    'Zoë Müller-Ångström',
    'José María O’Neill',
    'Мария Петрова',
    'Γιώργος',
    '王小明',
    'さくら 田中',
  ]
  taken.push(
    '김철수',
    'علی‌رضا',
    'प्रिया शर्मा',
    'อรุณ',
    'Nguyễn Thị Hồng',
    'Ada Quist (Risk) 2',
    'Мария Smith',
    'J. R. R. Tolkien',
  )
  for (const name of taken) assert.equal(personNameFault(name), undefined, name)
})

test('names with line breaks, markup, invisible characters, mixed alphabets or stacked accents are refused', () => {
  const refused = [
    '',
    '  ',
    'x'.repeat(256),
    'Ada\nQuist',
    'Ada\u2028Quist',
    'Ada\u00a0Quist',
    '<b>Ada</b>',
    'Ada\u0007',
  ]
  refused.push(
    '\u202eadA',
    'A\u200bda',
    'A\u00adda',
    'Ad\u200da',
    'Аda',
    'Adа Quist',
    'Ρaul',
    'Z\u0301\u0302\u0303\u0304\u0305algo',
  )
  refused.push('\u0301Ada', 'Ada\u3164', 'Ada \u{e0041}', 'Ada\ufeff', '\ud800Ada')
  for (const name of refused) assert.ok(personNameFault(name), JSON.stringify(name))
})
