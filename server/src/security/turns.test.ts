import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turns } from './turns.ts'

/** Work of several parties that ends when the test says so. */
function heldWork(turns: Turns) {
  const started: string[] = []
  const ends: (() => void)[] = []
  const begin = (party: string) =>
    turns.run(party, () => {
      started.push(party)
      return new Promise<void>((end) => ends.push(end))
    })
  const endOne = async () => {
    ends.shift()!()
    await nextTurn()
  }
  return { started, begin, endOne }
}

test('no more than the allowed number of pieces of work run at once', async () => {
  const { started, begin, endOne } = heldWork(new Turns(2))
  const all = Promise.all(['a', 'a', 'a', 'a', 'a'].map(begin))
  for (const startedSoFar of [2, 3, 4, 5, 5]) {
    assert.equal(started.length, startedSoFar)
    await endOne()
  }
  await all
})

test('a party with one piece of work waits for one of another party, not for all of them', async () => {
  const { started, begin, endOne } = heldWork(new Turns(1))
  const all = Promise.all(['many', 'many', 'many', 'many', 'one', 'other'].map(begin))
  for (let ended = 0; ended < 6; ended++) await endOne()
  await all
  assert.deepEqual(started, ['many', 'many', 'one', 'other', 'many', 'many'])
})

test('work that fails gives its place on', async () => {
  const turns = new Turns(1)
  await assert.rejects(
    turns.run('a', () => Promise.reject(new Error('broken'))),
    /broken/,
  )
  assert.equal(await turns.run('b', async () => 7), 7)
})
