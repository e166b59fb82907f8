import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, isPassword } from './password.ts'

/** A thousandth of the real cost. */
const CHEAP = { memory: 64, passes: 1, parallelism: 1 }

test('a client with many attempts under way delays another one by a few, not by all of them', async () => {
  const stored = await hashPassword('a quiet green ledger 42', CHEAP)
  const answered: string[] = []
  const attempt = async (client: string) => {
    await isPassword('a quiet green ledger 42', stored, client)
    answered.push(client)
  }
  await Promise.all([...Array.from({ length: 64 }, () => attempt('192.0.2.7')), attempt('198.51.100.9')])
  assert.ok(answered.indexOf('198.51.100.9') < 4, `answered as number ${answered.indexOf('198.51.100.9')} of 65`)
})

test('the password is right whether its accents are composed or not', async () => {
  const stored = await hashPassword('café on the old pier', CHEAP)
  assert.equal(await isPassword('cafe\u0301 on the old pier', stored, ''), true)
  assert.equal(await isPassword('cafe on the old pier', stored, ''), false)
  assert.equal(await isPassword('café on the old pier', undefined, ''), false)
})
