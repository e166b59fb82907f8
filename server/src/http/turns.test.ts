import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns } from './turns.ts'

/** Work that ends in a later turn of the event loop, and notes when it begins and ends. */
function work(name: string, notes: string[]) {
  return async () => {
    notes.push(`${name} begins`)
    await new Promise(setImmediate)
    notes.push(`${name} ends`)
  }
}

test('work on one key runs one at a time, and a failure does not block the work behind it', async () => {
  const [turns, notes]: [Turns, string[]] = [new Turns(), []]
  const failing = turns.take('a', () => Promise.reject(new Error('unexpected')))
  await Promise.all([
    assert.rejects(failing, /unexpected/),
    turns.take('a', work('first', notes)),
    turns.take('a', work('second', notes)),
  ])
  assert.deepEqual(notes, ['first begins', 'first ends', 'second begins', 'second ends'])
})

test('work on several keys waits for all of them, without deadlock, even when it names a key twice', async () => {
  const [turns, notes]: [Turns, string[]] = [new Turns(), []]
  await Promise.all([
    turns.take('a', work('a', [])), // so that the work below waits for its first key, and then for its second
    turns.take('b', work('b', [])),
    turns.takeAll(['a', 'b'], work('first', notes)),
    turns.takeAll(['b', 'a'], work('second', notes)),
    turns.takeAll(['b', 'b'], work('third', notes)),
    turns.takeAll([], work('free', notes)),
  ])
  assert.equal(notes[0], 'free begins', 'work without a key does not wait')
  const inTurn = notes.filter((note) => !note.startsWith('free'))
  assert.equal(inTurn.length, 6)
  for (let n = 0; n < inTurn.length; n += 2) assert.equal(inTurn[n]!.split(' ')[0], inTurn[n + 1]!.split(' ')[0])
})
