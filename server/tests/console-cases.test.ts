/** The review queue: what opens, joins and closes a case, and what a slower reviewer is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { DEFAULT_REVIEW_BOUNDS } from '../src/core/review-bounds.ts'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { startTestService } from './test-service.ts'

const HOUR_MS = 3_600_000
let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const person = (email: string) => signedInOperator(api, { organizationId: acme.id, email, role: 'reviewer' })
const [ada, ben] = [await person('ada@example.com'), await person('ben@example.com')]
const { installation } = api.service
const database = installation.storage.environments.sandbox

const ask = (who: ConsoleClient, name: string, input: object = {}) => who.call(`${acme.id}/sandbox/${name}`, input)

async function read(name: string, input: object = {}, who: ConsoleClient = ada) {
  const { status, body } = await ask(who, name, input)
  assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
  return body
}

async function refused(who: ConsoleClient, name: string, input: object) {
  const { status, body } = await ask(who, name, input)
  assert.equal(status, 409, JSON.stringify(body))
  return body.error as { code: string; message: string }
}

/** A decision about an entity without data, which the sandbox policy leaves to a person. */
async function undecided(entityId: string, amount = 1_000) {
  nowMs += 1_000
  const decision = await underwrite(acme, entityId, { requested_amount: amount, currency: 'EUR' })
  assert.equal(decision.verdict, 'manual_review')
  return decision
}

async function newCase(externalId: string) {
  const entityId = await createEntity(acme, externalId)
  const decision = await undecided(entityId)
  const id = `cas_${decision.id.slice(4)}`
  return { id, entityId, decisionId: decision.id as string }
}

const countOf = async (table: string) => {
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM ${table} WHERE org_id = $1`,
    [acme.id],
  )
  return row!.count
}

/** Closes what a test left open, so that the next one starts with an empty queue. */
async function emptyQueue() {
  for (const { id, assignee } of (await read('cases.list')).cases) {
    if (assignee) await read('cases.assign', { id, to: ada.operatorId, seen: assignee.id })
    const { requests } = await read('cases.show', { id })
    const verdicts = requests.map((request: { id: string }) => ({ decision_id: request.id, verdict: 'decline' }))
    await read('cases.decide', { id, reason: 'Done.', verdicts })
  }
}

/** The input that decides a case with one request. */
const one = (id: string, decision_id: string, said: object, reason = 'Fine.') => ({
  id,
  reason,
  verdicts: [{ decision_id, ...said }],
})

test('a manual review opens a case, and further decisions about the entity join it', async () => {
  const first = await newCase('first')
  const other = await newCase('other')
  const again = await undecided(first.entityId, 800)
  const { cases, counts, within_hours } = await read('cases.list')
  assert.deepEqual(
    cases.map(({ id, waiting }: { id: string; waiting: number }) => [id, waiting]),
    [
      [first.id, 2],
      [other.id, 1],
    ],
  )
  assert.deepEqual([counts.all, counts.mine, counts.free, counts.overdue, within_hours], [2, 0, 2, 0, 8])
  assert.deepEqual(await read('cases.count'), { ...counts, within_hours })
  const [listed] = cases
  assert.equal(listed.decision.id, again.id, 'the newest decision is what the case is about')
  assert.deepEqual(listed.decision.requested, { amount: 800, currency: 'EUR' })
  assert.equal(Date.parse(listed.due_at) - Date.parse(listed.opened_at), 8 * HOUR_MS)
  assert.equal(typeof listed.decision.score, 'number')
  const { settled_by, completeness_ppm, completeness_min_ppm } = listed.trigger
  assert.equal(settled_by, 'completeness')
  assert.ok(completeness_ppm < completeness_min_ppm, JSON.stringify(listed.trigger))
  const shown = await read('cases.show', { id: first.id })
  assert.deepEqual(
    shown.decisions.map(({ id, is_waiting }: { id: string; is_waiting: boolean }) => [id, is_waiting]),
    [
      [again.id, true],
      [first.decisionId, true],
    ],
  )
  assert.deepEqual(shown.trigger, listed.trigger)
  assert.deepEqual(
    shown.reviewers.map(({ name }: { name: string }) => name),
    ['Test', 'Test'],
  )
})

test('reviews through the API close the case once no decision of it waits, and the case says who, when and why', async () => {
  const [listed] = (await read('cases.list')).cases
  const [newest, oldest] = (await read('cases.show', { id: listed.id })).decisions
  const review = { verdict: 'approve', reviewer: { id: 'crm-7', name: 'Carla' }, reason: 'Payslips seen.' }
  assert.equal((await acme.post(`/v1/decisions/${oldest.id}/reviews`, review)).status, 201)
  assert.equal((await read('cases.show', { id: listed.id })).waiting, 1)
  const closing = await acme.post(`/v1/decisions/${newest.id}/reviews`, review)
  const closed = await read('cases.show', { id: listed.id })
  assert.deepEqual(
    [closed.waiting, closed.end.by, closed.end.at, closed.end.reason, closed.end.review_id],
    [0, 'Carla (through API key Test)', closing.body.created_at, 'Payslips seen.', closing.body.id],
  )
  const decided = await read('cases.list', { state: 'decided' })
  assert.deepEqual(
    decided.cases.map(({ id }: { id: string }) => id),
    [listed.id],
  )
  const told = await refused(ada, 'cases.decide', one(listed.id, newest.id, { verdict: 'decline' }))
  assert.equal(told.code, 'case_decided')
  assert.match(
    told.message,
    /^Carla \(through API key Test\) has decided this case already, on 2026-11-15 at 09:30 UTC\.$/,
  )
  // A review of a decision that waits for nothing changes no case.
  assert.equal((await acme.post(`/v1/decisions/${newest.id}/reviews`, review)).status, 201)
  const after = await undecided(listed.entity.id)
  const { cases } = await read('cases.list')
  assert.ok(
    cases.some(({ id }: { id: string }) => id === `cas_${after.id.slice(4)}`),
    'a later decision opens another case',
  )
  await emptyQueue()
})

test('a case that one reviewer took is refused to the next, who is told by whom and when', async () => {
  const { id, decisionId } = await newCase('taken')
  await read('cases.assign', { id, to: ada.operatorId, seen: null })
  const [entries, reviews] = [await countOf('audit_entries'), await countOf('reviews')]
  const slower = await refused(ben, 'cases.assign', { id, to: ben.operatorId, seen: null })
  assert.equal(slower.code, 'case_taken')
  assert.match(slower.message, /^Test took this case, on 2026-11-15 at 09:30 UTC\.$/)
  const verdict = one(id, decisionId, { verdict: 'approve', recommended_limit: 500 })
  assert.equal((await refused(ben, 'cases.decide', verdict)).code, 'case_taken')
  assert.deepEqual([await countOf('audit_entries'), await countOf('reviews')], [entries, reviews])
  assert.deepEqual((await read('cases.list', { holder: 'mine' }, ben)).cases, [])
  assert.equal((await read('cases.list', { holder: 'mine' }, ada)).cases.length, 1)
  // A reviewer who sees the assignee may take the case over, or give it back.
  await read('cases.assign', { id, to: ben.operatorId, seen: ada.operatorId }, ben)
  await read('cases.assign', { id, to: null, seen: ben.operatorId }, ben)
  assert.equal((await read('cases.list', { holder: 'free' })).cases.length, 1)
  const viewer = await signedInOperator(api, { organizationId: acme.id, email: 'eve@example.com', role: 'viewer' })
  const unfit = await refused(ada, 'cases.assign', { id, to: viewer.operatorId, seen: null })
  assert.equal(unfit.code, 'assignee_cannot_review', 'a case is not given to an operator who could not decide it')
  await emptyQueue()
})

test('a case decided in the console leaves the review, the audit entry and the event of the API, and reviews all that waits', async () => {
  const { id, entityId, decisionId } = await newCase('decided')
  const second = await undecided(entityId, 500)
  const stale = one(id, decisionId, { verdict: 'approve', recommended_limit: 500 })
  assert.equal((await refused(ada, 'cases.decide', stale)).code, 'case_changed')
  assert.equal((await ask(ada, 'cases.decide', { ...stale, reason: '  ' })).status, 400, 'a reason is required')
  const decide = (said: object) => ({
    id,
    reason: 'Guarantor signs.',
    verdicts: [
      { decision_id: decisionId, verdict: 'decline' },
      { decision_id: second.id, verdict: 'approve_with_conditions', recommended_limit: 400, ...said },
    ],
  })
  assert.equal((await ask(ada, 'cases.decide', decide({}))).status, 400, 'conditions are required')
  const decided = await read('cases.decide', decide({ conditions: ['Guarantor signs'] }))
  assert.equal(decided.reviews.length, 2)
  const { body: shown } = await acme.get(`/v1/decisions/${second.id}/replay`)
  const [review] = shown.reviews
  assert.deepEqual(review.reviewer, { id: ada.operatorId, name: 'Test' })
  assert.deepEqual(
    [review.verdict, review.overrides, review.recommended_limit, review.currency],
    ['approve_with_conditions', false, 400, 'EUR'],
  )
  assert.deepEqual(review.conditions, [{ code: 'reviewer_condition', label: 'Guarantor signs' }])
  const { body: trail } = await acme.get(`/v1/entities/${entityId}/audit-trail`)
  const entries = trail.data.filter(({ type }: { type: string }) => type === 'decision.reviewed')
  assert.equal(entries.length, 2)
  for (const { actor } of entries) assert.deepEqual(actor, { type: 'operator', id: ada.operatorId })
  const [event] = await database.query<{ data: string }>(
    "SELECT data FROM audit_entries WHERE org_id = $1 AND type = 'decision.reviewed' ORDER BY id DESC LIMIT 1",
    [acme.id],
  )
  assert.deepEqual(Object.keys(JSON.parse(event!.data)), [
    'decision_id',
    'entity_id',
    'overrides',
    'record_sha256',
    'review_id',
    'verdict',
  ])
  const closed = await read('cases.show', { id })
  assert.deepEqual(
    [closed.end.by, closed.end.limit, closed.assignee.id],
    ['Test', { amount: 400, currency: 'EUR' }, ada.operatorId],
  )
})

test('an approved case opens an offer, which the page of the entity shows and the next decision counts', async () => {
  const { id, entityId, decisionId } = await newCase('offered')
  const verdicts = [{ decision_id: decisionId, verdict: 'approve', recommended_limit: 700 }]
  await read('cases.decide', { id, reason: 'Payslips seen.', verdicts })
  const { open_offers: offers } = await read('entities.show', { id: entityId })
  assert.deepEqual(
    offers.map(({ decision_id, offered }: { decision_id: string; offered: object }) => [decision_id, offered]),
    [[decisionId, { amount: 700, currency: 'EUR' }]],
  )
  const next = await undecided(entityId)
  const { body: replay } = await acme.get(`/v1/decisions/${next.id}/replay`)
  assert.equal(replay.evidence.feature_snapshot['offers.open_amount'].value, 700)
  await emptyQueue()
})

test('each request of a case gets its own verdict and its own limit, in one change', async () => {
  const entityId = await createEntity(acme, 'two requests')
  const [large, small] = [await undecided(entityId, 12_000), await undecided(entityId, 300)]
  const id = `cas_${large.id.slice(4)}`
  const { requests } = await read('cases.show', { id })
  assert.deepEqual(
    requests.map((request: { id: string; requested: object; ask_above: number; refuse_above: number }) => [
      ...[request.id, request.requested, request.ask_above, request.refuse_above],
    ]),
    [
      [large.id, { amount: 12_000, currency: 'EUR' }, 12_000, 120_000],
      [small.id, { amount: 300, currency: 'EUR' }, 300, 3_000],
    ],
  )
  const approve = (decision_id: string, recommended_limit: number) => ({
    decision_id,
    verdict: 'approve',
    recommended_limit,
  })
  const before = await countOf('reviews')
  const decide = (...verdicts: object[]) => ask(ada, 'cases.decide', { id, reason: 'Both are covered.', verdicts })
  const incomplete = [
    await decide(approve(large.id, 12_000)),
    await decide(approve(large.id, 12_000), approve(large.id, 300)),
    await decide(approve(large.id, 12_000), approve('dec_06fk3v8tz9y7q2m4n6p8r0s1t3', 300)),
  ]
  for (const { status, body } of incomplete) assert.deepEqual([status, body.error.code], [409, 'case_changed'])
  const withoutLimit = await decide(approve(large.id, 12_000), { decision_id: small.id, verdict: 'approve' })
  assert.match(withoutLimit.body.error.message, /needs a limit/)
  assert.equal(await countOf('reviews'), before, 'a verdict that is refused leaves no other one behind')
  assert.equal((await decide(approve(small.id, 300), approve(large.id, 12_000))).status, 200)
  for (const [decision, limit] of [
    [large, 12_000],
    [small, 300],
  ] as const) {
    const { body } = await acme.get(`/v1/decisions/${decision.id}/replay`)
    assert.deepEqual(
      body.reviews.map((review: { recommended_limit: number }) => review.recommended_limit),
      [limit],
    )
  }
  const { decisions, prior } = await read('cases.show', { id })
  assert.deepEqual(
    decisions.map(({ review }: { review: { limit: { amount: number } } }) => review.limit.amount),
    [300, 12_000],
    'the closed case says what each request got',
  )
  assert.deepEqual(prior, [])
})

test('a limit above what was asked needs a confirmation and a reason that says why', async () => {
  const { id, decisionId } = await newCase('above')
  const before = await countOf('reviews')
  const why = 'A guarantor with a house stands in for it.'
  const decide = (recommended_limit: number, reason: string, excess_confirmed?: boolean) =>
    ask(ada, 'cases.decide', one(id, decisionId, { verdict: 'approve', recommended_limit, excess_confirmed }, reason))
  const answers = [
    await decide(1_001, why),
    await decide(1_001, why, false),
    await decide(1_001, 'Fine.', true),
    await decide(10_001, why, true),
  ]
  for (const { status, body } of answers) assert.deepEqual([status, body.error.code], [400, 'limit_outside_bounds'])
  assert.match(answers[2]!.body.error.message, /at least 20 characters/)
  assert.match(answers[3]!.body.error.message, /more than 10 times what was asked is refused/)
  assert.equal(await countOf('reviews'), before)
  assert.equal((await decide(1_001, why, true)).status, 200)
})

test('an owner or admin sets how far limits may go, with a reason, and it counts at once', async () => {
  const boss = await signedInOperator(api, { organizationId: acme.id, email: 'boss@example.com', role: 'admin' })
  const set = (who: ConsoleClient, bounds: object, reason = 'Our reviewers round up.') =>
    ask(who, 'review-bounds.set', { ...DEFAULT_REVIEW_BOUNDS, reason, ...bounds })
  assert.equal((await set(ada, { ask_above_percent: 10 })).status, 403, 'a reviewer does not widen their own bounds')
  assert.equal((await set(boss, { ask_above_percent: 10 }, ' ')).status, 400, 'a reason is required')
  assert.equal((await set(boss, { ask_above_percent: 150, refuse_above_times: 2 })).status, 400, 'refused before asked')
  const wider = { ask_above_percent: 10, refuse_above_times: 2, ask_below_percent: 5 }
  assert.equal((await set(boss, wider)).status, 200)
  assert.deepEqual((await read('review-bounds.show')).bounds, wider)
  const { id, decisionId } = await newCase('rounded up')
  const { bounds } = await read('cases.show', { id })
  assert.deepEqual([bounds.ask_above_percent, bounds.refuse_above_times], [10, 2])
  const decide = (limit: number) =>
    ask(ada, 'cases.decide', one(id, decisionId, { verdict: 'approve', recommended_limit: limit }))
  assert.equal((await decide(1_101)).status, 400)
  assert.equal((await decide(1_100)).status, 200)
  const trail = { organizationId: acme.id, trailId: acme.id, beforeSeq: undefined, limit: 1 }
  const [entry] = await installation.stores.production.auditLog.trail(trail)
  assert.equal(entry!.type, 'review_bounds.changed')
  assert.deepEqual(JSON.parse(entry!.data), {
    from: DEFAULT_REVIEW_BOUNDS,
    reason: 'Our reviewers round up.',
    to: wider,
  })
  assert.equal((await set(boss, {})).status, 200)
})

test('of two reviewers who decide at the same moment, one is told that the other was faster', async () => {
  const { id, decisionId } = await newCase('race')
  const verdict = one(id, decisionId, { verdict: 'decline' })
  const before = await countOf('reviews')
  const answers = await Promise.all([ask(ada, 'cases.decide', verdict), ask(ben, 'cases.decide', verdict)])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  const loser = answers.find(({ status }) => status === 409)!
  assert.equal(loser.body.error.code, 'case_decided')
  assert.equal(await countOf('reviews'), before + 1)
})

test('reviewers who take the next case at the same moment get different ones, oldest first', async () => {
  const cases = []
  for (let n = 0; n < 4; n++) cases.push(await newCase(`next-${n}`))
  const taken = await Promise.all([ada, ben, ada, ben].map((who) => read('cases.take-next', {}, who)))
  assert.deepEqual(
    taken.map(({ id }: { id: string }) => id).sort(),
    cases.map(({ id }) => id),
  )
  assert.deepEqual(await read('cases.take-next'), { id: null })
  await emptyQueue()
})

test('a note stays with the case, and the audit log holds its hash but not its text', async () => {
  const { id, entityId } = await newCase('noted')
  await read('cases.add-note', { id, text: 'Called Mrs. Hart, she sends the statements.' })
  const { notes } = await read('cases.show', { id })
  assert.deepEqual(
    notes.map(({ text, by }: { text: string; by: string }) => [text, by]),
    [['Called Mrs. Hart, she sends the statements.', 'Test']],
  )
  const { body } = await acme.get(`/v1/entities/${entityId}/audit-trail`)
  const entry = body.data.find(({ type }: { type: string }) => type === 'case.noted')
  assert.deepEqual(Object.keys(entry.data), ['case_id', 'entity_id', 'record_sha256'])
  const note = { org_id: acme.id, id: 'nte_1', case_id: id, entity_id: entityId, text: 'Forged.' }
  await database.query(
    `INSERT INTO case_notes (org_id, id, case_id, entity_id, text, author_id, created_at) VALUES ($1, $2, $3, $4, $5, 'opr_1', now())`,
    Object.values(note),
  )
  const publicKeys = [installation.masterKey.auditSigningKey('sandbox').publicKey]
  const store = installation.stores.sandbox
  const report = await verifyAuditLog({
    environment: 'sandbox',
    organizationId: acme.id,
    store,
    publicKeys,
    people: api.service.installation.stores.production,
    control: api.service.installation.storage.control,
  })
  assert.ok(
    JSON.stringify(report).includes('nte_1'),
    `a note that no entry speaks of is found: ${JSON.stringify(report)}`,
  )
})

test('a case past its deadline is listed as such', async () => {
  await emptyQueue()
  const { id } = await newCase('late')
  assert.deepEqual((await read('cases.list', { deadline: 'over' })).cases, [])
  nowMs += 8 * HOUR_MS + 1_000
  await ada.signIn('ada@example.com')
  const { cases, counts } = await read('cases.list', { deadline: 'over' })
  assert.deepEqual([cases.map((row: { id: string }) => row.id), counts.overdue], [[id], 1])
})
