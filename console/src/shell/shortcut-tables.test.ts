import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GO_TO } from './pages.ts'
import {
  EVERYWHERE,
  IN_PLAYGROUND,
  IN_REVIEW_QUEUE,
  ON_DECISION,
  type ShortcutGroup,
  writeKey,
} from './shortcut-tables.ts'

/** The groups whose keys a person can press at the same time. The drawer of a case can show its whole decision. */
const TOGETHER: Readonly<Record<string, readonly ShortcutGroup[]>> = {
  'a decision': [EVERYWHERE, GO_TO, ON_DECISION],
  'the playground': [EVERYWHERE, GO_TO, IN_PLAYGROUND],
  'the review queue': [EVERYWHERE, GO_TO, IN_REVIEW_QUEUE, ON_DECISION],
}

for (const [page, groups] of Object.entries(TOGETHER)) {
  const keys = groups.flatMap(({ shortcuts }) => shortcuts.flatMap((shortcut) => shortcut.keys))

  test(`no two shortcuts of ${page} share a key`, () => {
    // Dialogs listen for Escape themselves, and the queue hears it only while none is open.
    const others = keys.filter((key) => key !== 'Escape')
    const shared = others.filter((key, index) => others.indexOf(key) !== index)
    assert.deepEqual(shared, [])
  })

  test(`no key of ${page} acts where a sequence begins with it`, () => {
    const beginnings = new Set(keys.filter((key) => key.includes(' ')).map((key) => key.split(' ')[0]))
    assert.deepEqual(
      keys.filter((key) => beginnings.has(key)),
      [],
    )
  })
}

test('a button shows a key or a chord in one text', () => {
  assert.deepEqual(['M', 'Escape', 'Mod+Enter'].map(writeKey), ['M', 'Esc', 'Ctrl ↵'])
})
