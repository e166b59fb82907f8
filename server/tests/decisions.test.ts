import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { leafHashOf } from '../src/core/audit/audit-entry.ts'
import { verifyInclusion } from '../src/core/audit/merkle-proofs.ts'
import { sha256 } from '../src/core/canonical-json.ts'
import { activateDocument } from './activate-document.ts'
import { type Persona, personas } from './personas.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { sealedReplay } from './sealed-replay.ts'
import { startTestService, type TestOrganization } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox
/** The decisions of this file. */
const decided: string[] = []

let keys = 0
function idempotent(): Record<string, string> {
  return { 'Idempotency-Key': `key-${keys++}` }
}

async function underwrite(entityId: string, request: object, organization: TestOrganization = acme) {
  const answer = await organization.post('/v1/underwrite', { entity_id: entityId, ...request }, idempotent())
  assert.equal(answer.status, 201, answer.text)
  if (organization === acme) decided.push(answer.body.id)
  return answer.body
}

/** Sends everything that is known about an applicant, and returns the id of the entity. */
async function submit({
  entity,
  identityLinks,
  consents,
  transactions,
  featureSnapshots,
}: Pick<Persona, 'entity' | 'identityLinks'> & Partial<Persona>): Promise<string> {
  const { body } = await acme.post('/v1/entities', entity)
  const post = async (path: string, item: unknown, headers?: Record<string, string>) => {
    const answer = await acme.post(`/v1/entities/${body.id}/${path}`, item, headers)
    assert.equal(answer.status, 201, answer.text)
  }
  for (const link of identityLinks) await post('identity-links', link)
  for (const consent of consents ?? []) await post('consents', consent)
  if (transactions?.length) await post('transactions', { transactions }, idempotent())
  for (const snapshot of featureSnapshots ?? []) await post('feature-snapshots', snapshot)
  return body.id
}

for (const persona of personas(new Date().toISOString())) {
  test(`the persona "${persona.name}" gets its decision through the API`, async () => {
    const { associate, expect } = persona
    if (associate) {
      const other = await submit(associate)
      const decision = await underwrite(other, associate.underwrite)
      assert.equal((await acme.post(`/v1/decisions/${decision.id}/outcomes`, associate.outcome)).status, 201)
    }
    const entityId = await submit(persona)
    const decision = await underwrite(entityId, persona.underwrite)
    const codes = (items: { code: string }[] = []) => items.map(({ code }) => code)
    const text = JSON.stringify(decision)
    assert.ok(expect.verdicts.includes(decision.verdict), text)
    if (expect.reasonsAnyOf)
      assert.ok(
        expect.reasonsAnyOf.some((code) => codes(decision.reason_codes).includes(code)),
        text,
      )
    if (expect.conditionsAnyOf)
      assert.ok(
        expect.conditionsAnyOf.some((code) => codes(decision.conditions).includes(code)),
        text,
      )
    if (expect.tierStartsWith) assert.ok(decision.risk_tier.startsWith(expect.tierStartsWith), text)
    if (expect.confidenceBelow !== undefined) assert.ok(decision.confidence < expect.confidenceBelow, text)
    if (expect.limit === 'at_least_requested')
      assert.ok(decision.recommended_limit >= persona.underwrite.requested_amount!, text)
    if (expect.limit === 'below_requested')
      assert.ok(
        decision.recommended_limit > 0 && decision.recommended_limit < persona.underwrite.requested_amount!,
        text,
      )
    if (expect.limit === 'absent') assert.equal(decision.recommended_limit, undefined, text)
  })
}

test('a decision is retrieved exactly as it was first answered', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'retrieved' })
  const decision = await underwrite(entity.id, { product: 'credit_line', requested_amount: 100, currency: 'EUR' })
  assert.deepEqual((await acme.get(`/v1/decisions/${decision.id}`)).body, decision)
  assert.equal(decision.model_version, 'sandbox-policy-v1')
  assert.equal(decision.policy_version, 'sandbox-policy-v1')
  assert.equal(decision.verdict, 'manual_review', 'an entity without facts is reviewed by a person')
})

test('a hundred equal requests with one key make one decision', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'raced' })
  const ask = () =>
    acme.post('/v1/underwrite', { entity_id: entity.id, product: 'marketplace_access' }, { 'Idempotency-Key': 'raced' })
  const answers = await Promise.all(Array.from({ length: 100 }, ask))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  const [row] = await database.query('SELECT count(*) AS n FROM decisions WHERE entity_id = $1', [entity.id])
  assert.equal(row!.n, 1)
})

test('amount and currency are given together or not at all, and without them there is nothing about repayment', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'amounts' })
  for (const [request, param] of [
    [{ requested_amount: 5 }, '/currency'],
    [{ currency: 'EUR' }, '/requested_amount'],
    [{ requested_amount: 0, currency: 'EUR' }, '/requested_amount'],
    [{ requested_amount: 2e12, currency: 'EUR' }, '/requested_amount'],
    [{ requested_amount: 1.23456, currency: 'EUR' }, '/requested_amount'],
    [{ requested_amount: 5, currency: 'euro' }, '/currency'],
  ] as const) {
    const refused = await acme.post('/v1/underwrite', { entity_id: entity.id, product: 'p', ...request }, idempotent())
    assert.deepEqual([refused.status, refused.body.error.param], [400, param], JSON.stringify(request))
  }
  const access = await underwrite(entity.id, { product: 'marketplace_access' })
  for (const name of ['recommended_limit', 'repayment_probability', 'confidence']) assert.equal(name in access, false)
  const { matches, evidence } = (await acme.get(`/v1/decisions/${access.id}/replay`)).body
  assert.deepEqual([matches, evidence.confidence, evidence.score.bad_ppm, evidence.limit], [true, null, null, null])
  assert.deepEqual([evidence.product.requested, evidence.product.term_months], ['marketplace_access', null])
  const unknown = await acme.post(
    '/v1/underwrite',
    { entity_id: `ent_0${'0'.repeat(25)}`, product: 'marketplace_access' },
    idempotent(),
  )
  assert.deepEqual([unknown.status, unknown.body.error.param], [404, '/entity_id'])
})

test('a review of a manual_review overrides nothing, an outcome lowers trust, and the decision stays unchanged', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'reviewed' })
  const decision = await underwrite(entity.id, { product: 'marketplace_access' })
  const review = await acme.post(`/v1/decisions/${decision.id}/reviews`, {
    verdict: 'approve',
    reviewer: { id: 'u-1' },
    reason: 'Documents checked.',
  })
  assert.deepEqual(
    [review.status, review.body.overrides, review.body.entity_id],
    [201, false, entity.id],
    'the policy left the verdict to a person',
  )
  const before = (await acme.get(`/v1/entities/${entity.id}`)).body.trust
  const outcome = await acme.post(`/v1/decisions/${decision.id}/outcomes`, {
    type: 'default',
    occurred_at: new Date().toISOString(),
    amount: 10,
    currency: 'EUR',
  })
  assert.equal(outcome.status, 201)
  const after = (await acme.get(`/v1/entities/${entity.id}`)).body.trust
  assert.ok(after.score < before.score)
  assert.ok(after.negative_exposure > 0.4)
  for (const reason of ['', '   ', '\t\n']) {
    const blank = { verdict: 'approve', reviewer: { id: 'u' }, reason }
    const refused = await acme.post(`/v1/decisions/${decision.id}/reviews`, blank)
    if (reason !== '') assert.equal(refused.body.error.message, 'reason must not be blank.')
    assert.deepEqual([refused.status, refused.body.error.param], [400, '/reason'], JSON.stringify(reason))
  }
  assert.equal(
    (await acme.post(`/v1/decisions/${decision.id}/outcomes`, { type: 'late', occurred_at: '2999-01-01T00:00:00Z' }))
      .status,
    400,
  )
  assert.deepEqual((await acme.get(`/v1/decisions/${decision.id}`)).body, decision, 'the decision is unchanged')
})

test('a feature of another type than the active policy reads is refused at ingest, and null is accepted', async () => {
  const other = await api.newOrganization()
  const document = { ...parse(sandboxPolicySource()), version: 'typed-1' }
  const [input] = document.inputs.filter(({ missing }: { missing?: string }) => missing !== undefined)
  document.inputs.push({ ...input, feature: 'snapshot.bureau.score', type: 'number' })
  await activateDocument(api.service.installation, document, { organizationId: other.id })
  const { body: entity } = await other.post('/v1/entities', { external_id: 'typed' })
  const submit = (score: unknown) =>
    other.post(`/v1/entities/${entity.id}/feature-snapshots`, {
      source: 'bureau',
      as_of: '2026-11-01T00:00:00Z',
      features: { 'bureau.score': score, 'bureau.note': 'any text' },
    })
  const refused = await submit('712')
  assert.deepEqual([refused.status, refused.body.error.param], [400, '/features/bureau.score'])
  assert.match(refused.body.error.message, /bureau\.score must be a number, because the active policy/)
  for (const score of [712, null]) assert.equal((await submit(score)).status, 201)
})

test('a product that the policy does not list is refused where the policy says so, and nothing is decided', async () => {
  const other = await api.newOrganization()
  const document = { ...parse(sandboxPolicySource()), version: 'listed-1', unknown_products: 'refuse' }
  await activateDocument(api.service.installation, document, { organizationId: other.id })
  const { body: entity } = await other.post('/v1/entities', { external_id: 'typo' })
  const askFor = (product: string) =>
    other.post(
      '/v1/underwrite',
      { entity_id: entity.id, product, requested_amount: 900, currency: 'EUR' },
      idempotent(),
    )
  const refused = await askFor('personal_laon')
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.param],
    [422, 'unknown_product', '/product'],
  )
  assert.match(
    refused.body.error.message,
    /listed-1 has no product 'personal_laon'\. Send one of: default, personal_loan, /,
  )
  assert.equal((await askFor('personal_loan')).status, 201)
  assert.equal((await other.get(`/v1/entities/${entity.id}/audit-trail`)).text.match(/decision\.created/g)?.length, 1)
})

test('credit without an amount and access with one are refused, and nothing is decided', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'forgot-the-amount' })
  const amount = { requested_amount: 900, currency: 'EUR' }
  for (const [request, code] of [
    [{ product: 'personal_loan' }, 'amount_required'],
    [{ product: 'default' }, 'amount_required'],
    [{ product: 'personal_laon' }, 'amount_required'],
    [{ product: 'platform_access', ...amount }, 'amount_not_allowed'],
  ] as const) {
    const { status, body } = await acme.post('/v1/underwrite', { entity_id: entity.id, ...request }, idempotent())
    assert.deepEqual([status, body.error.code, body.error.param], [422, code, '/requested_amount'], request.product)
    assert.match(body.error.message, /^(The policy|').*sandbox-policy-v1.*: send .*(marketplace_access|personal_loan)/)
  }
  assert.doesNotMatch((await acme.get(`/v1/entities/${entity.id}/audit-trail`)).text, /decision\.created/)
  assert.equal((await underwrite(entity.id, { product: 'personal_laon', ...amount })).object, 'underwriting_decision')
  assert.equal((await underwrite(entity.id, { product: 'platform_access' })).object, 'underwriting_decision')
})

test('a decision knows its day and a number that is stable for the entity and the product', async () => {
  const other = await api.newOrganization()
  const { body: entity } = await other.post('/v1/entities', { external_id: 'sampled' })
  const factsOf = async (product: string) => {
    const asked = { entity_id: entity.id, product, requested_amount: 900, currency: 'EUR' }
    const { body } = await other.post('/v1/underwrite', asked, idempotent())
    const { body: replay } = await other.get(`/v1/decisions/${body.id}/replay`)
    assert.equal(replay.matches, true)
    const { 'request.date': date, 'request.hash': hash } = replay.evidence.feature_snapshot
    assert.equal(date.value, body.created_at.slice(0, 10))
    return hash.value
  }
  const hashOf = (product: string) => Number.parseInt(sha256(`${entity.id} ${product}`).slice(0, 8), 16) % 10_000
  for (const product of ['default', 'default', 'personal_loan'])
    assert.equal(await factsOf(product), hashOf(product), product)
})

test('a review that contradicts itself or its decision is refused', async () => {
  const [prime] = personas(new Date().toISOString())
  const entity = { ...prime!.entity, external_id: 'reviewed' }
  const entityId = await submit({ ...prime!, entity, identityLinks: [] })
  const credit = await underwrite(entityId, prime!.underwrite)
  const access = await underwrite(entityId, { product: 'marketplace_access' })
  const conditions = [{ code: 'proof_of_address', label: 'Send a proof of address' }]
  const review = (decision: { id: string }, body: object) =>
    acme.post(`/v1/decisions/${decision.id}/reviews`, { reviewer: { id: 'u-1' }, reason: 'Seen.', ...body })
  for (const [decision, body, param] of [
    [credit, { verdict: 'approve_with_conditions' }, '/conditions'],
    [credit, { verdict: 'approve_with_conditions', conditions: [] }, '/conditions'],
    [credit, { verdict: 'approve', conditions }, '/conditions'],
    [credit, { verdict: 'decline', conditions }, '/conditions'],
    [credit, { verdict: 'decline', recommended_limit: 100 }, '/recommended_limit'],
    [credit, { verdict: 'approve', recommended_limit: 0 }, '/recommended_limit'],
    [credit, { verdict: 'approve', currency: 'EUR' }, '/recommended_limit'],
    [credit, { verdict: 'approve', recommended_limit: 100, currency: 'USD' }, '/currency'],
    [access, { verdict: 'approve', recommended_limit: 100 }, '/recommended_limit'],
  ] as const) {
    const refused = await review(decision, body)
    assert.deepEqual([refused.status, refused.body.error?.param], [400, param], JSON.stringify(body))
  }
  const limited = await review(credit, { verdict: 'approve_with_conditions', conditions, recommended_limit: 100 })
  assert.deepEqual([limited.status, limited.body.currency], [201, prime!.underwrite.currency])
  assert.equal((await review(access, { verdict: 'approve' })).status, 201)
})

test('a review overrides a verdict of the policy only if it differs', async () => {
  const [prime] = personas(new Date().toISOString())
  const decision = await underwrite(await submit(prime!), prime!.underwrite)
  const review = async (verdict: string) => {
    const reviewer = { id: 'u-1' }
    const answer = await acme.post(`/v1/decisions/${decision.id}/reviews`, {
      verdict,
      reviewer,
      reason: 'A second look.',
    })
    assert.equal(answer.status, 201, answer.text)
    return answer.body.overrides
  }
  assert.equal(decision.verdict, 'approve')
  assert.deepEqual([await review('approve'), await review('decline')], [false, true])
})

test('a stored policy that current checks would refuse still decides and replays', async () => {
  const old = await api.newOrganization()
  const [row] = await database.query<{ document: string }>('SELECT document FROM policies WHERE org_id = $1', [old.id])
  const policy = JSON.parse(row!.document)
  policy.missing_reasons.push({ code: 'never_used', label: 'Never used' })
  const { checksum } = await activateDocument(
    api.service.installation,
    { ...policy, version: 'of an earlier release' },
    { organizationId: old.id },
  )
  const { body: entity } = await old.post('/v1/entities', { external_id: 'old' })
  const decision = await underwrite(entity.id, { product: 'marketplace_access' }, old)
  assert.equal(decision.policy_checksum, checksum)
  const { body } = await old.get(`/v1/decisions/${decision.id}/replay`)
  assert.deepEqual([body.matches, body.differences], [true, []])
})

test('every decision of this file replays byte for byte, with a valid proof of its audit entry', async () => {
  assert.ok(decided.length > 10)
  for (const id of decided) {
    const { status, body } = await sealedReplay(acme, id)
    assert.equal(status, 200)
    assert.deepEqual([body.matches, body.differences], [true, []], id)
    assert.equal(body.evidence.policy_checksum, body.decision.policy_checksum)
    const trail = await acme.get(
      `/v1/entities/${(await database.query('SELECT entity_id FROM decisions WHERE id = $1', [id]))[0]!.entity_id}/audit-trail?limit=100`,
    )
    const entry = trail.body.data.find(({ id: entryId }: { id: string }) => entryId === body.audit.entry_id)
    const { object: _o, seq: _s, leaf_hash, leaf_index: _i, ...content } = { ...entry, trail_id: entry.data.entity_id }
    assert.equal(leafHashOf(acme.id, content), leaf_hash)
    const { leaf_index: leafIndex, inclusion_proof: proof, checkpoint } = body.audit
    assert.equal(
      verifyInclusion({
        leafIndex,
        treeSize: checkpoint.tree_size,
        leafHash: leaf_hash,
        proof,
        root: checkpoint.root_hash,
      }),
      true,
    )
  }
})
