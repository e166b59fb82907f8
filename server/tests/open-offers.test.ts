/** Approvals that were not taken up count as exposure: n applications at the same time get one limit in total. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addOperator } from '../src/admin/manage-operators.ts'
import { mergeEntities, separateEntity } from '../src/admin/merge-entities.ts'
import { Problem } from '../src/admin/problem.ts'
import { retractOutcome } from '../src/admin/retract-outcome.ts'
import { findAlteredOffers } from '../src/audit/check-open-offers.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { recordDecision } from '../src/console/playground/record-decision.ts'
import { type OpenOffer, openAt } from '../src/core/facts/open-offers.ts'
import { storedOffers, storeOffers } from '../src/store/environment/stored-offers.ts'
import { offersAfterOutcome, offersAfterReviews } from '../src/underwriting/entity-offers.ts'
import { byOperator, byService } from './acts.ts'
import { allowManyRequests } from './allow-many-requests.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { personas } from './personas.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'

const START = '2026-11-15T09:00:00.000Z'
const DAY_MS = 86_400_000
let nowMs = Date.parse(START)
const api = await startTestService({ nowMs: () => nowMs })
const { installation } = api.service
const database = installation.storage.environments.sandbox
const worker = newConsequenceWorker(installation)
const acme = await api.newOrganization()
// Some of these applicants ask fifty times a day.
await allowManyRequests(installation, acme.id)
const prime = personas(START).find(({ name }) => name === 'prime')!

let count = 0
async function post(path: string, body: unknown) {
  const answer = await acme.post(path, body, { 'Idempotency-Key': `offers-${count++}` })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

/** An applicant who can carry credit, with identifiers that no other entity has. */
async function newApplicant({ withTransactions = true } = {}): Promise<string> {
  const own = `offers-${count++}`
  const { id } = await post('/v1/entities', { ...prime.entity, external_id: own })
  for (const { identifier, verification } of prime.identityLinks)
    await post(`/v1/entities/${id}/identity-links`, { identifier: { ...identifier, value: own }, verification })
  for (const consent of prime.consents) await post(`/v1/entities/${id}/consents`, consent)
  if (withTransactions) await post(`/v1/entities/${id}/transactions`, { transactions: prime.transactions })
  return id
}

interface Request {
  requested_amount?: number
  currency?: string
  reference?: string
  product?: string
}

/** Two people who together merge entities and take outcomes back. */
const [ada, grace] = [await newAdmin('ada'), await newAdmin('grace')] as const
async function newAdmin(name: string) {
  const added = { email: `${name}@example.com`, name, role: 'admin' as const }
  return byOperator(await addOperator(installation, byService(acme.id), added))
}

const MUCH = 1_000_000
const decide = (id: string, request: Request = {}) =>
  post('/v1/underwrite', { entity_id: id, product: 'default', requested_amount: MUCH, currency: 'EUR', ...request })
const report = (decisionId: string, type: string, more: object = {}) =>
  post(`/v1/decisions/${decisionId}/outcomes`, { type, occurred_at: new Date(nowMs).toISOString(), ...more })
const review = (decisionId: string, verdict: string, more: object = {}) =>
  post(`/v1/decisions/${decisionId}/reviews`, { verdict, reviewer: { id: 'u-1' }, reason: 'A test.', ...more })

async function merge(entity: string, other: string): Promise<void> {
  for (const act of [ada, grace]) await mergeEntities(installation, act, { entity, other })
}
async function retract(outcomeId: string): Promise<void> {
  for (const act of [ada, grace]) await retractOutcome(installation, act, outcomeId)
}

/** What the facts of a decision say of open offers. */
async function offersIn(decisionId: string) {
  const { body } = await acme.get(`/v1/decisions/${decisionId}/replay`)
  assert.equal(body.matches, true)
  const features = body.evidence.feature_snapshot
  return ['open_count', 'open_amount', 'open_in_other_currency'].map((name) => features[`offers.${name}`].value)
}

/** The row of an entity; undefined if it has none. */
async function rowOf(entityId: string): Promise<{ version: number; offers: OpenOffer[] } | undefined> {
  const [row] = await database.query<{ version: number; offers: string }>(
    'SELECT version, offers FROM open_offers WHERE entity_id = $1',
    [entityId],
  )
  return row && { version: row.version, offers: storedOffers(row.offers)! }
}
const listed = async (entityId: string) => (await rowOf(entityId))?.offers.map(({ decisionId }) => decisionId) ?? []

/** What an applicant is offered in total, one request after the other. */
async function wholeLimit(): Promise<number> {
  const id = await newApplicant()
  let total = 0
  for (;;) {
    const { recommended_limit } = await decide(id)
    if (!recommended_limit) return total
    total += recommended_limit
  }
}

test('fifty requests at the same time get one limit in total', async () => {
  const whole = await wholeLimit()
  assert.ok(whole > 5_000)
  const id = await newApplicant()
  const decisions = await Promise.all(Array.from({ length: 50 }, () => decide(id)))
  const limits = decisions.map(({ recommended_limit = 0 }) => recommended_limit as number)
  assert.equal(
    limits.reduce((sum, limit) => sum + limit, 0),
    whole,
  )
  const { offers } = (await rowOf(id))!
  assert.deepEqual(offers.map(({ amount }) => amount).sort(), limits.filter((limit) => limit > 0).sort())
})

/** Decides by the code of the playground, which does not wait for other requests on this node, until it is written. */
async function recordUnserialized(request: Parameters<typeof recordDecision>[2]['request']) {
  for (;;) {
    try {
      return await recordDecision(installation, ada, { request, requestId: `req_${count++}` })
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'entity_busy') throw error
    }
  }
}

test('of requests that do not wait for each other, as on two nodes, each is decided on the offers of those before', async () => {
  const whole = await wholeLimit()
  const id = await newApplicant()
  const request = { entity_id: id, product: 'default', requested_amount: MUCH, currency: 'EUR' }
  const decisions = await Promise.all(Array.from({ length: 12 }, () => recordUnserialized(request)))
  assert.equal(
    decisions.reduce((sum, { recommended_limit = 0 }) => sum + recommended_limit, 0),
    whole,
  )
  const offered = (await rowOf(id))!.offers.reduce((sum, { amount }) => sum + amount, 0)
  assert.equal(offered, whole)
})

test('of a review that opens an offer and an outcome that ends it at the same moment, the second one is not written', async () => {
  const store = installation.stores.sandbox
  const organizationId = acme.id
  const undecided = async () => {
    const id = await newApplicant({ withTransactions: false })
    const { id: decisionId } = await decide(id, { requested_amount: 900 })
    const entity = (await store.entities.find({ organizationId, id }))!
    const decision = (await store.decisions.find({ organizationId, id: decisionId }))!
    return { id, entity, decision }
  }
  const tools = { store, organizationId, now: new Date(nowMs).toISOString() }
  const approved = { id: 'rev_1', verdict: 'approve', created_at: tools.now } as const

  const one = await undecided()
  const offers = await offersAfterReviews(tools, [one.entity], [{ decision: one.decision, review: approved }])
  assert.ok(offers !== 'too_many' && offers.changedOffers[0]!.offers.includes(one.decision.id))
  await report(one.decision.id, 'closed')
  const { changedOffers } = offers
  assert.equal((await store.commit({ organizationId, changedOffers, auditEntries: [] })).lost, 'open_offers')

  const other = await undecided()
  const closed = { type: 'closed', occurredAt: tools.now } as const
  const ended = await offersAfterOutcome(tools, other.entity, { decision: other.decision, report: closed, earlier: [] })
  assert.ok(ended)
  await review(other.decision.id, 'approve')
  assert.equal((await store.commit({ organizationId, changedOffers: [ended], auditEntries: [] })).lost, 'open_offers')
  assert.deepEqual(await listed(other.id), [other.decision.id])
})

test('fifty small requests at the same time are each decided after the other', async () => {
  const id = await newApplicant()
  const decisions = await Promise.all(Array.from({ length: 50 }, () => decide(id, { requested_amount: 50 })))
  const counts = await Promise.all(decisions.map(async (decision) => (await offersIn(decision.id))[0]))
  assert.deepEqual(
    counts.sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, earlier) => earlier),
  )
  assert.equal((await rowOf(id))!.version, 50)
})

test('an offer counts in its currency with what was offered, and as one of another currency', async () => {
  const id = await newApplicant()
  const first = await decide(id)
  assert.deepEqual(await offersIn(first.id), [0, 0, 0], 'not against itself')
  assert.ok(first.recommended_limit < MUCH)
  const second = await decide(id, { requested_amount: 100 })
  assert.deepEqual(await offersIn(second.id), [1, first.recommended_limit, 0])
  const inCrowns = await decide(id, { currency: 'CZK' })
  assert.equal(inCrowns.verdict, 'manual_review')
  assert.deepEqual((await offersIn(inCrowns.id)).slice(1), [0, second.recommended_limit ? 2 : 1])
})

test('a decision that grants no credit writes no row', async () => {
  const unknown = await newApplicant({ withTransactions: false })
  assert.equal((await decide(unknown)).verdict, 'manual_review')
  await decide(unknown, { reference: 'a' })
  await decide(unknown, { reference: 'a' })
  assert.equal(await rowOf(unknown), undefined)
  const access = await post('/v1/underwrite', { entity_id: unknown, product: 'platform_access' })
  assert.equal(access.verdict, 'approve')
  assert.equal(await rowOf(unknown), undefined)
  const known = await newApplicant()
  await decide(known)
  while ((await decide(known)).recommended_limit);
  const { version } = (await rowOf(known))!
  await decide(known)
  assert.equal((await rowOf(known))!.version, version)
})

test('an expired offer does not count, although it is not removed yet', async () => {
  const id = await newApplicant()
  const first = await decide(id)
  nowMs = Date.parse(first.created_at) + 30 * DAY_MS - 1
  assert.deepEqual(await offersIn((await decide(id)).id), [1, first.recommended_limit, 0])
  nowMs += 1
  assert.deepEqual(await listed(id), [first.id])
  const later = await decide(id)
  assert.deepEqual(await offersIn(later.id), [0, 0, 0])
  assert.deepEqual(await listed(id), [later.id], 'the next version leaves it out')
  nowMs = Date.parse(START)
})

test('an offer ends when it is funded, or closed without that', async () => {
  for (const type of ['funded', 'closed', 'settled', 'charged_off']) {
    const id = await newApplicant()
    const first = await decide(id)
    await report(first.id, 'current')
    assert.deepEqual(await listed(id), [first.id])
    await report(first.id, type)
    assert.deepEqual(await listed(id), [], type)
    const next = await decide(id, { requested_amount: 100 })
    assert.deepEqual(await offersIn(next.id), [0, 0, 0], type)
    if (type === 'funded') await report(first.id, 'repaid')
    assert.ok(!(await listed(id)).includes(first.id))
  }
})

test('an offer of which a part was paid out goes on with the rest until that is drawn, or it is closed', async () => {
  const id = await newApplicant()
  const first = await decide(id)
  const whole = first.recommended_limit as number
  const draw = (amount: number) => report(first.id, 'funded', { amount, currency: 'EUR' })
  await draw(10)
  const { offers } = (await rowOf(id))!
  assert.deepEqual(
    offers.map(({ amount, expiresAt }) => [amount, expiresAt]),
    [[whole - 10, new Date(Date.parse(first.created_at) + 30 * DAY_MS).toISOString()]],
  )
  assert.deepEqual(await alteredOffers(id), [])
  const second = await decide(id)
  assert.deepEqual(await offersIn(second.id), [1, whole - 10, 0])
  assert.ok(!second.recommended_limit || second.recommended_limit < whole)
  const mistaken = await draw(whole - 10)
  assert.ok(!(await listed(id)).includes(first.id))
  await retract(mistaken.id)
  assert.ok((await listed(id)).includes(first.id), 'the part that was not drawn is offered again')
  await report(first.id, 'closed')
  assert.ok(!(await listed(id)).includes(first.id))
  assert.deepEqual(await alteredOffers(id), [])
})

test('an outcome that is taken back opens its offer again', async () => {
  const id = await newApplicant()
  const first = await decide(id)
  const before = (await rowOf(id))!.offers
  const funded = await report(first.id, 'funded')
  assert.deepEqual(await listed(id), [])
  await retractOutcome(installation, ada, funded.id)
  assert.deepEqual(await listed(id), [])
  await retractOutcome(installation, grace, funded.id)
  assert.deepEqual((await rowOf(id))!.offers, before)
})

test('a review opens, changes and ends an offer', async () => {
  const id = await newApplicant({ withTransactions: false })
  const { id: decisionId } = await decide(id, { requested_amount: 900 })
  nowMs += DAY_MS
  await review(decisionId, 'approve', { recommended_limit: 700 })
  const [offer] = (await rowOf(id))!.offers
  assert.deepEqual([offer!.amount, offer!.currency, offer!.expiresAt], [700, 'EUR', '2026-12-16T09:00:00.000Z'])
  await review(decisionId, 'approve', { recommended_limit: 800 })
  assert.deepEqual(
    (await rowOf(id))!.offers.map(({ amount }) => amount),
    [800],
  )
  await review(decisionId, 'decline')
  assert.deepEqual(await listed(id), [])
  await review(decisionId, 'approve')
  await report(decisionId, 'closed')
  await review(decisionId, 'approve')
  assert.deepEqual(await listed(id), [], 'what was closed is not open again')
  nowMs = Date.parse(START)
})

test('a request with the same reference replaces the offer, whatever its verdict', async () => {
  const id = await newApplicant()
  const first = await decide(id, { reference: 'case-1' })
  const second = await decide(id, { reference: 'case-1' })
  assert.equal(second.recommended_limit, first.recommended_limit)
  assert.deepEqual(await offersIn(second.id), [0, 0, 0])
  assert.deepEqual(await listed(id), [second.id])
  const trail = (await acme.get(`/v1/entities/${id}/audit-trail?limit=50`)).body.data
  const [replaced] = trail.filter(({ type }: { type: string }) => type === 'decision.offer_replaced')
  assert.deepEqual(replaced.data, { entity_id: id, decision_id: first.id, replaced_by: second.id })
  await review(first.id, 'approve')
  assert.deepEqual(await listed(id), [second.id], 'nor does a person open it again')
  const reviewed = await decide(id, { reference: 'case-1', currency: 'CZK' })
  assert.equal(reviewed.recommended_limit, undefined)
  assert.deepEqual(await listed(id), [])
})

/** Which request took the place of each offer of an entity. */
async function replacements(entityId: string): Promise<[decisionId: string, by: string][]> {
  const trail = (await acme.get(`/v1/entities/${entityId}/audit-trail?limit=50`)).body.data
  return trail
    .filter(({ type }: { type: string }) => type === 'decision.offer_replaced')
    .map(({ data }: { data: Record<string, string> }) => [data.decision_id, data.replaced_by])
}

test('a request that was no offer when a later one with its reference was decided is not approved beside it', async () => {
  const id = await newApplicant({ withTransactions: false })
  const first = await decide(id, { requested_amount: 900, reference: 'case-3' })
  assert.equal(first.verdict, 'manual_review')
  await post(`/v1/entities/${id}/transactions`, { transactions: prime.transactions })
  const second = await decide(id, { reference: 'case-3' })
  await review(first.id, 'approve')
  assert.deepEqual(await listed(id), [second.id])
  assert.deepEqual(await replacements(id), [[first.id, second.id]])
  await review(first.id, 'approve')
  assert.equal((await replacements(id)).length, 1)
  assert.deepEqual(await alteredOffers(id), [])
})

test('an offer that was closed when a later request had its reference does not open when that is taken back', async () => {
  const id = await newApplicant()
  const first = await decide(id, { reference: 'case-4' })
  const closed = await report(first.id, 'closed')
  const second = await decide(id, { reference: 'case-4' })
  await retract(closed.id)
  assert.deepEqual(await listed(id), [second.id])
  assert.deepEqual(await replacements(id), [[first.id, second.id]])
  assert.deepEqual(await alteredOffers(id), [])
})

test('a request replaces one about a merged entity for good, and a request for access replaces none', async () => {
  const { id: a } = await post('/v1/entities', { external_id: `offers-${count++}`, type: 'person' })
  const b = await newApplicant()
  const first = await decide(a, { requested_amount: 900, reference: 'case-5' })
  const other = await decide(a, { requested_amount: 800, reference: 'case-6' })
  await post('/v1/underwrite', { entity_id: a, product: 'platform_access', reference: 'case-6' })
  await merge(a, b)
  const second = await decide(b, { reference: 'case-5' })
  for (const { id } of [first, other]) await review(id, 'approve')
  assert.deepEqual([await listed(a), await listed(b)], [[other.id], [second.id]])
  for (const act of [ada, grace]) await separateEntity(installation, act, a)
  await review(first.id, 'approve')
  assert.deepEqual(await listed(a), [other.id], 'telling them apart does not open it again')
  assert.deepEqual([await alteredOffers(a), await alteredOffers(b)], [[], []])
})

test('an offer that was replaced is paid out only with an override, the one that replaced it without', async () => {
  const id = await newApplicant()
  const first = await decide(id, { reference: 'application-9' })
  const second = await decide(id, { reference: 'application-9' })
  const funded = (decisionId: string, more: object = {}) =>
    acme.post(`/v1/decisions/${decisionId}/outcomes`, { type: 'funded', occurred_at: START, ...more })
  const refused = await funded(first.id)
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'outcome_mismatch'])
  assert.match(refused.body.error.message, /Report it on the later decision/)
  assert.equal((await funded(second.id)).status, 201)
  const taken = await funded(first.id, { override: true, note: 'Paid out before the second request.' })
  assert.equal(taken.status, 201)
})

test('a request for access takes the place of no offer, whatever its reference', async () => {
  const id = await newApplicant()
  const credit = await decide(id, { reference: 'journey-1' })
  await post('/v1/underwrite', { entity_id: id, product: 'platform_access', reference: 'journey-1' })
  assert.deepEqual(await listed(id), [credit.id])
})

test('paying out a loan announces no other verdict, because its own offer and credit are no earlier ones', async () => {
  const id = await newApplicant()
  const { id: decisionId } = await decide(id)
  const announced = async () => {
    await worker.drain()
    const { data } = (await acme.get(`/v1/entities/${id}/audit-trail?limit=50`)).body
    return data.filter(({ type }: { type: string }) => type === 'decision.reevaluation_due').length
  }
  await post(`/v1/entities/${id}/consents`, prime.consents[0])
  assert.equal(await announced(), 0)
  await report(decisionId, 'funded')
  assert.equal(await announced(), 0)
})

test('merged entities get one limit in total, also by requests about both at the same time', async () => {
  const merged = async () => {
    const { id: b } = await post('/v1/entities', { external_id: `offers-${count++}`, type: 'person' })
    const a = await newApplicant()
    await merge(a, b)
    return [a, b] as const
  }
  const [one, other] = await merged()
  let whole = 0
  for (let turn = 0; ; turn++) {
    const { recommended_limit } = await decide(turn % 2 === 0 ? one : other)
    if (!recommended_limit) break
    whole += recommended_limit
  }
  assert.ok(whole > 5_000)
  const [a, b] = await merged()
  const decisions = await Promise.all(Array.from({ length: 50 }, (_, turn) => decide(turn % 2 === 0 ? a : b)))
  const limits = decisions.map(({ recommended_limit = 0 }) => recommended_limit as number)
  assert.equal(
    limits.reduce((sum, limit) => sum + limit, 0),
    whole,
  )
  const [rowA, rowB] = [(await rowOf(a))!, (await rowOf(b))!]
  assert.equal(rowA.version, rowB.version, 'each approval claims both')
  const offered = [...rowA.offers, ...rowB.offers].reduce((sum, { amount }) => sum + amount, 0)
  assert.equal(offered, whole)

  const [c, d] = await merged()
  await decide(c, { reference: 'case-2' })
  const again = await decide(d, { reference: 'case-2' })
  assert.deepEqual([await listed(c), await listed(d)], [[], [again.id]])
  await separateEntity(installation, ada, c)
  await separateEntity(installation, grace, c)
  assert.deepEqual(await offersIn((await decide(c, { requested_amount: 100 })).id), [0, 0, 0])
})

test('an entity can have a hundred open offers', async () => {
  const id = await newApplicant()
  for (let offers = 0; offers < 100; offers++) await decide(id, { requested_amount: 50, reference: `case-${offers}` })
  const request = { entity_id: id, product: 'default', requested_amount: 50, currency: 'EUR' }
  const refused = await acme.post('/v1/underwrite', request, { 'Idempotency-Key': `offers-${count++}` })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.error.code, 'too_many_open_offers')
  const last = await decide(id, { requested_amount: 50, reference: 'case-0' })
  assert.equal((await listed(id)).length, 100)
  const mistaken = await report(last.id, 'closed')
  await decide(id, { requested_amount: 50, reference: 'case-100' })
  await retract(mistaken.id)
  assert.equal((await listed(id)).length, 101, 'what was reported by mistake can be taken back all the same')
})

/** What `audit verify` says of the open offers of an entity; those of others were made while the clock was elsewhere. */
async function alteredOffers(entityId: string): Promise<string[]> {
  const problems: string[] = []
  const store = installation.stores.sandbox
  await findAlteredOffers({ store, organizationId: acme.id, nowMs }, (problem) => problems.push(problem))
  return problems.filter((problem) => problem.includes(entityId))
}

interface Known {
  id: string
  /** What it offers after its newest review; undefined if it is no approval. */
  offer: { amount: number; expiresAt: string } | undefined
  reference: string | undefined
  /** What was paid out, by instant and amount: the same twice is one draw. */
  draws: Map<string, number>
  isOver: boolean
}

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ asks: fc.constantFrom(300, 2_000, MUCH), as: fc.constantFrom('', 'a', 'b') }) },
  { weight: 2, arbitrary: fc.record({ of: fc.nat(), ends: fc.constantFrom('closed', 'late', 'default') }) },
  { weight: 2, arbitrary: fc.record({ of: fc.nat(), draws: fc.constantFrom(100, 450, MUCH) }) },
  { weight: 2, arbitrary: fc.record({ of: fc.nat(), says: fc.constantFrom('approve', 'decline') }) },
  { weight: 1, arbitrary: fc.record({ waits: fc.integer({ min: 1, max: 20 }) }) },
)

test('after any requests, outcomes, reviews and waits the row lists what a count from scratch says', async () => {
  const days = (from: string) => new Date(Date.parse(from) + 30 * DAY_MS).toISOString()
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 4, maxLength: 14 }), async (operations) => {
      nowMs = Date.parse(START)
      const id = await newApplicant()
      const known: Known[] = []
      for (const done of operations) {
        if ('waits' in done) nowMs += done.waits * DAY_MS
        else if ('asks' in done) {
          const reference = done.as || undefined
          const made = await decide(id, { requested_amount: done.asks, ...(reference && { reference }) })
          for (const each of known) if (reference && each.reference === reference) each.isOver = true
          const { recommended_limit: amount, created_at } = made
          const offer = amount ? { amount, expiresAt: days(created_at) } : undefined
          known.push({ id: made.id, offer, reference, draws: new Map(), isOver: false })
        } else if (known.length > 0) {
          const about = known[done.of % known.length]!
          if ('ends' in done) {
            await report(about.id, done.ends, { override: true, note: 'A test.' })
            if (done.ends === 'closed') about.isOver = true
          } else if ('draws' in done) {
            const amount = { amount: done.draws, currency: 'EUR', override: true, note: 'A test.' }
            await report(about.id, 'funded', amount)
            about.draws.set(`${nowMs} ${done.draws}`, done.draws)
          } else {
            const limit = done.says === 'approve' ? { recommended_limit: 500 } : {}
            const { created_at } = await review(about.id, done.says, limit)
            about.offer = done.says === 'approve' ? { amount: 500, expiresAt: days(created_at) } : undefined
          }
        }
      }
      const now = new Date(nowMs).toISOString()
      const row = await rowOf(id)
      const listedNow = openAt(row?.offers ?? [], now).map((each) => [each.decisionId, each.amount, each.expiresAt])
      const counted = known.flatMap(({ id: decisionId, offer, draws, isOver }) => {
        const left = (offer?.amount ?? 0) - [...draws.values()].reduce((sum, amount) => sum + amount, 0)
        return offer && left > 0 && !isOver && offer.expiresAt > now ? [[decisionId, left, offer.expiresAt]] : []
      })
      assert.deepEqual(listedNow.sort(), counted.sort())
      assert.deepEqual(await alteredOffers(id), [])
    }),
    { numRuns: 20, endOnFailure: true },
  )
  nowMs = Date.parse(START)
})

test('audit verify names every entity whose row was altered with SQL', async () => {
  const id = await newApplicant()
  const { id: decisionId, recommended_limit: amount } = await decide(id, { reference: 'x' })
  const { offers } = (await rowOf(id))!
  const [offer] = offers as [OpenOffer]
  assert.deepEqual(await alteredOffers(id), [])
  const name = `The open offers of the entity ${id} were changed: `
  const own = `${decisionId} of ${amount} EUR until ${offer.expiresAt} (x)`
  const altered: [offers: string, problem: string][] = [
    ['[]', `its row lacks ${own}`],
    [storeOffers([{ ...offer, amount: 1 }]), `its row lists ${own.replace(`${amount}`, '1')}, which is not on record`],
    [
      storeOffers([{ ...offer, currency: 'CZK' }]),
      `its row lists ${own.replace('EUR', 'CZK')}, which is not on record`,
    ],
    [storeOffers([{ ...offer, expiresAt: START }]), `its row lacks ${own}`],
    [storeOffers([offer, offer]), 'its row lists an offer twice'],
    ['nonsense', 'its row cannot be read'],
    [JSON.stringify([[offer.decisionId, `${amount}`, 'EUR', 0]]), 'its row cannot be read'],
  ]
  for (const [forged, problem] of altered) {
    await tamper(database, 'UPDATE open_offers SET offers = $2 WHERE entity_id = $1', [id, forged])
    assert.deepEqual(await alteredOffers(id), [`${name}${problem}.`])
  }
  await tamper(database, 'DELETE FROM open_offers WHERE entity_id = $1', [id])
  const { problems } = await verifyAuditLog({
    organizationId: acme.id,
    environment: 'sandbox',
    store: installation.stores.sandbox,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: installation.masterKey.auditPublicKeys('sandbox'),
    nowMs: () => nowMs,
  })
  assert.ok(problems.includes(`${name}its row lacks ${own}.`), problems.join('\n'))
})
