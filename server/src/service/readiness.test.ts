import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Readiness } from './readiness.ts'

test('callers at the same time share one look at the databases, and the next caller gets a new one', async () => {
  let looks = 0
  let answer = (_problem: string | undefined) => {}
  const readiness = new Readiness(() => {
    looks++
    return new Promise((resolve) => {
      answer = resolve
    })
  })
  const asked = Array.from({ length: 100 }, () => readiness.status())
  assert.equal(looks, 1)
  answer('disk_full')
  assert.deepEqual([...new Set(await Promise.all(asked))], ['disk_full'])

  const next = readiness.status()
  assert.equal(looks, 2)
  answer(undefined)
  assert.equal(await next, 'ready')
})

test('databases that give no answer count as unreachable', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const status = new Readiness(() => new Promise(() => {})).status()
  t.mock.timers.tick(2_000)
  assert.equal(await status, 'database_unreachable')
})

test('a draining node is not ready, whatever its databases say, and does not ask them', async () => {
  const readiness = new Readiness(() => Promise.reject(new Error('asked')))
  readiness.startDraining()
  assert.equal(await readiness.status(), 'draining')
})
