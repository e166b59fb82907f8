/** A stranger cannot tell a known e-mail from an unknown one: both take the same steps, with the same work. */
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { mock, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'

// Replaced before the service is loaded, which binds the function once.
const realArgon2 = crypto.argon2
const argon2 = mock.method(crypto, 'argon2')
syncBuiltinESMExports()
const { ConsoleClient, PASSWORD, signedInOperator } = await import('./console-client.ts')
const { hashPassword } = await import('../src/security/password.ts')
const { rewriteRow } = await import('./people.ts')
const { startTestService } = await import('./test-service.ts')

let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const { installation } = api.service
const { control } = installation.storage
const statements: string[] = []
const query = control.query.bind(control)
Object.assign(control, {
  query: (sql: string, params?: readonly unknown[]) => {
    statements.push(sql)
    return query(sql, params)
  },
})

/** What one attempt answers, hashes and asks the control database. */
async function attempt(email: string) {
  statements.length = 0
  argon2.mock.resetCalls()
  const { status, body } = await new ConsoleClient(api).signIn(email, 'not the password')
  const { code, message } = body.error
  const hashed = argon2.mock.calls.map(({ arguments: [algorithm, options] }) => {
    const { memory, passes, parallelism, tagLength } = options
    return { algorithm, memory, passes, parallelism, tagLength }
  })
  return { status, code, message, hashed, statements: [...statements] }
}

/** The attempts before a lock, the one that brings it, and one that meets it. */
async function attempts(email: string) {
  const made = []
  for (let tries = 0; tries < 6; tries++) made.push(await attempt(email))
  nowMs += 61 * 60_000
  return made
}

test('an unknown e-mail, a known one and one without a password take the same steps and the same work', async () => {
  const known = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'owner' })
  const password_hash = await hashPassword(PASSWORD)
  await rewriteRow(installation, { table: 'accounts', id: known.accountId }, { password_hash })
  const passkeyOnly = await signedInOperator(api, { organizationId: acme.id, email: 'bob@example.com', role: 'viewer' })
  await rewriteRow(installation, { table: 'accounts', id: passkeyOnly.accountId }, { password_hash: null })
  const unknown = await attempts('unknown@example.com')
  assert.deepEqual(
    unknown.map(({ status, hashed }) => [status, hashed.length]),
    [...Array(5).fill([401, 1]), [429, 0]],
  )
  for (const email of ['ada@example.com', 'bob@example.com']) {
    const made = await attempts(email)
    // The entry of the lock is written beside the hash, which takes longer; it begins with one more question.
    const [more] = made[4]!.statements.splice(-1)
    assert.match(more!, /FROM operators/)
    assert.deepEqual(made, unknown, email)
  }
})

test('the entry of a lock is written while the password is checked, not before', async () => {
  const eve = await signedInOperator(api, { organizationId: acme.id, email: 'eve@example.com', role: 'viewer' })
  for (let tries = 0; tries < 4; tries++) await attempt('eve@example.com')
  const { production } = api.service.installation.stores
  let isHashing = false
  const wasHashing: boolean[] = []
  const committed = Promise.withResolvers<void>()
  const commit = production.commit.bind(production)
  const committing = mock.method(production, 'commit', (change: Parameters<typeof commit>[0]) => {
    wasHashing.push(isHashing)
    committed.resolve()
    return commit(change)
  })
  argon2.mock.resetCalls()
  // The hash ends once the entry is on its way, so that a slow machine cannot end it earlier; or at last by itself.
  argon2.mock.mockImplementationOnce((algorithm, options, callback) => {
    isHashing = true
    realArgon2(algorithm, options, async (...result) => {
      await Promise.race([committed.promise, setTimeout(5_000, undefined, { ref: false })])
      isHashing = false
      callback(...result)
    })
  })
  const { status } = await attempt('eve@example.com')
  committing.mock.restore()
  assert.deepEqual([status, wasHashing, isHashing], [401, [true], false])
  const trail = { organizationId: acme.id, trailId: eve.operatorId, beforeSeq: undefined, limit: 10 }
  assert.ok((await production.auditLog.trail(trail)).some(({ type }) => type === 'operator.sign_in_locked'))
})
