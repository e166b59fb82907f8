import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KeyPress, TypingGuard } from './typing-guard.ts'

/** Presses keys, 60 ms apart, and returns those that the guard lets through. */
function press(
  guard: TypingGuard,
  keys: readonly string[],
  { from = 0, target, isChord = false }: Pick<KeyPress, 'target'> & { from?: number; isChord?: boolean },
): string {
  return keys.filter((key, n) => !guard.isStray({ key, timeStamp: from + n * 60, target, isChord })).join('')
}

test('the rest of a sentence whose field went away does nothing, until its person pauses', () => {
  const guard = new TypingGuard()
  assert.equal(press(guard, [...'income re'], { target: 'lines' }), 'income re')
  assert.equal(press(guard, [...'gister and debt, no dispute.', 'Enter'], { from: 600, target: 'page' }), '')
  assert.equal(press(guard, ['Enter'], { from: 600 + 29 * 60, target: 'page', isChord: true }), '')
  assert.equal(press(guard, ['j'], { from: 600 + 29 * 60 + 1_500, target: 'page' }), 'j')
})

test('a new line in a text is no end of typing', () => {
  const guard = new TypingGuard()
  press(guard, [...'Sign here', 'Enter'], { target: 'lines' })
  assert.equal(press(guard, ['n'], { from: 700, target: 'page' }), '')
})

test('after leaving a field by Escape or Tab, sending it by Enter, or pointing, the next key is a shortcut', () => {
  for (const key of ['Escape', 'Tab', 'Enter']) {
    const guard = new TypingGuard()
    press(guard, [...'13500', key], { target: 'line' })
    assert.equal(press(guard, ['j'], { from: 400, target: 'page' }), 'j', key)
  }
  const guard = new TypingGuard()
  press(guard, [...'A reason'], { target: 'lines' })
  press(guard, ['Enter'], { from: 480, target: 'lines', isChord: true })
  assert.equal(press(guard, ['j'], { from: 600, target: 'page' }), 'j')
  press(guard, [...'13500'], { from: 1_000, target: 'line' })
  guard.pointed()
  assert.equal(press(guard, ['n'], { from: 1_400, target: 'page' }), 'n')
})

test('Tab, modifiers and chords of the browser pass, also when a field has just gone away', () => {
  const guard = new TypingGuard()
  press(guard, [...'13500'], { target: 'line' })
  assert.equal(press(guard, ['Control', 'c'], { from: 300, target: 'page', isChord: true }), 'Controlc')
  assert.equal(press(guard, ['n'], { from: 500, target: 'page' }), '')
  assert.equal(press(guard, ['Tab', ' '], { from: 600, target: 'page' }), 'Tab ')
})

test('a page without a field in use takes every key', () => {
  assert.equal(press(new TypingGuard(), [...'jjkn'], { target: 'page' }), 'jjkn')
})
