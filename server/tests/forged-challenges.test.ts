/** The open half of a sign-in in two steps, moved or put back with SQL by a person without the master key. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeStep, oneTimeCode } from '../src/security/one-time-code.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { whileHidden } from './hidden-rows.ts'
import { startTestService } from './test-service.ts'

let clockAheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + clockAheadMs })
const { installation } = api.service
const { control } = installation.storage

/** A person with an authenticator app, who can give a code of the next half-minute. */
async function personWithCodes(email: string) {
  const { id: organizationId } = await api.newOrganization()
  const client = await signedInOperator(api, { organizationId, email, role: 'owner' })
  const { secret } = (await client.call('account/two-factor.begin', { password: PASSWORD })).body
  const code = () => oneTimeCode(secret, codeStep(installation.nowMs()))
  assert.equal((await client.call('account/two-factor.confirm', { code: code() })).status, 200)
  clockAheadMs += 60_000
  return Object.assign(client, { email, code })
}

async function beginSignIn(email: string) {
  const browser = new ConsoleClient(api)
  const { challenge } = (await browser.signIn(email)).body
  return (code: string) => browser.call('open/sign-in.give-code', { challenge, code })
}

test('a challenge that was moved to another account does not stand in for the password of that account', async () => {
  const [victim, forger] = [await personWithCodes('moved@example.com'), await personWithCodes('mover@example.com')]
  const giveCode = await beginSignIn(forger.email)
  await control.query('UPDATE sign_in_challenges SET account_id = $2 WHERE account_id = $1', [
    ...[forger.accountId, victim.accountId],
  ])
  assert.equal((await giveCode(victim.code())).status, 401)
  assert.equal((await (await beginSignIn(victim.email))(victim.code())).status, 200)
})

test('a challenge that was prolonged, or out of sight while the password was changed, does not sign in', async () => {
  const owner = await personWithCodes('prolonged@example.com')
  const prolonged = await beginSignIn(owner.email)
  await control.query(
    `UPDATE sign_in_challenges SET expires_at = expires_at + interval '1 day' WHERE account_id = $1`,
    [owner.accountId],
  )
  assert.equal((await prolonged(owner.code())).status, 401)
  await control.query('DELETE FROM sign_in_challenges WHERE account_id = $1', [owner.accountId])

  const giveCode = await beginSignIn(owner.email)
  const changed = { current_password: PASSWORD, new_password: 'nine slow ferries north' }
  const challenges = { table: 'sign_in_challenges', where: 'account_id = $1', key: owner.accountId }
  const answer = await whileHidden(control, challenges, () => owner.call('account/account.change-password', changed))
  assert.equal(answer.status, 200)
  clockAheadMs += 60_000
  assert.equal((await giveCode(owner.code())).status, 401)
})
