import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns } from './turns.ts'

/** Work that takes a while, and notes when it begins and ends. */
function work(name: string, notes: string[]) {
  return async () => {
    notes.push(`${name} begins`)
    await new Promise(setImmediate)
    notes.push(`${name} ends`)
  }
}

test('work on the same key goes one after another, and a failure does not hold up the next', async () => {
  const [turns, notes]: [Turns, string[]] = [new Turns(), []]
  const failing = turns.take('a', () => Promise.reject(new Error('unexpected')))
  await Promise.all([
    assert.rejects(failing, /unexpected/),
    turns.take('a', work('first', notes)),
    turns.take('a', work('second', notes)),
  ])
  assert.deepEqual(notes, ['first begins', 'first ends', 'second begins', 'second ends'])
})

test('work on several keys waits for each of them, and never in a circle, not even for itself', async () => {
  const [turns, notes]: [Turns, string[]] = [new Turns(), []]
  await Promise.all([
    turns.take('a', work('a', [])), // what comes next has to wait for its first key, and then for its second
    turns.take('b', work('b', [])),
    turns.takeAll(['a', 'b'], work('first', notes)),
    turns.takeAll(['b', 'a'], work('second', notes)),
    turns.takeAll(['b', 'b'], work('third', notes)),
    turns.takeAll([], work('free', notes)),
  ])
  assert.deepEqual(notes[0], 'free begins')
  const inTurn = notes.filter((note) => !note.startsWith('free'))
  for (let n = 0; n < inTurn.length; n += 2) assert.equal(inTurn[n]!.split(' ')[0], inTurn[n + 1]!.split(' ')[0])
})
