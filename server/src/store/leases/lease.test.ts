import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestStorage } from '../../../tests/test-storage.ts'
import { readConfig } from '../../config.ts'
import { openStorage } from '../storage.ts'
import { Lease } from './lease.ts'

const place = await createTestStorage()
const storage = await openStorage(readConfig(place.env))
await storage.migrate()
after(async () => {
  await storage.close()
  await place.remove()
})

const leaseOf = (holder: string) => new Lease(storage.environments.sandbox, { name: 'job', holder, seconds: 60 })

test('a node that waits for a lease asks less and less often, and gets it once it is free', async () => {
  const [first, second] = [leaseOf('first'), leaseOf('second')]
  assert.equal(await first.isHeld(), true)
  const pauses: number[] = []
  const isAcquired = await second.acquireWithin(600_000, async (ms) => {
    pauses.push(ms)
    if (pauses.length === 10) await first.release()
  })
  assert.equal(isAcquired, true)
  assert.equal(pauses.length, 10)
  for (const [n, ms] of pauses.entries()) {
    const most = Math.min(25 * 2 ** n, 1_000)
    assert.ok(ms >= most / 2 && ms <= most, `pause ${n} of ${ms} ms`)
  }
  await second.release()
})

test('a node gives up on a lease that another one keeps', async () => {
  const [first, second] = [leaseOf('first'), leaseOf('second')]
  await first.isHeld()
  assert.equal(await second.acquireWithin(0), false)
  await first.release()
})
