import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue } from './fair-queue.ts'

const item = (organizationId: string, name: string) => ({ organizationId, name })
const any = () => true

function queueOf(...items: ReturnType<typeof item>[]) {
  const queue = new FairQueue<ReturnType<typeof item>>(3)
  for (const each of items) queue.add(each)
  return queue
}

function namesIn(queue: ReturnType<typeof queueOf>, fits: Parameters<typeof queue.take>[0] = any): string {
  const names: string[] = []
  for (let taken = queue.take(fits); taken; taken = queue.take(fits)) names.push(taken.name)
  return names.join(' ')
}

test('organizations take turns, and the items of one keep their order', () => {
  const queue = queueOf(item('a', 'a1'), item('a', 'a2'), item('a', 'a3'), item('b', 'b1'), item('c', 'c1'))
  assert.equal(namesIn(queue), 'a1 b1 c1 a2 a3')
})

test('an organization that had its turn waits for the others, also when it comes back', () => {
  const queue = queueOf(item('a', 'a1'), item('b', 'b1'), item('b', 'b2'))
  assert.equal(queue.take(any)?.name, 'a1')
  queue.add(item('a', 'a2'))
  assert.equal(namesIn(queue), 'b1 a2 b2')
})

test('an item that does not fit is passed over and keeps its place', () => {
  const queue = queueOf(item('a', 'slow1'), item('a', 'quick1'), item('b', 'slow2'))
  assert.equal(
    namesIn(queue, ({ name }) => name.startsWith('quick')),
    'quick1',
  )
  assert.deepEqual(new Set(namesIn(queue).split(' ')), new Set(['slow1', 'slow2']))
})

test('an organization may have a bounded number of items, whatever the others have', () => {
  const items = ['a1', 'a2', 'a3'].map((name) => item('a', name))
  const queue = queueOf(...items)
  assert.deepEqual([queue.isFull('a'), queue.isFull('b')], [true, false])
  queue.remove(items[1]!)
  assert.equal(queue.isFull('a'), false)
  assert.equal(namesIn(queue), 'a1 a3')
  assert.deepEqual(queue.clear(), [])
})
