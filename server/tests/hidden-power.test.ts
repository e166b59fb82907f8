/**
 * Rows that grant power, taken away with SQL by a person without the master key while another person acts, and put back
 * unchanged. What the act ended stays ended, and what it took for absent is not given to another person.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inviteOperator } from '../src/admin/invitations.ts'
import type { Role } from '../src/store/queries/operators.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { type HiddenRows, whileHidden } from './hidden-rows.ts'
import { startTestService } from './test-service.ts'

let clockAheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + clockAheadMs })
const { installation } = api.service
const { control } = installation.storage
const ACTOR = { type: 'system', id: 'test' } as const
const OTHER_PASSWORD = 'nine slow ferries north'
let people = 0

async function person(role: Role, organizationId?: string) {
  people += 1
  const id = organizationId ?? (await api.newOrganization()).id
  const email = `hidden-${people}@example.com`
  const client = await signedInOperator(api, { organizationId: id, email, role })
  return Object.assign(client, { organizationId: id, email })
}

/** Past what the node has cached of the log, once the rows are back. */
async function hidden<T>(rows: HiddenRows, act: () => Promise<T>): Promise<T> {
  const result = await whileHidden(control, rows, act)
  clockAheadMs += 1_000
  return result
}

async function linkTo(organizationId: string, email: string): Promise<string> {
  const invited = { email, name: 'Invited', role: 'viewer' }
  const sent = await inviteOperator(installation, { organizationId, actor: ACTOR }, invited)
  assert.ok('link' in sent, JSON.stringify(sent))
  return sent.link.split('#')[1]!
}

const accept = (token: string) =>
  new ConsoleClient(api).call('open/invitation.accept', { token, name: 'Invited', password: OTHER_PASSWORD })
const statusOf = async (client: ConsoleClient) => (await client.call('account/account.me')).status

test('an account whose operator is out of sight is not taken up by an invitation', async () => {
  const victim = await person('owner')
  const elsewhere = await api.newOrganization()
  const token = await linkTo(elsewhere.id, victim.email)
  const operator = { table: 'operators', where: 'id = $1', key: victim.operatorId }
  const [shown, accepted] = await hidden(operator, async () => [
    await victim.call('open/invitation.show', { token }),
    await accept(token),
  ])
  assert.equal(shown!.body.has_account, true)
  assert.match(accepted!.body.error.message, /There is an account with this e-mail/)
  assert.equal((await new ConsoleClient(api).signIn(victim.email, OTHER_PASSWORD)).status, 401)
  assert.equal((await new ConsoleClient(api).signIn(victim.email, PASSWORD)).status, 200)
  assert.equal(await statusOf(victim), 200)
})

test('a person whose operator is out of sight does not become a second operator of the organization', async () => {
  const ada = await person('admin')
  const token = await linkTo(ada.organizationId, 'second-name@example.com')
  const operator = { table: 'operators', where: 'id = $1', key: ada.operatorId }
  const joined = await hidden(operator, () => ada.call('account/invitation.join', { token }))
  assert.match(joined.body.error.message, /are an operator of .* already/)
})
