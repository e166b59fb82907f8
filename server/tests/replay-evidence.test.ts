/** What a replay says about a decision: how its verdict came about, and what was recorded since. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { findCommand } from '../src/cli/commands.ts'
import { canonicalJson, sha256 } from '../src/core/canonical-json.ts'
import { activateDocument } from './activate-document.ts'
import { alterDocument } from './alter-documents.ts'
import { type Persona, personas } from './personas.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { untilCachesExpire } from './service-process.ts'
import { tamper } from './tamper.ts'
import { startTestService, type TestOrganization } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const applicants = personas(new Date().toISOString())
const personaOf = (name: string) => applicants.find((persona) => persona.name === name)!

let keys = 0
async function post(path: string, body: unknown, organization: TestOrganization = acme) {
  const answer = await organization.post(path, body, { 'Idempotency-Key': `key-${keys++}` })
  assert.ok(answer.status === 200 || answer.status === 201, answer.text)
  return answer.body
}

async function submit({
  entity,
  identityLinks,
  consents = [],
  transactions = [],
}: Pick<Persona, 'entity' | 'identityLinks'> & Partial<Persona>): Promise<string> {
  const { id } = await post('/v1/entities', entity)
  for (const link of identityLinks) await post(`/v1/entities/${id}/identity-links`, link)
  for (const consent of consents) await post(`/v1/entities/${id}/consents`, consent)
  if (transactions.length > 0) await post(`/v1/entities/${id}/transactions`, { transactions })
  return id
}

async function decide(persona: Persona, request: object = {}) {
  return post('/v1/underwrite', { entity_id: await submit(persona), ...persona.underwrite, ...request })
}

async function replay(decision: { id: string }, organization = acme) {
  const { status, body } = await organization.get(`/v1/decisions/${decision.id}/replay`)
  assert.equal(status, 200)
  assert.deepEqual([body.matches, body.differences], [true, []])
  return body
}

test('a replay has the step, the score with base and cutoff, completeness, confidence and the product terms', async () => {
  const decision = await decide(personaOf('prime'))
  const { evidence } = await replay(decision)
  assert.equal(evidence.settled_by, 'nothing_against')
  const { base, total, cutoff, bad_ppm } = evidence.score
  assert.equal(
    evidence.scorecard.reduce((sum: number, line: { points: number }) => sum + line.points, base),
    total,
  )
  assert.ok(total > cutoff)
  assert.equal(decision.repayment_probability, Math.floor((1e6 - bad_ppm) / 100) / 1e4)
  assert.equal(decision.confidence, Math.floor(evidence.confidence.ppm / 100) / 1e4)
  assert.equal(evidence.confidence.distance, total - cutoff)
  assert.deepEqual([evidence.completeness.ppm, evidence.completeness.missing], [1_000_000, []])
  const listed = evidence.policy.products.find(({ product }: { product: string }) => product === 'personal_loan')
  const { requested, applied, is_fallback, term_months, annual_rate } = evidence.product
  assert.deepEqual([requested, applied, is_fallback], ['personal_loan', 'personal_loan', false])
  assert.deepEqual([term_months, annual_rate], [listed.term_months, listed.annual_rate])
  for (const { label, points, reference, shortfall } of evidence.scorecard) {
    assert.match(label, /^[A-Z]/)
    assert.equal(shortfall, reference - points)
  }
  assert.equal(evidence.better_amount, null)
})

test('a product that the policy does not list is named with the product whose terms were used', async () => {
  const decision = await post('/v1/underwrite', {
    entity_id: (await post('/v1/entities', { external_id: 'typo' })).id,
    product: 'credit_lien',
    requested_amount: 100,
    currency: 'EUR',
  })
  const { requested, applied, is_fallback } = (await replay(decision)).evidence.product
  assert.deepEqual([requested, applied, is_fallback], ['credit_lien', 'default', true])
})

test('each rule has the values that it looked at, and the distance of the number that decides it', async () => {
  const decision = await decide(personaOf('overdrawn'))
  const { evidence } = await replay(decision)
  const held = evidence.rule_trace.filter(({ holds }: { holds: boolean | null }) => holds)
  assert.ok(held.length > 0)
  for (const { values } of held) for (const { value } of values) assert.notEqual(value, null)
  const decisive = evidence.rule_trace.flatMap(
    ({ thresholds }: { thresholds: { value: number; threshold: number; distance: number }[] }) => thresholds,
  )
  assert.ok(decisive.length > 5)
  for (const { value, threshold, distance } of decisive)
    assert.ok(Math.abs(Math.abs(value - threshold) - distance) < 1e-6)
  assert.deepEqual(
    evidence.reasons.map(({ code }: { code: string }) => code),
    decision.reason_codes.map(({ code }: { code: string }) => code),
  )
})

test('the nearest better amount is decided as the replay says', async () => {
  const overreach = personaOf('overreach')
  const decision = await decide(overreach)
  const { evidence } = await replay(decision)
  const { asked, offered, currency: inCurrency } = evidence.counter_offer
  assert.deepEqual(
    [asked.amount, asked.score, asked.confidence, inCurrency],
    [overreach.underwrite.requested_amount, evidence.score.total, evidence.confidence, 'EUR'],
  )
  assert.deepEqual([offered.amount, offered.instalment], [decision.recommended_limit, evidence.product.instalment])
  assert.ok(offered.score >= asked.score && offered.bad_ppm <= asked.bad_ppm)
  const { amount, verdict, currency } = evidence.better_amount
  assert.deepEqual([amount, verdict, currency], [decision.recommended_limit, 'approve', 'EUR'])
  // Its offer is closed, or it would be exposure of the next.
  await post(`/v1/decisions/${decision.id}/outcomes`, { type: 'closed', occurred_at: new Date().toISOString() })
  const entity_id = (await post('/v1/entities', overreach.entity)).id
  const again = await post('/v1/underwrite', { entity_id, ...overreach.underwrite, requested_amount: amount })
  assert.equal(again.verdict, verdict)
})

test('the graph is in snake_case, and its hash is the one on the audit log', async () => {
  const persona = personaOf('bad company')
  const { entity, identityLinks, underwrite, outcome } = persona.associate!
  const other = await post('/v1/underwrite', { entity_id: await submit({ entity, identityLinks }), ...underwrite })
  await post(`/v1/decisions/${other.id}/outcomes`, { ...outcome, occurred_at: new Date().toISOString() })
  const decision = await decide(persona)
  const { evidence, audit } = await replay(decision)
  assert.ok(evidence.graph.negative_exposure > 0.2)
  const [path] = evidence.graph.paths
  assert.deepEqual([path.uses_payments, path.edges.length, typeof path.entity_id], [false, 1, 'string'])
  assert.doesNotMatch(JSON.stringify(evidence.graph), /"[a-z_]*[A-Z][A-Za-z]*":/)
  assert.equal(sha256(canonicalJson(evidence.graph)), audit.entry.data.graph_sha256)
})

test('reviews and outcomes recorded since are listed, and change nothing else of the replay', async () => {
  const decision = await decide({
    ...personaOf('no consent'),
    entity: { ...personaOf('prime').entity, external_id: 's' },
  })
  const before = await replay(decision)
  assert.deepEqual([before.reviews, before.outcomes], [[], []])
  const reviews = []
  for (const verdict of ['decline', 'approve'])
    reviews.push(
      await post(`/v1/decisions/${decision.id}/reviews`, { verdict, reviewer: { id: 'u-1' }, reason: 'Seen.' }),
    )
  const outcomes = []
  for (const type of ['funded', 'late'])
    outcomes.push(await post(`/v1/decisions/${decision.id}/outcomes`, { type, occurred_at: new Date().toISOString() }))
  const after = await replay(decision)
  assert.deepEqual([after.reviews, after.outcomes], [reviews, outcomes])
  assert.deepEqual(after.evidence, before.evidence)
})

test('a stored review or outcome that can no longer be read is left out', async () => {
  const decision = await decide({ ...personaOf('prime'), entity: { ...personaOf('prime').entity, external_id: 'x' } })
  await post(`/v1/decisions/${decision.id}/reviews`, { verdict: 'approve', reviewer: { id: 'u' }, reason: 'Seen.' })
  const database = api.service.installation.storage.environments.sandbox
  for (const body of ['{', '[]', '{"verdict":7}']) {
    await tamper(database, 'UPDATE reviews SET body = $2 WHERE decision_id = $1', [decision.id, body])
    assert.deepEqual((await replay(decision)).reviews, [], body)
  }
})

test('text where the policy reads a number is a missing value with that cause', async () => {
  const other = await api.newOrganization('Other')
  const { id } = await post('/v1/entities', { external_id: 'text' }, other)
  const features = { 'bureau.score': 'seven hundred' }
  // The active policy does not read it yet, so it is accepted.
  await post(`/v1/entities/${id}/feature-snapshots`, { source: 'b', as_of: '2026-11-01T00:00:00Z', features }, other)
  const document = { ...parse(sandboxPolicySource()), version: 'reads-numbers' }
  const [input] = document.inputs.filter(({ missing }: { missing?: string }) => missing !== undefined)
  document.inputs.push({ ...input, feature: 'snapshot.bureau.score', type: 'number' })
  await activateDocument(api.service.installation, document, { organizationId: other.id })
  await untilCachesExpire()
  const decision = await post('/v1/underwrite', { entity_id: id, product: 'marketplace_access' }, other)
  const { evidence } = await replay(decision, other)
  assert.deepEqual(
    evidence.missing_features.filter(({ feature }: { feature: string }) => feature.startsWith('snapshot.')),
    [{ feature: 'snapshot.bureau.score', missing: 'wrong_type' }],
  )
  assert.ok(evidence.completeness.missing.includes('snapshot.bureau.score'))
})

test('decisions explain names what was altered, and its exit code is 1', async () => {
  const decision = await decide({ ...personaOf('prime'), entity: { ...personaOf('prime').entity, external_id: 'y' } })
  const { installation } = api.service
  const database = installation.storage.environments.sandbox
  const explain = findCommand('decisions explain')!
  const run = () => explain.run(installation, { options: { org: acme.id }, positionals: [decision.id], caller: 'test' })
  assert.equal(explain.isBad!(await run()), false)
  await alterDocument(database, decision.id, 'facts', (facts) =>
    facts.replace('"history.abuse":{"value":0}', '"history.abuse":{"value":3}'),
  )
  const altered = await run()
  assert.equal(explain.isBad!(altered), true)
  assert.match(explain.render(altered), /^Replay: DIFFERENT from what was recorded, at$\n {2}\/evidence\/facts$/m)
  await alterDocument(database, decision.id, 'facts', '{}')
  assert.match(explain.render(await run()), /^Verdict: approve\.$/m, 'what can still be read is shown')
})
