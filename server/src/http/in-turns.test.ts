import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTurns } from './in-turns.ts'

class Counter {
  #count = 0
  readonly name = 'counter'

  async next(step: number): Promise<number> {
    this.#count += step
    return this.#count
  }

  peek(): number {
    return this.#count
  }

  async failing(): Promise<never> {
    throw new Error('no answer')
  }
}

test('an answer is handed over in a turn; what is no promise, and an error, are passed on at once', async () => {
  let turns = 0
  let begin = () => {}
  const counter = inTurns(new Counter(), () => {
    turns += 1
    return new Promise<void>((resolve) => {
      begin = resolve
    })
  })
  let isHandedOver = false
  const next = counter.next(2).then((value) => {
    isHandedOver = true
    return value
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([turns, isHandedOver], [1, false])
  begin()
  assert.equal(await next, 2)
  assert.deepEqual([counter.peek(), counter.name], [2, 'counter'])
  await assert.rejects(counter.failing(), /no answer/)
  assert.equal(turns, 1)
})

test('a method that was replaced later is the one that is called', async () => {
  const store = { read: async () => 'old' }
  const wrapped = inTurns(store, async () => {})
  store.read = async () => 'new'
  assert.equal(await wrapped.read(), 'new')
})

test('the queries of a family take turns as well', async () => {
  let turns = 0
  const store = inTurns({ decisions: { page: async () => 'page' } }, async () => {
    turns += 1
  })
  assert.deepEqual([await store.decisions.page(), turns], ['page', 1])
})
