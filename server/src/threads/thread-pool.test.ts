import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Gate, TASKS } from '../../tests/pool-tasks.ts'
import { PoolBusy, ThreadPool } from './thread-pool.ts'

const pools: ThreadPool[] = []
function poolOf(options: ConstructorParameters<typeof ThreadPool>[0]): ThreadPool {
  const pool = new ThreadPool(options)
  pools.push(pool)
  return pool
}
after(() => Promise.all(pools.map((pool) => pool.close())))

const ofA = { organizationId: 'a' }
const ofB = { organizationId: 'b' }

test('a task of another organization runs before those that wait longer for the first', async () => {
  const pool = poolOf({ threadsMax: 1 })
  const gate = new Gate()
  const order: string[] = []
  const note = async (name: string, client: typeof ofA) => {
    await pool.run(TASKS.echo, name, client)
    order.push(name)
  }
  const held = pool.run(TASKS.passGate, { cells: gate.cells, name: 'held' }, ofA)
  await gate.reached()
  const waiting = [note('a1', ofA), note('a2', ofA), note('a3', ofA), note('b1', ofB)]
  gate.open()
  await Promise.all([held, ...waiting])
  assert.deepEqual(order, ['a1', 'b1', 'a2', 'a3'])
})

test('beyond its bound an organization is refused in words, and another is not', async () => {
  const pool = poolOf({ threadsMax: 1, waitingMax: 2 })
  const gate = new Gate()
  const held = pool.run(TASKS.passGate, { cells: gate.cells, name: 'held' }, ofA)
  const waiting = ['a1', 'a2'].map((name) => pool.run(TASKS.echo, name, ofA))
  await assert.rejects(pool.run(TASKS.echo, 'a3', ofA), (error) => {
    assert.ok(error instanceof PoolBusy)
    assert.match(error.message, /^2 checks and dry runs .* wait here for your organization already\. Try again/)
    return true
  })
  const admitted = pool.run(TASKS.echo, 'page', { ...ofA, isAdmitted: true })
  const other = pool.run(TASKS.echo, 'b1', ofB)
  gate.open()
  const ends = await Promise.all([held, ...waiting, admitted, other])
  assert.deepEqual(
    ends.map(({ name }) => name),
    ['held', 'a1', 'a2', 'page', 'b1'],
  )
})

test('a thread is used again, and there are never more than the pool may have', async () => {
  const pool = poolOf({ threadsMax: 2 })
  const gates = [new Gate(), new Gate()]
  const held = gates.map(({ cells }, index) => pool.run(TASKS.passGate, { cells, name: `${index}` }, ofA))
  const more = Array.from({ length: 10 }, (_, index) => pool.run(TASKS.echo, `more ${index}`, ofA))
  await Promise.all(gates.map((gate) => gate.reached()))
  assert.equal(pool.threads, 2)
  for (const gate of gates) gate.open()
  const threads = new Set<number>()
  for (const end of await Promise.all([...held, ...more])) {
    threads.add(end.thread)
  }
  assert.equal(threads.size, 2)
  assert.equal(pool.threads, 2)
})

test('slow tasks leave one thread to the quick ones', async () => {
  const pool = poolOf({ threadsMax: 2 })
  const gate = new Gate()
  const held = pool.run(TASKS.slowGate, { cells: gate.cells, name: 'held' }, ofA)
  const slow = pool.run(TASKS.slowEcho, 'slow', ofB)
  await gate.reached()
  let isSlowDone = false
  void slow.then(() => {
    isSlowDone = true
  })
  assert.equal((await pool.run(TASKS.echo, 'quick', ofA)).name, 'quick')
  assert.equal(isSlowDone, false)
  gate.open()
  assert.deepEqual([(await held).name, (await slow).name], ['held', 'slow'])
})

test('a task that never ends is ended by its budget, and the next one gets a new thread', async () => {
  const pool = poolOf({ threadsMax: 1 })
  const before = await pool.run(TASKS.echo, 'before', ofA)
  const spun = assert.rejects(pool.run(TASKS.brieflySpin, null, ofA), {
    name: 'TaskTooCostly',
    message: 'The policy takes longer than 0.05 s to test.',
  })
  const next = await pool.run(TASKS.echo, 'after', ofA)
  await spun
  assert.notEqual(next.thread, before.thread)
  assert.equal(pool.threads, 1)
})

test('a task that takes too much memory ends its thread and not the process', async () => {
  const pool = poolOf({ threadsMax: 1, heapMb: 16 })
  await assert.rejects(pool.run(TASKS.fill, null, ofA), {
    name: 'TaskTooCostly',
    message: 'The policy takes too much memory to test.',
  })
  assert.equal((await pool.run(TASKS.echo, 'after', ofA)).name, 'after')
})

test('an error of a function is thrown to its caller, and its thread goes on', async () => {
  const pool = poolOf({ threadsMax: 1 })
  const before = await pool.run(TASKS.echo, 'before', ofA)
  await assert.rejects(pool.run(TASKS.fail, null, ofA), /the function failed/)
  assert.deepEqual(await pool.run(TASKS.echo, 'before', ofA), before)
})

test('a task whose client has left is removed from the queue', async () => {
  const pool = poolOf({ threadsMax: 1, waitingMax: 1 })
  const gate = new Gate()
  const held = pool.run(TASKS.passGate, { cells: gate.cells, name: 'held' }, ofA)
  const client = new AbortController()
  const waiting = pool.run(TASKS.spin, null, { ...ofA, signal: client.signal })
  await gate.reached()
  client.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  // Its place is free again, and it never runs: it would take an hour.
  const next = pool.run(TASKS.echo, 'next', ofA)
  gate.open()
  assert.deepEqual([(await held).name, (await next).name], ['held', 'next'])
  await assert.rejects(pool.run(TASKS.echo, 'late', { ...ofA, signal: client.signal }), { name: 'AbortError' })
})

test('a running task whose client has left ends soon, long before its budget', async () => {
  const pool = poolOf({ threadsMax: 1 })
  const before = await pool.run(TASKS.echo, 'before', ofA)
  const client = new AbortController()
  const spinning = pool.run(TASKS.spin, null, { ...ofA, signal: client.signal })
  client.abort()
  await assert.rejects(spinning, { name: 'AbortError' })
  const next = await pool.run(TASKS.echo, 'next', ofA)
  assert.notEqual(next.thread, before.thread)
})

test('a closed pool fails what runs and what waits, and takes nothing new', async () => {
  const pool = poolOf({ threadsMax: 1 })
  const tasks = [pool.run(TASKS.spin, null, ofA), pool.run(TASKS.echo, 'waiting', ofA)]
  const ends = Promise.allSettled(tasks)
  await pool.close()
  assert.deepEqual(
    (await ends).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await assert.rejects(pool.run(TASKS.echo, 'late', ofA), /have been closed/)
})
