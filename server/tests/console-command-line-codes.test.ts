/** Owners and admins who joined in the console get codes for the command line there, each for themselves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inviteOperator } from '../src/admin/invitations.ts'
import { findCommand } from '../src/cli/commands.ts'
import { HINTS } from '../src/cli/hints.ts'
import { byService } from './acts.ts'
import { Authenticator } from './authenticator.ts'
import { ConsoleClient, PASSWORD } from './console-client.ts'
import { startTestService } from './test-service.ts'

let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const { installation } = api.service
const acme = await api.newOrganization('Acme')
const other = await api.newOrganization('Other')

/** A person who joins by an invitation, and so has no codes. */
async function joined(organizationId: string, email: string, role: string): Promise<ConsoleClient> {
  const sent = await inviteOperator(installation, byService(organizationId), { email, name: 'Test', role })
  const browser = new ConsoleClient(api)
  const token = sent.link.split('#')[1]
  const accepted = await browser.call('open/invitation.accept', { token, name: 'Test', password: PASSWORD })
  assert.equal(accepted.status, 200, JSON.stringify(accepted.body))
  return browser
}

const run = (name: string, positionals: string[], options: Record<string, string> = {}) =>
  findCommand(name)!.run(installation, {
    positionals,
    options: { org: acme.id, ...options },
    caller: 'alice (uid 1000)',
    // biome-ignore lint/suspicious/noExplicitAny: every command returns another shape, and the tests read all of them.
  }) as Promise<any>

const begin = (who: ConsoleClient, password = PASSWORD, organization_id = acme.id) =>
  who.call('account/command-line-codes.begin', { organization_id, password })
const confirm = (who: ConsoleClient, input: { pending: string; code: string }) =>
  who.call('account/command-line-codes.confirm', { organization_id: acme.id, ...input })
const stateOf = async (who: ConsoleClient) =>
  (await who.call('account/command-line-codes.show')).body.organizations.map(
    ({ name, has_codes }: { name: string; has_codes: boolean }) => [name, has_codes],
  )

const ada = await joined(acme.id, 'ada@example.com', 'owner')
const ben = await joined(acme.id, 'ben@example.com', 'admin')

test('two managers without codes are told where to get them, and a shell alone still adds no operator', async () => {
  const add = { name: 'Cay', role: 'viewer' }
  await assert.rejects(run('operators add', ['cay@example.com'], add), { code: 'voucher_missing' })
  await assert.rejects(run('operators reset-code', ['ada@example.com']), { code: 'voucher_missing' })
  const asAda = { ...add, as: 'ada@example.com', code: '000000' }
  await assert.rejects(run('operators add', ['cay@example.com'], asAda), {
    code: 'no_codes',
    message: 'ada@example.com has no one-time codes.',
  })
  for (const code of ['voucher_missing', 'no_codes']) assert.match(HINTS[code]!, /Your account → Command line/)
})

test('an owner sets up codes in the console, and vouches with one at the command line', async () => {
  assert.deepEqual(await stateOf(ada), [['Acme', false]])
  assert.equal((await begin(ada, 'not the password')).body.error.code, 'password_wrong')
  const { secret, uri, pending } = (await begin(ada)).body
  assert.match(uri, /^otpauth:\/\/totp\/Verdigraph:ada%40example\.com/)
  assert.deepEqual(await stateOf(ada), [['Acme', false]], 'nothing changes before the first code')
  const app = new Authenticator(secret)
  assert.equal((await confirm(ada, { pending, code: '000000' })).body.error.code, 'code_wrong')
  const first = app.next(nowMs)
  assert.equal((await confirm(ada, { pending, code: first })).status, 200)
  assert.deepEqual(await stateOf(ada), [['Acme', true]])
  const add = { name: 'Cay', role: 'viewer', as: 'ada@example.com' }
  const usedAlready = run('operators add', ['cay@example.com'], { ...add, code: first })
  await assert.rejects(usedAlready, { code: 'code_wrong' })
  nowMs += 30_000
  const added = await run('operators add', ['cay@example.com'], { ...add, code: app.next(nowMs) })
  assert.equal(added.email, 'cay@example.com', JSON.stringify(added))
  const [operator] = (await ada.call('account/account.show')).body.organizations
  const trail = { organizationId: acme.id, trailId: operator.operator_id, beforeSeq: undefined, limit: 10 }
  const [entry] = await installation.stores.production.auditLog.trail(trail)
  assert.deepEqual([entry!.type, entry!.actor_id], ['operator.code_reset', operator.operator_id])
})

test('what one person began is of no use to another, in another session, or after ten minutes', async () => {
  const { secret, pending } = (await begin(ben)).body
  const code = () => new Authenticator(secret).next(nowMs)
  assert.equal((await confirm(ada, { pending, code: code() })).status, 409, 'another person')
  const elsewhere = new ConsoleClient(api)
  await elsewhere.signIn('ben@example.com')
  assert.equal((await confirm(elsewhere, { pending, code: code() })).status, 409, 'another session')
  const altered = pending.replace(/^./, (first: string) => (first === 'A' ? 'B' : 'A'))
  assert.equal((await confirm(ben, { pending: altered, code: code() })).status, 409, 'an altered one')
  nowMs += 10 * 60_000
  assert.equal((await confirm(ben, { pending, code: code() })).status, 409, 'too late')
  assert.deepEqual(await stateOf(ben), [['Acme', false]])
  assert.equal((await begin(ben, PASSWORD, other.id)).status, 404, 'another organization')
})
