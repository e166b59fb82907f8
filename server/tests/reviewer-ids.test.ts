/** Reviews through the API: none is recorded under the id of an operator, and each names the key that sent it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const olga = await signedInOperator(api, { organizationId: acme.id, email: 'olga@example.com', role: 'owner' })
const decision = await underwrite(acme, await createEntity(acme, 'first'), {
  requested_amount: 1_000,
  currency: 'EUR',
})
const review = (reviewer: { id: string; name?: string }) =>
  acme.post(`/v1/decisions/${decision.id}/reviews`, { verdict: 'approve', reviewer, reason: 'Seen.' })

test('a review under the id of an operator or of an account is refused, in every spelling, and records nothing', async () => {
  const { operatorId, accountId } = olga
  const spellings = [
    operatorId,
    accountId,
    operatorId.toUpperCase(),
    ` ${operatorId}\n`,
    `opr\u200b_${operatorId.slice(4)}`,
    `ｏｐｒ＿${operatorId.slice(4)}`,
    `оpr_${operatorId.slice(4)}`,
    `Olga (${operatorId})`,
    'opr_01jd0000000000000000000000',
  ]
  for (const id of spellings) {
    const { status, body } = await review({ id, name: 'Olga' })
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'validation_failed', '/reviewer/id'], id)
    assert.match(body.error.message, /belong to people who sign in to the console.*your own id of the reviewer/, id)
  }
  const named = await review({ id: 'crm-7', name: operatorId })
  assert.deepEqual([named.status, named.body.error.param], [400, '/reviewer/name'])
  const sandbox = api.service.installation.storage.environments.sandbox
  assert.deepEqual(await sandbox.query('SELECT id FROM reviews WHERE org_id = $1', [acme.id]), [])
})

test('a review under an id of the caller is recorded, and the decision says through which key it came', async () => {
  for (const id of ['crm-7', 'opera_7', 'copr_7', 'oprah', 'олег-7', 'olga@example.com'])
    assert.equal((await review({ id })).status, 201, id)
  const { body } = await olga.call(`${acme.id}/sandbox/decisions.show`, { id: decision.id })
  const [shown] = body.since.reviews
  assert.deepEqual([shown.reviewer, shown.through_key.name], ['crm-7', 'Test'])
  const replay = (await acme.get(`/v1/decisions/${decision.id}/replay`)).body
  assert.deepEqual(replay.reviews[0].reviewer, { id: 'crm-7' }, 'the API returns what its caller sent')
})
