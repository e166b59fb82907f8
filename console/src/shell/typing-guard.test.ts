import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TypingGuard } from './typing-guard.ts'

/** Presses the keys of a text, 60 ms apart, and returns those that the guard lets through. */
function press(guard: TypingGuard, keys: readonly string[], from: number, isInField: boolean): string {
  return keys.filter((key, n) => !guard.isStray({ key, timeStamp: from + n * 60, isInField })).join('')
}

test('the rest of a sentence whose field went away does nothing, until its person pauses', () => {
  const guard = new TypingGuard()
  assert.equal(press(guard, [...'income re'], 0, true), 'income re')
  assert.equal(press(guard, [...'gister and debt, no dispute.', 'Enter'], 600, false), '')
  assert.equal(press(guard, ['j'], 600 + 29 * 60 + 1_500, false), 'j')
})

test('after leaving a field by Escape, Tab or Enter, or by pointing, the next key is a shortcut', () => {
  for (const key of ['Escape', 'Tab', 'Enter']) {
    const guard = new TypingGuard()
    press(guard, [...'13500', key], 0, true)
    assert.equal(press(guard, ['j'], 400, false), 'j', key)
  }
  const guard = new TypingGuard()
  press(guard, [...'13500'], 0, true)
  guard.pointed()
  assert.equal(press(guard, ['n'], 400, false), 'n')
})

test('a page without a field in use takes every key', () => {
  assert.equal(press(new TypingGuard(), [...'jjkn'], 0, false), 'jjkn')
})
