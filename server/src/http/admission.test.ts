import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Admission } from './admission.ts'

/** Sends requests of one party that are never answered, until one is refused; returns how many were admitted. */
async function fill(admission: Admission, party: string): Promise<number> {
  for (let admitted = 0; ; admitted++) {
    const answering = admission.answer(party, () => new Promise<never>(() => {}))
    if ((await Promise.race([answering, undefined])) === 'refused') return admitted
  }
}

/** Admits requests and answers each at once. */
async function answer(admission: Admission, count: number): Promise<void> {
  for (let request = 0; request < count; request++) await admission.answer('a', async () => {})
}

test('a server that has answered nothing yet admits 256 requests, at most half of them from one party', async () => {
  const admission = new Admission({ nowMs: () => 0 })
  assert.equal(await fill(admission, 'a'), 128)
  assert.equal(await fill(admission, 'b'), 128)
})

test('a party gets its equal share of the slots also while others hold them all, up to twice the slots', async () => {
  const admission = new Admission({ nowMs: () => 0 })
  for (const party of ['a', 'b']) await fill(admission, party)
  assert.deepEqual([await fill(admission, 'c'), await fill(admission, 'd')], [86, 64])
  assert.equal(admission.isFull, false)
  for (const party of ['e', 'f', 'g', 'h']) await fill(admission, party)
  assert.equal(admission.isFull, true)
  assert.equal(await fill(admission, 'i'), 0)
})

test('an answered request frees its slot, whether it succeeded or failed', async () => {
  const admission = new Admission({ nowMs: () => 0 })
  const ends: (() => void)[] = []
  const held = () => admission.answer('a', () => new Promise<void>((resolve) => ends.push(resolve)))
  const first = held()
  while ((await fill(admission, 'a')) > 0);
  await admission.turn('a')
  ends[0]!()
  await first
  assert.equal(await fill(admission, 'a'), 1)
  const failing = new Admission({ nowMs: () => 0 })
  const fault = new Error('a fault')
  await assert.rejects(
    failing.answer('a', () => Promise.reject(fault)),
    fault,
  )
  assert.equal(await fill(failing, 'a'), 128)
})

test('a request holds a slot while it waits to be started, and none while its body arrives', async () => {
  const admission = new Admission({ nowMs: () => 0 })
  const starts = Array.from({ length: 130 }, () => admission.start('a'))
  assert.deepEqual((await Promise.all(starts)).slice(126), [true, true, false, false])
  assert.equal(await fill(admission, 'a'), 128, 'the started ones have given their slots back')
  assert.equal(await admission.start('a'), false)
})

test('a server that answers 3,000 requests per second admits half a second of them', async () => {
  let now = 10_000
  const admission = new Admission({ nowMs: () => now })
  await answer(admission, 3_000)
  now += 1_000
  assert.equal((await fill(admission, 'a')) + (await fill(admission, 'b')), 1_500)
})

test('a server that has answered nothing for a second admits no more than 256 requests', async () => {
  let now = 10_000
  const admission = new Admission({ nowMs: () => now })
  await answer(admission, 3_000)
  now += 2_000
  assert.equal((await fill(admission, 'a')) + (await fill(admission, 'b')), 256)
})
