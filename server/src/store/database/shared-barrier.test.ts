import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sharedBarrier } from './shared-barrier.ts'

test('callers at once share a barrier, and those during it share the next', async () => {
  const ends: ((error?: Error) => void)[] = []
  const barrier = sharedBarrier(
    () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
  )
  const first = [barrier(), barrier()]
  await setImmediate()
  assert.equal(ends.length, 1)
  const second = [barrier(), barrier()]
  let isPassed = false
  void second[0]!.then(() => {
    isPassed = true
  })
  ends[0]!()
  await Promise.all(first)
  await setImmediate()
  assert.deepEqual([ends.length, isPassed], [2, false])
  ends[1]!()
  await Promise.all(second)
})

test('a barrier that fails, fails for its callers, and the next is tried', async () => {
  let runs = 0
  const barrier = sharedBarrier(async () => {
    if (++runs === 1) throw new Error('no standby')
  })
  const failing = [barrier(), barrier()]
  await assert.rejects(Promise.all(failing), /no standby/)
  await barrier()
  assert.equal(runs, 2)
})
