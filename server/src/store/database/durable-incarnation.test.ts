import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseUnavailable } from './database.ts'
import { DurableIncarnation } from './durable-incarnation.ts'

const LONG_MS = 60_000

/** A connection whose write reaches a standby, or breaks, when the test says so. */
function connectionTo(incarnation: string) {
  const write = Promise.withResolvers<void>()
  const done = { began: 0, closed: 0 }
  return {
    ...write,
    done,
    incarnation,
    confirm() {
      done.began++
      return write.promise
    },
    close: () => void done.closed++,
  }
}

test('connections to one incarnation share one write, and later ones need none', async () => {
  const durable = new DurableIncarnation()
  const [first, second, third] = [connectionTo('1'), connectionTo('1'), connectionTo('1')]
  const both = [durable.require(first, LONG_MS), durable.require(second, LONG_MS)]
  first.resolve()
  await Promise.all(both)
  await durable.require(third, LONG_MS)
  assert.deepEqual(
    [first, second, third].map(({ done }) => done),
    [
      { began: 1, closed: 0 },
      { began: 0, closed: 0 },
      { began: 0, closed: 0 },
    ],
  )
  assert.equal(durable.known, '1')
})

test('callers who gave up leave one write behind, whose connection closes at its end', async () => {
  const durable = new DurableIncarnation()
  const connections = Array.from({ length: 5 }, () => connectionTo('1'))
  for (const connection of connections) await assert.rejects(durable.require(connection, 1), DatabaseUnavailable)
  assert.deepEqual(
    connections.map(({ done }) => done),
    [{ began: 1, closed: 0 }, ...Array.from({ length: 4 }, () => ({ began: 0, closed: 1 }))],
  )
  const [waiting] = connections
  waiting!.resolve()
  await waiting!.promise
  await durable.require(connectionTo('1'), LONG_MS)
  assert.deepEqual(waiting!.done, { began: 1, closed: 1 })
})

test('a commit of unknown fate during the write needs another write', async () => {
  const durable = new DurableIncarnation()
  const [first, second] = [connectionTo('1'), connectionTo('1')]
  await assert.rejects(durable.require(first, 1), DatabaseUnavailable)
  durable.noteUnknownCommit()
  const required = durable.require(second, LONG_MS)
  first.resolve()
  await first.promise
  assert.equal(durable.known, undefined)
  second.resolve()
  await required
  assert.equal(second.done.began, 1)
})

test('a write that is abandoned confirms nothing, and the next connection writes itself', async () => {
  const durable = new DurableIncarnation()
  const [old, next] = [connectionTo('1'), connectionTo('2')]
  await assert.rejects(durable.require(old, 1), DatabaseUnavailable)
  durable.abandon()
  assert.deepEqual(old.done, { began: 1, closed: 1 })
  old.resolve()
  await old.promise
  assert.equal(durable.known, undefined)
  next.resolve()
  await durable.require(next, LONG_MS)
  assert.equal(durable.known, '2')
})

test('a connection that waited for an abandoned write begins no other one', async () => {
  const durable = new DurableIncarnation()
  const [first, second, next] = [connectionTo('1'), connectionTo('1'), connectionTo('2')]
  const both = [durable.require(first, LONG_MS), durable.require(second, LONG_MS)]
  durable.abandon()
  first.resolve()
  const results = await Promise.allSettled(both)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual([second.done, first.done.closed], [{ began: 0, closed: 1 }, 1])
  next.resolve()
  await durable.require(next, LONG_MS)
  assert.equal(durable.known, '2')
})

test('a connection that breaks fails all that wait for its write', async () => {
  const durable = new DurableIncarnation()
  const [first, second] = [connectionTo('1'), connectionTo('1')]
  const both = [durable.require(first, LONG_MS), durable.require(second, LONG_MS)]
  first.reject(new DatabaseUnavailable('the connection broke'))
  const results = await Promise.allSettled(both)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual([first.done.closed, second.done.closed], [1, 1])
})
