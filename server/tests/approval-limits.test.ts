/** Up to which amounts people and API keys approve, and what a second person signs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import type { ApprovalLimit } from '../src/core/approval-limits.ts'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const acme = await api.newOrganization('Acme')
const person = (email: string, role: 'owner' | 'reviewer') =>
  signedInOperator(api, { organizationId: acme.id, email: `${email}@example.com`, role })
const [olga, maren, jonas] = [
  await person('olga', 'owner'),
  await person('maren', 'reviewer'),
  await person('jonas', 'reviewer'),
]
const WHY = 'The register extract of 12 November shows it.'

async function ask(who: ConsoleClient, name: string, input: object, environment = 'sandbox') {
  const { status, body } = await who.call(`${acme.id}/${environment}/${name}`, input)
  return { status, code: body.error?.code as string | undefined, message: body.error?.message as string, body }
}

const limit = (type: 'role' | 'operator' | 'api_key', id: string, alone: number, second: number | null = null) =>
  ({ holder: { type, id }, product: null, currency: 'EUR', alone, second }) satisfies ApprovalLimit

async function setLimits(limits: readonly ApprovalLimit[], environment = 'sandbox') {
  const { status, message } = await ask(olga, 'approval-limits.set', { limits, reason: WHY }, environment)
  assert.equal(status, 200, message)
}

/** A case of requests for euros that wait for a person. */
async function caseOf(externalId: string, amounts: readonly number[]) {
  const entityId = await createEntity(acme, externalId)
  const ids: string[] = []
  for (const requested_amount of amounts)
    ids.push((await underwrite(acme, entityId, { requested_amount, currency: 'EUR' })).id)
  const id = `cas_${ids[0]!.slice(4)}`
  return {
    id,
    ids,
    entityId,
    show: async (who = maren) => (await ask(who, 'cases.show', { id })).body,
    decide: (who: ConsoleClient) =>
      ask(who, 'cases.decide', {
        id,
        reason: WHY,
        total_confirmed: true,
        verdicts: ids.map((decision_id, index) => ({
          decision_id,
          verdict: 'approve',
          recommended_limit: amounts[index],
          excess_confirmed: true,
        })),
      }),
  }
}

test('above the limit of a reviewer nothing is recorded until a second person signs the same', async () => {
  await setLimits([limit('role', 'reviewer', 5_000, 20_000)])
  const { id, ids, decide, show } = await caseOf('four eyes', [5_001])
  const first = await decide(maren)
  assert.equal(first.status, 200, first.message)
  assert.deepEqual(first.body.reviews, [])
  const { signature_id } = first.body
  const shown = await show()
  assert.equal(shown.end, null)
  assert.equal(shown.assignee, null)
  assert.deepEqual(shown.signature, { id: signature_id, by: 'Test', by_id: maren.operatorId })
  assert.equal(shown.signed.reason, WHY)
  assert.deepEqual(shown.signed.verdicts, [
    { decision_id: ids[0], verdict: 'approve', conditions: [], limit: { amount: 5_001, currency: 'EUR' } },
  ])
  assert.equal((await decide(jonas)).code, 'case_signed')
  assert.equal((await ask(maren, 'cases.sign', { id, signature_id })).code, 'second_person_needed')
  const own = (await ask(maren, 'cases.list', { holder: 'to_sign' })).body
  assert.deepEqual([own.cases, own.counts.to_sign], [[], 0])
  const listed = (await ask(jonas, 'cases.list', { holder: 'to_sign' })).body
  assert.deepEqual([listed.cases.map((each: { id: string }) => each.id), listed.counts.to_sign], [[id], 1])
  assert.equal((await ask(maren, 'cases.take-next', {})).body.id, null, 'not to its own signer')
  const second = await ask(jonas, 'cases.sign', { id, signature_id })
  assert.equal(second.status, 200, second.message)
  const ended = await show()
  assert.equal(ended.end.limit.amount, 5_001)
  assert.deepEqual([ended.end.by_id, ended.end.reason], [jonas.operatorId, WHY])
  assert.equal(ended.signature.by_id, maren.operatorId)
  assert.equal((await ask(jonas, 'cases.sign', { id, signature_id })).code, 'case_decided')
})

test('at the limit one person decides, and two requests are added up', async () => {
  await setLimits([limit('role', 'reviewer', 5_000)])
  const alone = await (await caseOf('at the limit', [5_000])).decide(maren)
  assert.equal(alone.body.reviews.length, 1)
  const parts = await (await caseOf('in parts', [3_000, 2_001])).decide(maren)
  assert.deepEqual(parts.body.reviews, [])
  assert.ok(parts.body.signature_id)
})

test('who may not sign for so much second is refused, and an owner without a row is not', async () => {
  await setLimits([limit('role', 'reviewer', 5_000, 20_000), limit('operator', jonas.operatorId, 5_000, 6_000)])
  const { id, decide } = await caseOf('a lot', [6_001])
  const { signature_id } = (await decide(maren)).body
  const refused = await ask(jonas, 'cases.sign', { id, signature_id })
  assert.deepEqual([refused.status, refused.code], [403, 'approval_limit_exceeded'])
  assert.match(refused.message, /up to 6000 EUR, and this is 6001/)
  assert.equal((await ask(olga, 'cases.sign', { id, signature_id })).status, 200)
})

test('a signature that is sent back counts no more, and the case goes to its signer with the words as a note', async () => {
  const { id, decide, show } = await caseOf('sent back', [7_000])
  const { signature_id } = (await decide(maren)).body
  const back = await ask(jonas, 'cases.send-back', { id, signature_id, reason: 'Which extract?' })
  assert.equal(back.status, 200, back.message)
  const shown = await show()
  assert.deepEqual([shown.signature, shown.signed, shown.assignee.id], [null, null, maren.operatorId])
  assert.equal(shown.notes[0].text, 'Which extract?')
  assert.equal((await ask(olga, 'cases.sign', { id, signature_id })).code, 'signature_ended')
})

test('a request that joins a signed case ends the signature, which was not for it', async () => {
  const { id, entityId, decide, show } = await caseOf('joined', [7_000])
  const { signature_id } = (await decide(maren)).body
  await underwrite(acme, entityId, { requested_amount: 90_000, currency: 'EUR' })
  assert.deepEqual([(await show()).signature, (await show()).waiting], [null, 2])
  assert.equal((await ask(olga, 'cases.sign', { id, signature_id })).code, 'signature_ended')
})

test('a first signature that was changed with SQL is not signed', async () => {
  const { id, decide } = await caseOf('altered', [7_000])
  const { signature_id } = (await decide(maren)).body
  const database = installation.storage.environments.sandbox
  await database.query(`INSERT INTO case_signatures (org_id, id, case_id, entity_id, body, signer_id, created_at)
    SELECT org_id, 'sig_forged', case_id, entity_id, replace(body, '7000', '9000'), signer_id, created_at
    FROM case_signatures WHERE id = '${signature_id}'`)
  await database.query(`UPDATE cases SET signature_id = 'sig_forged' WHERE id = '${id}'`)
  const refused = await ask(olga, 'cases.sign', { id, signature_id: 'sig_forged' })
  assert.equal(refused.code, 'signature_unconfirmed')
})

test('a signer who was removed has not signed', async () => {
  const { id, decide } = await caseOf('removed', [7_000])
  const lea = await person('lea', 'reviewer')
  const { signature_id } = (await decide(lea)).body
  await ask(olga, 'team.remove', { operator_id: lea.operatorId, reason: 'Left.' })
  assert.equal((await ask(olga, 'cases.sign', { id, signature_id })).code, 'signer_gone')
})

test('limits are set by owners alone, one for each holder, product and currency, and the log has both versions', async () => {
  const limits = [limit('role', 'reviewer', 1_000)]
  assert.equal((await ask(maren, 'approval-limits.set', { limits, reason: WHY })).code, 'role_lacks_permission')
  const set = (rows: readonly object[]) => ask(olga, 'approval-limits.set', { limits: rows, reason: WHY })
  assert.equal((await set([...limits, ...limits])).code, 'limit_twice')
  assert.equal((await set([limit('role', 'viewer', 1)])).code, 'limit_holder_unknown')
  assert.equal((await set([limit('operator', 'opr_none', 1)])).code, 'limit_holder_unknown')
  assert.equal((await set([limit('role', 'reviewer', 10, 5)])).code, 'limit_contradictory')
  assert.equal((await set([{ ...limits[0], currency: 'JPY', alone: 0.5 }])).code, 'limit_decimals')
  const from = (await ask(maren, 'approval-limits.show', {})).body.limits
  await setLimits(limits)
  assert.deepEqual((await ask(maren, 'approval-limits.show', {})).body.limits, limits)
  assert.deepEqual((await ask(maren, 'approval-limits.show', {}, 'production')).body.limits, [])
  assert.equal((await set(limits)).code, 'limits_unchanged')
  const [entry] = (await ask(olga, 'audit-log.list', { type: 'approval_limits.changed' })).body.entries
  assert.deepEqual(entry.data, { from, to: limits, reason: WHY })
})

test('an API key approves up to its limit, nothing in production without one, and declines anything', async () => {
  const review = { verdict: 'approve', reviewer: { id: 'u-1' }, reason: 'Seen.' }
  const post = (id: string, body: object) =>
    acme.post(`/v1/decisions/${id}/reviews`, body, { 'Idempotency-Key': crypto.randomUUID() })
  const [reviewing] = (await ask(olga, 'approval-limits.show', {})).body.holders.api_keys
  await setLimits([limit('api_key', reviewing.id, 2_000)])
  const { ids } = await caseOf('by a key', [2_001])
  const refused = await post(ids[0]!, review)
  assert.equal(refused.status, 403, refused.text)
  assert.equal(refused.body.error.code, 'approval_limit_exceeded')
  assert.match(refused.body.error.message, /up to 2000 EUR, and this is 2001/)
  assert.equal((await post(ids[0]!, { ...review, recommended_limit: 2_000 })).status, 201)
  const declined = await caseOf('declined by a key', [9_000])
  assert.equal((await post(declined.ids[0]!, { ...review, verdict: 'decline' })).status, 201)
})

test('what two people signed verifies, and a signature that the log does not have is found', async () => {
  const { problems } = await verifyAuditLog({
    environment: 'sandbox',
    organizationId: acme.id,
    store: installation.stores.sandbox,
    publicKeys: [installation.masterKey.auditSigningKey('sandbox').publicKey],
    people: installation.stores.production,
    control: installation.storage.control,
  })
  const about = problems.filter((problem) => problem.includes('sig_'))
  assert.equal(about.length, 1)
  assert.match(about[0]!, /sig_forged/)
})
