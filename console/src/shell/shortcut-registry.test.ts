import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ShortcutPress, ShortcutRegistry } from './shortcut-registry.ts'
import { IN_PLAYGROUND, IN_REVIEW_QUEUE, ON_DECISION, type ShortcutGroup } from './shortcut-tables.ts'

const GO_TO: ShortcutGroup = {
  title: 'Go to',
  shortcuts: [
    { keys: ['G R'], does: 'Review queue' },
    { keys: ['G A'], does: 'Audit log' },
  ],
}

type PressOptions = { at?: number } & Partial<Pick<ShortcutPress, 'isTyping' | 'isChord' | 'isAlt'>>

/** A page with these groups of shortcuts, whose acts write their key into `done`. */
function openPage(...groups: ShortcutGroup[]) {
  const registry = new ShortcutRegistry()
  const done: string[] = []
  const removals = groups.map(({ shortcuts }) => {
    const acts = Object.fromEntries(shortcuts.flatMap(({ keys }) => keys.map((key) => [key, () => done.push(key)])))
    return registry.register({ shortcuts, acts: () => acts })
  })
  const press = (key: string, { at = 10_000, isTyping = false, isChord = false, isAlt = false }: PressOptions = {}) =>
    registry.actOf({ key, timeStamp: at, isTyping, isChord, isAlt })?.()
  return { press, done, removals }
}

test('G R on a decision goes to the review queue and does not replay the decision', () => {
  for (const groups of [
    [GO_TO, ON_DECISION],
    [ON_DECISION, GO_TO],
  ]) {
    const { press, done } = openPage(...groups)
    press('g', { at: 10_000 })
    press('r', { at: 10_200 })
    assert.deepEqual(done, ['G R'])
    press('r', { at: 10_400 })
    assert.deepEqual(done, ['G R', 'R'], 'the sequence has ended')
  }
})

test('a second key that no sequence has does nothing, and one that comes late acts for itself', () => {
  const { press, done } = openPage(GO_TO, IN_REVIEW_QUEUE)
  press('g', { at: 10_000 })
  press('d', { at: 10_200 })
  assert.deepEqual(done, [])
  press('g', { at: 20_000 })
  press('a', { at: 21_200 })
  assert.deepEqual(done, ['A'])
})

test('a key in the first moments of a page is not the second one of a sequence', () => {
  const { press, done } = openPage(GO_TO, IN_REVIEW_QUEUE)
  press('a', { at: 0 })
  press('a', { at: 500 })
  assert.deepEqual(done, ['A', 'A'])
})

test('a modifier between the two keys of a sequence does not end it', () => {
  const { press, done } = openPage(GO_TO)
  press('g', { at: 10_000 })
  press('Shift', { at: 10_100 })
  press('R', { at: 10_200 })
  assert.deepEqual(done, ['G R'])
})

test('while a person types, only the shortcuts that say so act', () => {
  const { press, done } = openPage(GO_TO, IN_REVIEW_QUEUE, IN_PLAYGROUND)
  press('g', { isTyping: true })
  press('a', { isTyping: true })
  press('a', { at: 10_100 })
  assert.deepEqual(done, ['A'], 'G was text')
  const playground = openPage(IN_PLAYGROUND)
  playground.press('Enter', { isTyping: true })
  playground.press('Enter', { isTyping: true, isChord: true })
  assert.deepEqual(playground.done, ['Mod+Enter'])
})

test('chords of the browser and keys with Alt are no shortcuts', () => {
  const { press, done } = openPage(GO_TO, ON_DECISION)
  press('r', { isChord: true })
  press('r', { isAlt: true })
  assert.deepEqual(done, [])
})

test('a component that is gone takes its shortcuts along', () => {
  const { press, done, removals } = openPage(ON_DECISION, GO_TO)
  removals[0]!()
  press('r')
  press('g', { at: 20_000 })
  press('a', { at: 20_100 })
  assert.deepEqual(done, ['G A'])
})
