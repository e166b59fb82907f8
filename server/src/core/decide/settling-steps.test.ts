import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SETTLING_STEPS, type SettledBy, settled, settlesRightAfter, wordsOf } from './settling-steps.ts'

test('docs/deciding.md lists every way to settle a verdict, in order, with its verdict and its words', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../../docs/deciding.md'), 'utf8')
  const rows = [...guide.matchAll(/^\| `(\w+)` \| `(\w+)` \| ([^|]+) \| [^|]+ \|$/gm)]
  assert.deepEqual(
    rows.map(([, ...cells]) => cells),
    inOrder().map((by) => [by, settled(by).verdict, wordsOf(by)]),
  )
})

test('no two ways to settle a verdict share a key or their words', () => {
  const ways = SETTLING_STEPS.flatMap(({ settles }) => settles.map(({ by, words }) => [by, words] as const))
  assert.equal(new Set(ways.map(([by]) => by)).size, ways.length)
  assert.equal(new Set(ways.map(([, words]) => words)).size, ways.length)
})

test('a step that an altered trace names is written as it is', () => {
  assert.equal(wordsOf('made_up' as SettledBy), 'made_up')
  assert.equal(settlesRightAfter('made_up' as SettledBy), undefined)
})

/** The ways to settle a verdict in the order in which the engine comes to them. */
function inOrder(): SettledBy[] {
  const ways = SETTLING_STEPS.flatMap(({ settles }) => settles.map(({ by }): SettledBy => by))
  return SETTLING_STEPS.flatMap(({ key, settles }) => [
    ...settles.map(({ by }): SettledBy => by).filter((by) => settlesRightAfter(by) === undefined),
    ...ways.filter((by) => settlesRightAfter(by) === key),
  ])
}
