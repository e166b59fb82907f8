import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyedMutex } from './keyed-mutex.ts'

/** Work that ends on a later tick of the event loop, and logs when it begins and ends. */
function work(name: string, log: string[]) {
  return async () => {
    log.push(`${name} begins`)
    await new Promise(setImmediate)
    log.push(`${name} ends`)
  }
}

test('work on one key runs one at a time, and a failure does not block the work behind it', async () => {
  const [mutex, log]: [KeyedMutex, string[]] = [new KeyedMutex(), []]
  const failing = mutex.lock('a', () => Promise.reject(new Error('unexpected')))
  await Promise.all([
    assert.rejects(failing, /unexpected/),
    mutex.lock('a', work('first', log)),
    mutex.lock('a', work('second', log)),
  ])
  assert.deepEqual(log, ['first begins', 'first ends', 'second begins', 'second ends'])
})

test('work on several keys waits for all of them, without deadlock, even when it names a key twice', async () => {
  const [mutex, log]: [KeyedMutex, string[]] = [new KeyedMutex(), []]
  await Promise.all([
    mutex.lock('a', work('a', [])), // so that the work below waits for its first key, and then for its second
    mutex.lock('b', work('b', [])),
    mutex.lockAll(['a', 'b'], work('first', log)),
    mutex.lockAll(['b', 'a'], work('second', log)),
    mutex.lockAll(['b', 'b'], work('third', log)),
    mutex.lockAll([], work('free', log)),
  ])
  assert.equal(log[0], 'free begins', 'work without a key does not wait')
  const serialized = log.filter((line) => !line.startsWith('free'))
  assert.equal(serialized.length, 6)
  for (let n = 0; n < serialized.length; n += 2)
    assert.equal(serialized[n]!.split(' ')[0], serialized[n + 1]!.split(' ')[0])
})

test('work that waits too long for its key is not begun, nor does it hold up the work behind it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const [mutex, log]: [KeyedMutex, string[]] = [new KeyedMutex(), []]
  const mayEnd = Promise.withResolvers<void>()
  const first = mutex.lock('a', () => mayEnd.promise)
  const late = mutex.lockWithin('a', 1_000, work('late', log))
  t.mock.timers.tick(1_000)
  assert.equal(await late, undefined)
  const next = mutex.lockWithin('a', 1_000, work('next', log))
  mayEnd.resolve()
  await Promise.all([first, next])
  t.mock.timers.tick(1_000)
  assert.deepEqual(log, ['next begins', 'next ends'])
})
