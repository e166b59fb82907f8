import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { test } from 'node:test'
import { NameLookup } from './name-lookup.ts'

const ADDRESS: LookupAddress = { address: '93.184.216.34', family: 4 }

/** A resolver under the test's control: names that begin with "dead" get no answer until the test fails them. */
function controlled() {
  const asked: string[] = []
  const running = new Map<string, (error: Error) => void>()
  return {
    asked,
    running,
    times: (hostname: string) => asked.filter((name) => name === hostname).length,
    resolveAll: (hostname: string) => {
      asked.push(hostname)
      if (!hostname.startsWith('dead')) return Promise.resolve([ADDRESS])
      return new Promise<never>((_, reject) => running.set(hostname, reject))
    },
    fail(hostname: string) {
      running.get(hostname)!(new Error('ENOTFOUND'))
      running.delete(hostname)
    },
  }
}

test('concurrent callers of one name share one lookup, and its result is cached', async () => {
  const resolver = controlled()
  const names = new NameLookup(resolver)
  const answers = await Promise.all(Array.from({ length: 50 }, () => names.find('one.test')))
  assert.deepEqual(answers[49], [ADDRESS])
  assert.deepEqual(await names.find('one.test'), [ADDRESS])
  assert.equal(resolver.times('one.test'), 1)
})

test('a name without an answer times out, runs one lookup only, and delays no other name', async () => {
  const resolver = controlled()
  const names = new NameLookup({ ...resolver, timeoutMs: 50 })
  const waiting = Promise.allSettled(Array.from({ length: 100 }, () => names.find('dead.test')))
  assert.deepEqual(await names.find('other.test'), [ADDRESS])
  for (const result of await waiting) {
    assert.equal(result.status, 'rejected')
    assert.match(String((result as PromiseRejectedResult).reason), /dead\.test could not be looked up within 0\.05 s/)
  }
  await assert.rejects(names.find('dead.test'))
  assert.equal(resolver.times('dead.test'), 1, 'its lookup is still running')
  resolver.fail('dead.test')
})

test('a caller of a lookup that has run for longer than the timeout gets the error at once', async () => {
  const resolver = controlled()
  let nowMs = 0
  const names = new NameLookup({ ...resolver, timeoutMs: 60_000, nowMs: () => nowMs })
  const first = assert.rejects(names.find('dead.test'), /ENOTFOUND/)
  nowMs += 60_001
  const askedMs = performance.now()
  await assert.rejects(names.find('dead.test'), /could not be looked up within 60 s/)
  assert.ok(performance.now() - askedMs < 30_000)
  assert.equal(resolver.times('dead.test'), 1)
  resolver.fail('dead.test')
  await first
})

test('however many names get no answer, a name that was found before is found again', async () => {
  const resolver = controlled()
  let nowMs = 0
  const names = new NameLookup({ ...resolver, timeoutMs: 200, nowMs: () => nowMs })
  await names.find('known.test')
  nowMs += 5_000 // Its cached result has expired.
  const dead = Array.from({ length: 20 }, (_, index) => names.find(`dead-${index}.test`))
  assert.deepEqual(await names.find('known.test'), [ADDRESS])
  assert.equal(resolver.times('known.test'), 2)
  assert.equal(resolver.running.size, 2, 'one thread is reserved for fast names')
  await Promise.allSettled(dead)
})

test('fast names that begin to hang count as slow, so a thread stays reserved for other fast names', async () => {
  const resolver = controlled()
  let nowMs = 0
  let hangs = false
  const names = new NameLookup({
    timeoutMs: 50,
    nowMs: () => nowMs,
    resolveAll: (hostname) => resolver.resolveAll(hangs && hostname !== 'well.test' ? `dead-${hostname}` : hostname),
  })
  for (const name of ['one.test', 'two.test', 'well.test']) await names.find(name)
  hangs = true
  nowMs += 5_000
  const hanging = ['one.test', 'two.test'].map((name) => names.find(name))
  nowMs += 2_000
  const unknown = names.find('unknown.test')
  assert.equal(resolver.running.size, 2)
  assert.deepEqual(await names.find('well.test'), [ADDRESS])
  await Promise.allSettled([...hanging, unknown])
})

test('names whose last lookup was slow leave a thread for new names', async () => {
  const resolver = controlled()
  let nowMs = 0
  const names = new NameLookup({ ...resolver, timeoutMs: 50, nowMs: () => nowMs })
  const dead = ['dead-1.test', 'dead-2.test', 'dead-3.test', 'dead-4.test']
  for (const name of dead) {
    const failed = assert.rejects(names.find(name))
    nowMs += 1_500
    resolver.fail(name)
    await failed
  }
  nowMs -= 4_500
  await assert.rejects(names.find('dead-1.test'), /ENOTFOUND/, 'a failure is cached, too')
  assert.equal(resolver.times('dead-1.test'), 1)
  nowMs += 5_000
  const again = Promise.allSettled(dead.map((name) => names.find(name)))
  assert.equal(resolver.running.size, 1)
  assert.deepEqual(await names.find('new.test'), [ADDRESS])
  await again
})

test('a name that failed fast is found the next time, however many names get no answer', async () => {
  const resolver = controlled()
  let nowMs = 0
  let fails = true
  const names = new NameLookup({
    timeoutMs: 50,
    nowMs: () => nowMs,
    resolveAll: (hostname) =>
      hostname === 'well.test' && fails ? Promise.reject(new Error('EAI_AGAIN')) : resolver.resolveAll(hostname),
  })
  await assert.rejects(names.find('well.test'), /EAI_AGAIN/)
  fails = false
  nowMs += 5_000
  const dead = Promise.allSettled(Array.from({ length: 20 }, (_, index) => names.find(`dead-${index}.test`)))
  assert.deepEqual(await names.find('well.test'), [ADDRESS])
  await dead
})

test('slow names take turns, and a name stays queued when its callers have timed out', async () => {
  const resolver = controlled()
  let nowMs = 0
  const names = new NameLookup({ ...resolver, timeoutMs: 20, nowMs: () => nowMs })
  const slow = ['dead-1.test', 'dead-2.test', 'dead-3.test', 'dead-4.test']
  const failSlowly = async (hostname: string) => {
    nowMs += 10_000
    resolver.fail(hostname)
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const name of slow) {
    await assert.rejects(names.find(name))
    await failSlowly(name)
  }
  nowMs += 10_000
  resolver.asked.length = 0
  // dead-4 is asked for first, and again and again; the callers of the others have timed out before their turn.
  const callers = slow.toReversed().map((name) => assert.rejects(names.find(name), /could not be looked up/))
  await Promise.all(callers)
  for (const running of slow.toReversed()) {
    await failSlowly(running)
    nowMs += 10_000
    await assert.rejects(names.find('dead-4.test'), /could not be looked up/)
  }
  assert.deepEqual(resolver.asked, [...slow.toReversed(), 'dead-4.test'])

  // A lookup that ends fast makes its name fast again, even when all callers have timed out.
  await failSlowly('dead-4.test')
  nowMs += 10_000
  const last = assert.rejects(names.find('dead-1.test'))
  const fast = assert.rejects(names.find('dead-2.test'))
  await Promise.all([last, fast])
  await failSlowly('dead-1.test')
  resolver.fail('dead-2.test')
  await new Promise((resolve) => setImmediate(resolve))
  nowMs += 5_000
  const third = assert.rejects(names.find('dead-3.test'))
  const again = assert.rejects(names.find('dead-2.test'), /ENOTFOUND/)
  resolver.fail('dead-2.test')
  await Promise.all([again, third])
})

test('a full cache evicts cached names first, and the callers of an evicted queued name fail at once', async () => {
  const resolver = controlled()
  const names = new NameLookup({ ...resolver, timeoutMs: 60_000, namesMax: 5 })
  await names.find('cached.test')
  const failed: number[] = []
  const wait = (n: number) => names.find(`dead-${n}.test`).catch(() => void failed.push(n))
  // Two unproven lookups run; the others are queued behind them.
  const waiting = [0, 1, 2, 3, 4].map(wait)
  await new Promise(setImmediate)
  assert.deepEqual(failed, [], 'the cached name made room')
  waiting.push(wait(5))
  await new Promise(setImmediate)
  assert.deepEqual(failed, [2], 'then the oldest queued name, not a running one')
  while (resolver.running.size > 0) {
    for (const name of [...resolver.running.keys()]) resolver.fail(name)
    await new Promise(setImmediate)
  }
  await Promise.all(waiting)
})
