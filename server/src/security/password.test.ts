import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, isPassword } from './password.ts'
import { Turns } from './turns.ts'

/** A thousandth of the real cost. */
const CHEAP = { memory: 64, passes: 1, parallelism: 1 }

test('a client with many attempts under way delays another one by a few, not by all of them', async (t) => {
  const stored = await hashPassword('a quiet green ledger 42', CHEAP)
  // Threads answer in another order than they began.
  const begun: string[] = []
  const { run } = Turns.prototype
  t.mock.method(Turns.prototype, 'run', function (this: Turns, client: string, work: () => Promise<unknown>) {
    return run.call(this, client, () => {
      begun.push(client)
      return work()
    })
  })
  const attempt = (client: string) => isPassword('a quiet green ledger 42', stored, client)
  await Promise.all([...Array.from({ length: 64 }, () => attempt('192.0.2.7')), attempt('198.51.100.9')])
  assert.equal(begun.length, 65)
  assert.equal(begun.indexOf('198.51.100.9'), 3)
})

test('the password is right whether its accents are composed or not', async () => {
  const stored = await hashPassword('café on the old pier', CHEAP)
  assert.equal(await isPassword('cafe\u0301 on the old pier', stored, ''), true)
  assert.equal(await isPassword('cafe on the old pier', stored, ''), false)
  assert.equal(await isPassword('café on the old pier', undefined, ''), false)
})
