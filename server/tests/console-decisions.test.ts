/** Decisions on the console: the list by every filter, the view of one, its replay, and its proof as a browser checks it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ProofParts, verifyProof } from '../../console/src/decision-view/verify-proof.ts'
import { nameOfTerm } from '../src/core/policy/limit-bindings.ts'
import { decisionListQueries, KINDS_MAX } from '../src/store/environment/decision-list.ts'
import { columnsOf } from '../src/store/schema/tables.ts'
import { alterDocument } from './alter-documents.ts'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox
const reader = await signedInOperator(api, { organizationId: acme.id, email: 'v@example.com', role: 'reviewer' })

async function call(name: string, input: object = {}) {
  const { status, body } = await reader.call(`${acme.id}/sandbox/${name}`, input)
  assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
  return body
}

const listed = async (filter: object = {}): Promise<string[]> =>
  (await call('decisions.list', filter)).decisions.map(({ id }: { id: string }) => id)

const idempotent = () => ({ 'Idempotency-Key': crypto.randomUUID() })

const lumen = await createEntity(acme, 'Lumen', { income: true })
const otto = await createEntity(acme, 'Otto')
const first = await underwrite(acme, lumen, { requested_amount: 2_500, currency: 'EUR' })
const second = await underwrite(acme, otto, { reference: 'application-2' })
const third = await underwrite(acme, otto, { requested_amount: 900, currency: 'EUR' })
const all = [third, second, first]

test('the list shows the newest decisions first, page by page, with what was asked for', async () => {
  assert.deepEqual(
    await listed(),
    all.map(({ id }) => id),
  )
  const page = await call('decisions.list', { limit: 2 })
  assert.equal(page.decisions.length, 2)
  assert.equal(page.is_cut_short, false)
  const next = await call('decisions.list', { limit: 2, cursor: page.next_cursor })
  assert.deepEqual(
    next.decisions.map(({ id }: { id: string }) => id),
    [first.id],
  )
  assert.equal(next.next_cursor, null)
  const references = page.decisions.map(({ reference }: { reference: string | null }) => reference)
  assert.deepEqual(references, [null, 'application-2'])
  assert.equal((await call('decisions.show', { id: second.id })).reference, 'application-2')
  assert.equal((await call('decisions.show', { id: third.id })).reference, null)
  assert.deepEqual(page.decisions[0].requested, { amount: 900, currency: 'EUR' })
  assert.equal(page.decisions[0].entity.name, 'Otto')
})

test('the list and the overview show the score that the public replay shows, and read no whole trace', async () => {
  const { decisions } = await call('decisions.list')
  const { newest } = await call('overview.show', { range: '24h' })
  for (const { id } of all) {
    const { total, cutoff } = (await acme.get(`/v1/decisions/${id}/replay`)).body.evidence.score
    for (const rows of [decisions, newest]) {
      const row = rows.find((each: { id: string }) => each.id === id)
      assert.deepEqual(row.score, { total, cutoff })
      assert.ok(JSON.stringify(row).length < 600, 'a row has what it shows alone')
    }
  }
  const page = await decisionListQueries(database).page(acme.id, {}, { after: undefined, limit: 50 })
  for (const row of page.decisions) {
    assert.ok(!('trace' in row) && !('body' in row))
  }
})

test('each filter, and any two together, show exactly the decisions that have it', async () => {
  const { body: outcome } = await acme.post(
    `/v1/decisions/${first.id}/outcomes`,
    { type: 'funded', occurred_at: new Date().toISOString(), amount: 100, currency: 'EUR' },
    idempotent(),
  )
  assert.equal(outcome.object, 'outcome')
  const review = await acme.post(
    `/v1/decisions/${third.id}/reviews`,
    { verdict: 'decline', reviewer: { id: 'r1', name: 'Rea' }, reason: 'No income seen.' },
    idempotent(),
  )
  assert.equal(review.status, 201, review.text)
  const isOf = {
    verdict: (value: string) => all.filter(({ verdict }) => verdict === value),
    tier: (value: string) => all.filter(({ risk_tier }) => risk_tier === value),
  }
  for (const { verdict, risk_tier } of all) {
    assert.deepEqual(
      await listed({ verdict }),
      isOf.verdict(verdict).map(({ id }) => id),
    )
    assert.deepEqual(
      await listed({ tier: risk_tier }),
      isOf.tier(risk_tier).map(({ id }) => id),
    )
    const both = isOf.verdict(verdict).filter((each) => each.risk_tier === risk_tier)
    assert.deepEqual(
      await listed({ verdict, tier: risk_tier }),
      both.map(({ id }) => id),
    )
    const onOtto = await listed({ verdict, entity_id: otto })
    assert.deepEqual(
      onOtto,
      isOf
        .verdict(verdict)
        .filter(({ id }) => id !== first.id)
        .map(({ id }) => id),
    )
  }
  assert.deepEqual(
    await listed({ policy_version: first.policy_version }),
    all.map(({ id }) => id),
  )
  assert.deepEqual(await listed({ policy_version: 'no-such-policy' }), [])
  assert.deepEqual(await listed({ product: 'personal_loan', verdict: first.verdict, outcome: 'funded' }), [first.id])
  assert.deepEqual(await listed({ product: 'car_loan' }), [])
  assert.deepEqual(await listed({ outcome: 'funded' }), [first.id])
  assert.deepEqual(await listed({ outcome: 'funded', entity_id: otto }), [])
  assert.deepEqual(await listed({ review: 'reviewed' }), [third.id])
  assert.deepEqual(await listed({ review: 'reviewed', entity_id: otto }), [third.id])
  const waiting = all.filter(({ id, verdict }) => verdict === 'manual_review' && id !== third.id)
  assert.deepEqual(
    await listed({ review: 'waiting' }),
    waiting.map(({ id }) => id),
  )
  const today = first.created_at.slice(0, 10)
  assert.equal((await listed({ from: `${today}T00:00:00Z` })).length, 3)
  assert.deepEqual(await listed({ before: `${today}T00:00:00Z`, verdict: first.verdict }), [])
  const [row] = (await call('decisions.list', { entity_id: lumen })).decisions
  assert.equal(row.outcome, 'funded')
  const refused = await reader.call(`${acme.id}/sandbox/decisions.list`, { from: 'yesterday' })
  assert.equal(refused.status, 400)
})

test('a filter finds every decision of an organization with more kinds of decisions than are looked up', async () => {
  const { id: organizationId } = await api.newOrganization('Many products')
  const lists = decisionListQueries(database)
  const columns = columnsOf('decisions').filter((column) => !['org_id', 'id', 'product'].includes(column))
  await database.query(
    `INSERT INTO decisions (org_id, id, product, flush, ${columns})
     SELECT $1, 'dec_' || lpad(n::text, 26, '0'), 'product-' || n, flush, ${columns}
     FROM (SELECT * FROM decisions LIMIT 1) AS model, generate_series(1, $2::integer) AS n`,
    [organizationId, KINDS_MAX + 500],
  )
  for (let n = 1; n <= KINDS_MAX + 500; n += 100) {
    const page = await lists.page(organizationId, { product: `product-${n}` }, { after: undefined, limit: 5 })
    assert.deepEqual(
      page.decisions.map(({ product }) => product),
      [`product-${n}`],
    )
  }
})

test('what a person granted is shown with the decision, which does not change', async () => {
  const before = await call('decisions.show', { id: second.id })
  const asked = await underwrite(acme, otto, { requested_amount: 13_500, currency: 'EUR' })
  const condition = { code: 'payslip', label: 'Send a payslip' }
  const review = await acme.post(
    `/v1/decisions/${asked.id}/reviews`,
    {
      verdict: 'approve_with_conditions',
      reviewer: { id: 'r2', name: 'Maren' },
      reason: 'Known for years.',
      conditions: [condition],
      recommended_limit: 9_000,
      currency: 'EUR',
    },
    idempotent(),
  )
  assert.equal(review.status, 201, review.text)
  const granted = {
    verdict: 'approve_with_conditions',
    limit: { amount: 9_000, currency: 'EUR' },
    conditions: [condition],
    reviewer: 'Maren',
    at: review.body.created_at,
  }
  const [row] = (await call('decisions.list', { entity_id: otto })).decisions
  const { through_key, ...listedReview } = row.review
  assert.equal(row.id, asked.id)
  assert.deepEqual(listedReview, granted)
  assert.match(through_key.id, /^key_/)
  assert.equal(typeof through_key.name, 'string')
  const { view, raw, since } = await call('decisions.show', { id: asked.id })
  assert.deepEqual([view.verdict, view.recommended_limit, raw], [asked.verdict, null, asked])
  const { id, reason, overrides, ...shown } = since.reviews[0]
  assert.deepEqual(shown, { ...granted, through_key })
  assert.deepEqual([id, reason, overrides], [review.body.id, 'Known for years.', false])
  const { newest } = await call('overview.show', { range: '24h' })
  assert.deepEqual(newest[0].review, row.review)
  const entity = await call('entities.show', { id: otto })
  assert.deepEqual(entity.decisions[0].review, row.review)
  assert.equal(before.since.reviews.length, 0)
  const untouched = (await call('decisions.list')).decisions.find((each: { id: string }) => each.id === second.id)
  assert.equal(untouched.review, null)
})

test('the values to filter by are those that occur', async () => {
  const filters = await call('decisions.list-filters')
  assert.deepEqual(filters.products, ['personal_loan', 'platform_access'])
  assert.deepEqual(filters.policy_versions, [first.policy_version])
  assert.deepEqual(filters.tiers, [...new Set(all.map(({ risk_tier }) => risk_tier))].sort())
})

test('the view explains a decision by what the public replay says, and names reviews and outcomes', async () => {
  const { view, replay, since, raw } = await call('decisions.show', { id: first.id })
  const { body: public_ } = await acme.get(`/v1/decisions/${first.id}/replay`)
  assert.deepEqual(raw, first)
  assert.equal(replay.matches, true)
  assert.ok(replay.bytes > 1_000)
  assert.equal(view.verdict, first.verdict)
  assert.deepEqual(view.evidence.score, public_.evidence.score)
  const { limit } = public_.evidence
  const terms = limit.terms.map((one: { term: string }) => ({ ...one, name: nameOfTerm(one.term) }))
  assert.deepEqual(view.evidence.limit, { ...limit, terms, bound: null })
  assert.deepEqual(view.evidence.scorecard, public_.evidence.scorecard)
  assert.equal(view.rules.length, public_.evidence.rule_trace.length)
  const points = view.evidence.scorecard.reduce((sum: number, line: { points: number }) => sum + line.points, 0)
  assert.equal(view.evidence.score.base + points, view.evidence.score.total)
  assert.equal(view.thresholds.cutoff, view.evidence.score.cutoff)
  assert.ok(view.tiers.length > 1)
  assert.equal(since.outcomes[0].type, 'funded')
  const income = view.features.find(({ feature }: { feature: string }) => feature === 'cashflow.recurring_income')
  assert.equal(income.value, public_.evidence.feature_snapshot['cashflow.recurring_income'].value)
  assert.equal(income.source, 'transactions in the currency of the request')
  assert.equal(income.used_by.limit, true)
  const balance = view.features.find(({ feature }: { feature: string }) => feature === 'cashflow.reserve')
  assert.equal(balance.missing, 'no_data')
  assert.match(balance.missing_means, /reported/)
  assert.equal(view.account.days.length, 12)
  const income365 = view.account.days.reduce((sum: number, day: { income: number }) => sum + day.income, 0)
  assert.equal(income365, 18_000)
  const paid = { type: 'funded', occurred_at: new Date().toISOString(), override: true, note: 'Paid by the branch.' }
  assert.equal((await acme.post(`/v1/decisions/${third.id}/outcomes`, paid, idempotent())).status, 201)
  const { since: ofThird } = await call('decisions.show', { id: third.id })
  assert.deepEqual(
    [since, ofThird].map(({ outcomes }) => outcomes[0].override_note),
    [null, paid.note],
  )
  assert.deepEqual(
    ofThird.reviews.map(({ reviewer, verdict }: { reviewer: string; verdict: string }) => [reviewer, verdict]),
    [['Rea', 'decline']],
  )
})

test('a decision that a rule nearly turned says by how much', async () => {
  const { view } = await call('decisions.show', { id: first.id })
  const near = view.rules.filter((rule: { near: unknown }) => rule.near !== null)
  for (const rule of near) {
    assert.equal(rule.holds, false)
    assert.ok(rule.near.distance <= 0.2 * Math.abs(rule.near.threshold))
  }
})

async function sealedProof(id: string): Promise<ProofParts> {
  for (let tries = 0; tries < 60; tries++) {
    const proof = await call('decisions.prove', { id })
    if (proof.checkpoint) return proof
    await sleep(250)
  }
  throw new Error('the entry was not sealed')
}

test('a browser verifies the proof of every decision with the public key alone', async () => {
  for (const { id } of all) {
    const checks = await verifyProof(await sealedProof(id))
    assert.deepEqual(
      checks.map(({ holds }) => holds),
      [true, true, true],
    )
  }
})

test('the browser finds every part of a proof that was changed', async () => {
  const proof = await sealedProof(first.id)
  const failing = async (change: (parts: ProofParts) => void) => {
    const changed = structuredClone(proof)
    change(changed)
    return (await verifyProof(changed)).map(({ holds }) => holds)
  }
  const [other] = await Promise.all([sealedProof(second.id)])
  assert.deepEqual(await failing(({ texts }) => (texts.facts = `${texts.facts} `)), [false, true, true])
  assert.deepEqual(await failing(({ texts }) => (texts.policy = null)), [false, true, true])
  assert.deepEqual(await failing(({ entry }) => Object.assign(entry!, { occurred_at: '2020' })), [true, false, true])
  assert.deepEqual(await failing((parts) => (parts.leaf_index = other.leaf_index)), [true, false, true])
  assert.deepEqual(await failing((parts) => parts.inclusion_proof!.pop()), [true, false, true])
  assert.deepEqual(await failing(({ checkpoint }) => (checkpoint!.root_hash = '0'.repeat(64))), [true, false, false])
  assert.deepEqual(await failing(({ checkpoint }) => (checkpoint!.tree_size += 1)).then((found) => found.at(-1)), false)
  const otherKey = proof.public_key.spki.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  assert.deepEqual(await failing(({ public_key }) => (public_key.spki = otherKey)), [true, true, false])
  assert.deepEqual(await failing((parts) => (parts.entry = null)).then((found) => found.includes(true)), false)
  assert.deepEqual(await failing((parts) => (parts.checkpoint = null)), [true, null])
})

test('after its facts were altered by SQL, the view, the replay and the proof say so, and the list still answers', async () => {
  const decision = await underwrite(acme, otto, { requested_amount: 700, currency: 'EUR' })
  await sealedProof(decision.id)
  await alterDocument(database, decision.id, 'facts', (facts) =>
    facts.replace('"history.abuse":{"value":0}', '"history.abuse":{"value":3}'),
  )
  const replay = await call('decisions.replay', { id: decision.id })
  assert.equal(replay.matches, false)
  const paths = replay.differences.map(({ path }: { path: string }) => path)
  assert.ok(paths.includes('/evidence/facts') && paths.includes('/verdict'), paths.join())
  const shown = await call('decisions.show', { id: decision.id })
  assert.equal(shown.replay.matches, false)
  const [texts] = await verifyProof(await sealedProof(decision.id))
  assert.equal(texts!.holds, false)
  assert.match(texts!.detail, /facts/)
  await alterDocument(database, decision.id, 'facts', 'x')
  const unreadable = await call('decisions.show', { id: decision.id })
  assert.equal(unreadable.view.evidence.settled_by, null)
  await alterDocument(database, decision.id, 'trace', '"score":{"bad_ppm":}')
  const { total, cutoff } = shown.view.evidence.score
  const [row] = (await call('decisions.list', { limit: 1 })).decisions
  assert.deepEqual(
    [row.id, row.requested, row.score],
    [decision.id, { amount: 700, currency: 'EUR' }, { total, cutoff }],
    'the list reads columns, not documents',
  )
})
