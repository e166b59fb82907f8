import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { test } from 'node:test'
import { NameLookup } from './name-lookup.ts'

const ADDRESS: LookupAddress = { address: '93.184.216.34', family: 4 }

/** A resolver under control: names that begin with "dead" get no answer until they are let go. */
function controlled() {
  const asked: string[] = []
  const held = new Map<string, (error: Error) => void>()
  return {
    asked,
    held,
    times: (hostname: string) => asked.filter((name) => name === hostname).length,
    resolveAll: (hostname: string) => {
      asked.push(hostname)
      if (!hostname.startsWith('dead')) return Promise.resolve([ADDRESS])
      return new Promise<never>((_, reject) => held.set(hostname, reject))
    },
    letGo(hostname: string) {
      held.get(hostname)!(new Error('ENOTFOUND'))
      held.delete(hostname)
    },
  }
}

test('all who ask for one name share one lookup, and its answer for a moment', async () => {
  const resolver = controlled()
  const names = new NameLookup(resolver)
  const answers = await Promise.all(Array.from({ length: 50 }, () => names.find('one.test')))
  assert.deepEqual(answers[49], [ADDRESS])
  assert.deepEqual(await names.find('one.test'), [ADDRESS])
  assert.equal(resolver.times('one.test'), 1)
})

test('a name that gets no answer fails in time, holds one lookup, and holds up no other name', async () => {
  const resolver = controlled()
  const names = new NameLookup({ ...resolver, patienceMs: 50 })
  const waiting = Promise.allSettled(Array.from({ length: 100 }, () => names.find('dead.test')))
  assert.deepEqual(await names.find('other.test'), [ADDRESS])
  for (const result of await waiting) {
    assert.equal(result.status, 'rejected')
    assert.match(String((result as PromiseRejectedResult).reason), /dead\.test could not be looked up within 0\.05 s/)
  }
  // It still has its thread: whoever asks now hears so at once, and no second lookup is begun.
  await assert.rejects(names.find('dead.test'))
  assert.equal(resolver.times('dead.test'), 1)
  resolver.letGo('dead.test')
})

test('however many names get no answer, one that was found before is found again', async () => {
  const resolver = controlled()
  let nowMs = 0
  const names = new NameLookup({ ...resolver, patienceMs: 200, nowMs: () => nowMs })
  await names.find('known.test')
  nowMs += 5_000 // what was found is kept for a moment only
  const dead = Array.from({ length: 20 }, (_, index) => names.find(`dead-${index}.test`))
  assert.deepEqual(await names.find('known.test'), [ADDRESS])
  assert.equal(resolver.times('known.test'), 2)
  assert.equal(resolver.held.size, 2, 'fewer lookups at once than there are threads')
  await Promise.allSettled(dead)
})

test('names that got no answer last time leave room for new ones', async () => {
  const resolver = controlled()
  let nowMs = 0
  const names = new NameLookup({ ...resolver, patienceMs: 50, nowMs: () => nowMs })
  const dead = ['dead-1.test', 'dead-2.test', 'dead-3.test', 'dead-4.test']
  for (const name of dead) {
    const failed = assert.rejects(names.find(name))
    nowMs += 1_500
    resolver.letGo(name)
    await failed
  }
  nowMs -= 4_500
  await assert.rejects(names.find('dead-1.test'), /ENOTFOUND/, 'a failure is kept for a moment, too')
  assert.equal(resolver.times('dead-1.test'), 1)
  nowMs += 5_000
  const again = Promise.allSettled(dead.map((name) => names.find(name)))
  assert.equal(resolver.held.size, 1)
  assert.deepEqual(await names.find('new.test'), [ADDRESS])
  await again
})

test('a name that failed at once is found the next time, however many names get no answer', async () => {
  const resolver = controlled()
  let nowMs = 0
  let fails = true
  const names = new NameLookup({
    patienceMs: 50,
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

test('slow names take turns, and one keeps its place when those who asked have given up', async () => {
  const resolver = controlled()
  let nowMs = 0
  const names = new NameLookup({ ...resolver, patienceMs: 20, nowMs: () => nowMs })
  const slow = ['dead-1.test', 'dead-2.test', 'dead-3.test', 'dead-4.test']
  const letGoSlowly = async (hostname: string) => {
    nowMs += 10_000
    resolver.letGo(hostname)
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const name of slow) {
    await assert.rejects(names.find(name))
    await letGoSlowly(name)
  }
  nowMs += 10_000
  resolver.asked.length = 0
  // The last one is asked for first, and all the time; nobody waits long enough for the others.
  const askers = [...slow].reverse().map((name) => assert.rejects(names.find(name), /could not be looked up/))
  await Promise.all(askers)
  for (const running of ['dead-4.test', 'dead-1.test', 'dead-2.test', 'dead-3.test']) {
    await letGoSlowly(running)
    nowMs += 10_000
    await assert.rejects(names.find('dead-4.test'), /could not be looked up/)
  }
  assert.deepEqual(resolver.asked, ['dead-4.test', 'dead-1.test', 'dead-2.test', 'dead-3.test', 'dead-4.test'])

  // One that answers quickly in its turn is quick again, though nobody waited for it.
  await letGoSlowly('dead-4.test')
  nowMs += 10_000
  const last = assert.rejects(names.find('dead-1.test'))
  const quick = assert.rejects(names.find('dead-2.test'))
  await Promise.all([last, quick])
  await letGoSlowly('dead-1.test')
  resolver.letGo('dead-2.test')
  await new Promise((resolve) => setImmediate(resolve))
  nowMs += 5_000
  const third = assert.rejects(names.find('dead-3.test'))
  const again = assert.rejects(names.find('dead-2.test'), /ENOTFOUND/)
  resolver.letGo('dead-2.test')
  await Promise.all([again, third])
})
