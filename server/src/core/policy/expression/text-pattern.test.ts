import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { compileTextPattern, patternSteps, type TextPattern } from './text-pattern.ts'

function pattern(source: string): TextPattern {
  const compiled = compileTextPattern(source)
  assert.ok(typeof compiled === 'function', `${source}: ${JSON.stringify(compiled)}`)
  return compiled
}

const { part } = fc.letrec<{ part: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '[a-c]', '\\d', '\\w', '\\.', '^', '$', ''),
    fc.constantFrom('[!-\\/]', '[\\.-b]', '[\\d!]', '[^\\W1]', '[a\\-c]', '[a-]', '\\S', '😀', '[^😀]', '[😀-😂]'),
    fc.tuple(tie('part'), tie('part')).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie('part'), tie('part')).map(([left, right]) => `(${left}|${right})`),
    fc
      .tuple(tie('part'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{1,}'))
      .map(([one, sign]) => `(?:${one})${sign}`),
  ),
}))

it('a pattern finds what the expressions of JavaScript find', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '.', ' ', '-', '!', '😀', '😁'), maxLength: 8 })
  fc.assert(
    fc.property(part, text, (source, value) => {
      fc.pre(source.length <= 60)
      const compiled = compileTextPattern(source)
      fc.pre(typeof compiled === 'function')
      assert.equal((compiled as TextPattern)(value), new RegExp(source, 'u').test(value), `${source} in '${value}'`)
    }),
    { numRuns: 1000 },
  )
})

it('a range may end with an escaped character', () => {
  assert.equal(pattern('^[!-\\/]$')('+'), true)
  assert.equal(pattern('^[!-\\/]$')('\\'), false)
  assert.equal(pattern('^[\\.-z]$')('m'), true)
  assert.equal(pattern('^[\\.-z]$')('-'), false)
})

it('ranges may overlap, and end on either side of the last ASCII character', () => {
  assert.deepEqual(['b', 'y', '{'].map(pattern('^[a-zc-d]$')), [true, true, false])
  assert.deepEqual(['b', 'e', 'y', '{'].map(pattern('^[c-da-z]$')), [true, true, true, false])
  assert.deepEqual(['\u007e', '\u007f', '\u0080', '\u0081'].map(pattern('^[\u007f-\u0080]$')), [
    false,
    true,
    true,
    false,
  ])
  assert.deepEqual(['\u{10fffe}', '\u{10ffff}'].map(pattern('^[^\u{10fffe}]$')), [false, true])
  assert.deepEqual(['ß', 'à', 'ê', 'ÿ'].map(pattern('^[à-ÿç-é]$')), [false, true, true, true])
  assert.deepEqual(['ß', 'à', 'ê', 'ÿ'].map(pattern('^[^à-ÿç-é]$')), [true, false, false, false])
})

it('a group may be one that is not captured', () => {
  assert.deepEqual(['abab', 'aba'].map(pattern('^(?:ab)+$')), [true, false])
})

it('a count may have no end', () => {
  assert.deepEqual(['a', 'aa', 'aaaa'].map(pattern('^a{2,}$')), [false, true, true])
})

it('a pattern sees a character beyond the Basic Multilingual Plane as one', () => {
  assert.equal(pattern('^.$')('😀'), true)
  assert.equal(pattern('^..$')('😀'), false)
  assert.equal(pattern('^[😀-😂]$')('😁'), true)
})

it('a pattern that makes JavaScript backtrack for ages is answered by a bounded number of steps', () => {
  const text = `${'a'.repeat(500)}!`
  // Backtracking would take 2^500 steps here, so that the test would not end.
  for (const source of ['^(a+)+$', '^(a|a)*$', '^(a*)*b$', `${'a?'.repeat(30)}${'a'.repeat(30)}$`])
    assert.equal(pattern(source)(text), false, source)
})

it('a pattern is refused with what to write instead', () => {
  const problems: [source: string, message: RegExp][] = [
    ['(?=a)', /only \(\?: \) is available/],
    ['(a', /'\(' is not closed/],
    ['a)', /'\)' without a '\('/],
    ['*a', /nothing before '\*'/],
    ['a**', /cannot follow another repetition/],
    ['a{2,1}', /wrong way round/],
    ['[z-a]', /wrong way round/],
    ['a{', /write '\\\{'/],
    ['\\b', /'\\b' is not available/],
    ['[a', /ends too early/],
    ['((a{50}){50}){50}', /too large/],
    ['(((((){999}){999}){999}){999})', /too large/],
    ['((((a{0}){999}){999}){999}){999}', /too large/],
    ['[\\d-z]', /a range ends with a character, not with a class/],
    ['[!-\\d]', /a range ends with a character, not with a class/],
    ['a'.repeat(101), /at most 100 characters/],
  ]
  for (const [source, message] of problems) {
    const compiled = compileTextPattern(source)
    assert.ok('message' in compiled, source)
    assert.match(compiled.message, message)
  }
})

it('the named classes have the characters that they have in JavaScript', () => {
  for (const source of ['\\d', '\\D', '\\w', '\\W', '\\s', '\\S'])
    for (let code = 0; code < 128; code++) {
      const character = String.fromCharCode(code)
      assert.equal(pattern(`^${source}$`)(character), new RegExp(`^${source}$`).test(character), `${source} ${code}`)
    }
})

it('a dot is every character but the end of a line', () => {
  assert.deepEqual(['\t', '\n', '\v', '\r', 'a', '\u{10ffff}'].map(pattern('^.$')), [
    true,
    false,
    true,
    true,
    true,
    true,
  ])
})

it('a pattern takes a step for each character, one to end, and none if it does not compile', () => {
  assert.deepEqual(['a', 'ab', 'a|b', 'a*', '('].map(patternSteps), [2, 3, 5, 4, 0])
})

it('a pattern has at most 100 characters, 250 steps and 2,500 parts', () => {
  const isAccepted = (source: string) => typeof compileTextPattern(source) === 'function'
  assert.deepEqual([isAccepted('a'.repeat(100)), isAccepted('a'.repeat(101))], [true, false])
  assert.deepEqual([isAccepted('a{250}'), isAccepted('a{251}')], [true, false])
  // Each repetition of two empty groups has four parts: two choices, each with its sequence.
  assert.deepEqual([isAccepted('a(()){624}'), isAccepted('aa(()){624}')], [true, false])
})
