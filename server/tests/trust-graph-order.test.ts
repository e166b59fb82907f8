/** The trust graph depends on what was recorded, not on the order in which it was recorded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newConsequenceWorker } from './consequence-worker.ts'
import { ordersTried } from './orders-tried.ts'
import { personas } from './personas.ts'
import { startTestService } from './test-service.ts'

// A clock that cannot reach midnight: ages are whole days.
const START_MS = Date.parse('2026-11-15T09:00:00Z')
const nowMs = () => START_MS + performance.now()
const api = await startTestService({ nowMs })
const acme = await api.newOrganization()
const { installation } = api.service
const database = installation.storage.environments.sandbox
const store = installation.stores.sandbox
const worker = newConsequenceWorker(installation)
const prime = personas(new Date(START_MS).toISOString())[0]!

let count = 0
const unique = (name: string) => `${name}-${count++}`

async function post(path: string, body: unknown): Promise<Record<string, never>> {
  const answer = await acme.post(path, body, { 'Idempotency-Key': unique('key') })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

/** The entities of one run, new for each run; `run` keeps their identifiers apart from those of other runs. */
interface Cast {
  subject: string
  bad: string
  friend: string
  run: string
}
type Step = (cast: Cast) => Promise<unknown>
type Role = Exclude<keyof Cast, 'run'>

type Status = 'verified' | 'unverified' | 'failed'

/** A step that asserts an identifier, checked on a day. */
const has =
  (who: Role, type: string, { status, at, value = 'a' }: { status: Status; at?: string; value?: string }): Step =>
  (cast) =>
    post(`/v1/entities/${cast[who]}/identity-links`, {
      identifier: { type, value: possibleValue(type, `${cast.run}-${value}`) },
      verification: { status, ...(at && { verified_at: `${at}T08:00:00Z` }) },
    })

/** A step that asserts a relationship, checked on a day. */
const isRelated =
  (
    who: Role,
    whom: Role,
    {
      status,
      at,
      relationship = 'same_as',
      share,
    }: { status: Status; at?: string; relationship?: string; share?: number },
  ): Step =>
  (cast) =>
    post(`/v1/entities/${cast[who]}/identity-links`, {
      related_entity_id: cast[whom],
      relationship,
      ...(share && { ownership_share: share }),
      verification: { status, ...(at && { verified_at: `${at}T08:00:00Z` }) },
    })

/** A value that an identifier of this type can have, one for each name. */
function possibleValue(type: string, name: string): string {
  if (type === 'email') return `${name}@example.com`
  return type === 'phone' ? `+49${Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) % 1e9, 1e8)}` : name
}

/** A step that decides on an entity and records an outcome of that decision. */
const hasOutcome =
  (who: Role, type: string): Step =>
  async (cast) => {
    const decision = await post('/v1/underwrite', { entity_id: cast[who], product: 'marketplace_access' })
    await post(`/v1/decisions/${decision.id}/outcomes`, { type, occurred_at: decision.created_at })
  }

interface Payment {
  amount: number
  to?: Role
  day?: string
}

/** A step that ingests some transactions together. */
const pays =
  (who: Role, ...payments: Payment[]): Step =>
  (cast) =>
    post(`/v1/entities/${cast[who]}/transactions`, {
      transactions: payments.map(({ amount, to, day = '2026-11-02' }) => ({
        external_id: unique('payment'),
        occurred_at: `${day}T10:00:00Z`,
        amount,
        currency: 'EUR',
        direction: 'debit',
        ...(to && { counterparty: { entity_id: cast[to] } }),
      })),
    })

/** A step that ingests the year of transactions that makes the subject a good customer. */
const goodAccount: Step = (cast) =>
  post(`/v1/entities/${cast.subject}/transactions`, { transactions: prime.transactions })

async function newCast(): Promise<Cast> {
  const create = async () => (await post('/v1/entities', { external_id: unique('entity'), type: 'person' })).id
  const run = unique('run')
  const cast = { subject: await create(), bad: await create(), friend: await create(), run } as unknown as Cast
  for (const consent of prime.consents) await post(`/v1/entities/${cast.subject}/consents`, consent)
  for (const { identifier, verification } of prime.identityLinks) {
    if (identifier.type === 'tax_id') continue
    const own = { ...identifier, value: `${run}-own` }
    await post(`/v1/entities/${cast.subject}/identity-links`, { identifier: own, verification })
  }
  return cast
}

/** The subject's exposure and decision. */
async function readResult({ subject }: Cast) {
  const { body: entity } = await acme.get(`/v1/entities/${subject}`)
  // biome-ignore lint/suspicious/noExplicitAny: openapi.json holds the answer to its shape.
  const decision: any = await post('/v1/underwrite', { entity_id: subject, ...prime.underwrite })
  const codes = (items: { code: string }[] = []) => items.map(({ code }) => code)
  return {
    exposure: entity.trust.negative_exposure as number,
    verdict: decision.verdict as string,
    reasons: codes(decision.reason_codes),
    conditions: codes(decision.conditions),
  }
}

/** Runs each list of steps with a new cast, and returns the results. The casts share nothing, so they run side by side. */
async function resultsOf(runs: readonly (readonly Step[])[]) {
  const casts = await Promise.all(
    runs.map(async (steps) => {
      const cast = await newCast()
      for (const step of steps) await step(cast)
      return cast
    }),
  )
  await worker.drain()
  return Promise.all(casts.map(readResult))
}

async function resultOf(steps: readonly Step[]) {
  return (await resultsOf([steps]))[0]!
}

function permutationsOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, index) => permutationsOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}

/** All orders of the steps, or `atMost` of them at even distances. */
function someOrders(steps: readonly Step[], atMost: number): Step[][] {
  const all = permutationsOf(steps)
  const stride = Math.max(1, all.length / atMost)
  return Array.from({ length: Math.min(atMost, all.length) }, (_, index) => all[Math.floor(index * stride)]!)
}

/** Runs the same steps in several orders, asserts that the results are equal, and returns the result. */
async function inAnyOrder(steps: readonly Step[], { before = [goodAccount] } = {}) {
  const orders = someOrders(steps, ordersTried.atMost)
  const results = await resultsOf(orders.map((order) => [...before, ...order]))
  for (const [index, result] of results.entries())
    assert.deepEqual(result, results[0], `order ${orders[index]!.map((step) => steps.indexOf(step)).join(', ')}`)
  return results[0]!
}

const LATER = { status: 'verified', at: '2026-06-01' } as const
const EARLIER = { status: 'verified', at: '2025-06-01' } as const
const FAILED_BETWEEN = { status: 'failed', at: '2026-01-01' } as const

test('the latest check of a shared identifier counts, at either end and in any order of arrival', async () => {
  const base = [has('bad', 'tax_id', LATER), hasOutcome('bad', 'default')]
  const failed = await inAnyOrder([
    ...base,
    has('subject', 'tax_id', EARLIER),
    has('subject', 'tax_id', FAILED_BETWEEN),
  ])
  assert.deepEqual([failed.exposure, failed.verdict], [0, 'approve'])
  const verified = await inAnyOrder([
    ...base,
    has('subject', 'tax_id', FAILED_BETWEEN),
    has('subject', 'tax_id', LATER),
  ])
  assert.ok(verified.exposure > 0.4)
  assert.deepEqual([verified.verdict, verified.reasons[0]], ['manual_review', 'linked_to_bad_outcome'])
  const otherEnd = [has('bad', 'tax_id', FAILED_BETWEEN), has('bad', 'tax_id', LATER), hasOutcome('bad', 'default')]
  assert.equal((await inAnyOrder([...otherEnd, has('subject', 'tax_id', LATER)])).exposure, verified.exposure)
})

test('a failed check prevails over a successful one at the same instant, in either order', async () => {
  const base = [has('bad', 'tax_id', LATER), hasOutcome('bad', 'default')]
  const steps = [has('subject', 'tax_id', LATER), has('subject', 'tax_id', { ...LATER, status: 'failed' })]
  assert.equal((await inAnyOrder(steps, { before: [goodAccount, ...base] })).exposure, 0)
})

test('an unverified assertion neither weakens a verified claim nor restores a failed one, at either end', async () => {
  const unverified = { status: 'unverified' } as const
  const both = [has('bad', 'email', LATER), has('subject', 'email', LATER), hasOutcome('bad', 'default')]
  const verified = await inAnyOrder([...both, has('bad', 'email', unverified), has('subject', 'email', unverified)])
  assert.ok(verified.exposure > 0.2, String(verified.exposure))
  const failed = await inAnyOrder([
    has('bad', 'email', LATER),
    hasOutcome('bad', 'default'),
    has('subject', 'email', FAILED_BETWEEN),
    has('subject', 'email', unverified),
  ])
  assert.equal(failed.exposure, 0)
})

test('when one of two shared identifiers fails, the link of the other remains', async () => {
  const device = (value: string, status: Status, at: string) => ({ status, at, value })
  const { exposure } = await inAnyOrder([
    has('bad', 'device', device('one', 'verified', '2026-11-01')),
    has('bad', 'device', device('two', 'unverified', '2026-11-01')),
    has('subject', 'device', device('one', 'verified', '2026-10-01')),
    has('subject', 'device', device('two', 'verified', '2026-10-01')),
    has('subject', 'device', device('one', 'failed', '2026-11-02')),
    hasOutcome('bad', 'fraud_confirmed'),
  ])
  assert.ok(exposure > 0.1 && exposure < 0.16, `the strength of the unverified device: ${exposure}`)
})

test('for a relationship the latest check of each end counts, and a failed one at either end breaks the link', async () => {
  const failed = [isRelated('subject', 'bad', EARLIER), isRelated('subject', 'bad', FAILED_BETWEEN)]
  assert.equal((await inAnyOrder([...failed, hasOutcome('bad', 'default')])).exposure, 0)
  const verified = await inAnyOrder([...failed, isRelated('subject', 'bad', LATER), hasOutcome('bad', 'default')])
  assert.ok(verified.exposure > 0.4)
  const theirs = isRelated('bad', 'subject', { status: 'unverified', at: '2026-06-01' })
  assert.equal((await inAnyOrder([...failed, theirs, hasOutcome('bad', 'default')])).exposure, 0)
  const unverified = await inAnyOrder([theirs, hasOutcome('bad', 'default')])
  assert.ok(unverified.exposure > 0.2 && unverified.exposure < 0.25, String(unverified.exposure))
  const stronger = await inAnyOrder([theirs, isRelated('subject', 'bad', LATER), hasOutcome('bad', 'default')])
  assert.equal(stronger.exposure, verified.exposure)
})

test('an ownership share is the one verified last', async () => {
  const owner = (share: number, status: Status, at: string) =>
    isRelated('subject', 'bad', { status, at, share, relationship: 'owner' })
  const { exposure } = await inAnyOrder([
    owner(1, 'verified', '2026-01-01'),
    owner(0.4, 'verified', '2026-10-01'),
    owner(0.9, 'unverified', '2026-11-01'),
    hasOutcome('bad', 'fraud_confirmed'),
  ])
  assert.ok(exposure > 0.1 && exposure < 0.15, String(exposure))
})

test('a small payment to a fraudster adds no exposure, before, after or between other transactions', async () => {
  const small = await inAnyOrder(
    [goodAccount, pays('subject', { amount: 5, to: 'bad' }), hasOutcome('bad', 'fraud_confirmed')],
    {
      before: [],
    },
  )
  assert.deepEqual([small.exposure, small.verdict], [0, 'approve'])
  const large = await inAnyOrder(
    [
      goodAccount,
      pays('subject', { amount: 90_000, to: 'bad' }, { amount: 5, to: 'friend' }),
      pays('subject', { amount: 60_000, to: 'bad', day: '2026-10-02' }),
      hasOutcome('bad', 'fraud_confirmed'),
    ],
    { before: [] },
  )
  assert.ok(large.exposure > 0.05 && large.exposure < 0.11, String(large.exposure))
})

test('a payment decays from its own date, not from the date of its report', async () => {
  const exposureOf = async (day: string) =>
    (await resultOf([pays('subject', { amount: 100, to: 'bad', day }), hasOutcome('bad', 'fraud_confirmed')])).exposure
  const [recent, old] = [await exposureOf('2026-11-14'), await exposureOf('2026-05-18')]
  assert.ok(recent > 0.1, String(recent))
  assert.ok(Math.abs(old - recent / 2) < 0.002, `${old} after one half-life, of ${recent}`)
})

test('a payment counts the same whichever end reports it first, and with or without other transactions', async () => {
  const { exposure } = await inAnyOrder(
    [
      pays('bad', { amount: 60, to: 'subject' }),
      pays('subject', { amount: 60, to: 'bad' }, { amount: 20 }),
      pays('subject', { amount: 30, day: '2026-09-02' }, { amount: 30, to: 'bad', day: '2026-09-01' }),
      pays('bad', { amount: 900 }),
      hasOutcome('bad', 'fraud_confirmed'),
    ],
    { before: [] },
  )
  assert.ok(exposure > 0.05 && exposure < 0.1, String(exposure))
  const reportedByOther = await inAnyOrder(
    [pays('bad', { amount: 60, to: 'subject' }), pays('subject', { amount: 40 }), hasOutcome('bad', 'fraud_confirmed')],
    { before: [] },
  )
  assert.ok(reportedByOther.exposure > 0.1, String(reportedByOther.exposure))
})

test('the exposure over two hops is the same in any order of links, payments and outcomes', async () => {
  const { exposure } = await inAnyOrder([
    isRelated('subject', 'friend', LATER),
    pays('friend', { amount: 90, to: 'bad' }),
    pays('friend', { amount: 10 }),
    hasOutcome('bad', 'fraud_confirmed'),
  ])
  assert.ok(exposure > 0.08, String(exposure))
  const shared = await inAnyOrder([
    isRelated('subject', 'friend', LATER),
    has('friend', 'phone', LATER),
    has('bad', 'phone', LATER),
    has('friend', 'phone', FAILED_BETWEEN),
    hasOutcome('bad', 'default'),
  ])
  assert.ok(shared.exposure > 0.1 && shared.exposure < 0.25, String(shared.exposure))
})

/** A step that gives an entity sixty unverified links to entities without outcomes, each of a stronger type than its others. */
const isSurrounded =
  (who: Role): Step =>
  async (cast) => {
    const link = {
      type: 'same_as',
      verified: false,
      base_ppm: 450_000,
      since: 20_000,
      expires: 30_000,
      claim: '',
    }
    const fakes = Array.from({ length: 60 }, (_, n) => `${cast.run}-fake-${who}-${n}`)
    await store.commit({
      organizationId: acme.id,
      links: fakes.flatMap((fake) => [
        { ...link, entity_id: cast[who], neighbour_id: fake, to_adverse: false },
        { ...link, entity_id: fake, neighbour_id: cast[who], to_adverse: false },
      ]),
    })
  }

test('unverified links never lower an exposure, at either hop of its path, before it or after it', async () => {
  const path = [
    isRelated('subject', 'friend', { status: 'unverified', at: '2026-11-01', relationship: 'guarantor' }),
    isRelated('friend', 'bad', { status: 'verified', at: '2026-11-01' }),
    hasOutcome('bad', 'fraud_confirmed'),
  ]
  const plain = await resultOf([goodAccount, ...path])
  assert.ok(plain.exposure > 0.1)
  assert.deepEqual([plain.verdict, plain.conditions], ['approve_with_conditions', ['linked_exposure']])
  for (const who of ['friend', 'subject'] as const)
    assert.deepEqual(await inAnyOrder([...path, isSurrounded(who)]), plain, who)
})

test('expired links are deleted, a few with each write of exposures', async () => {
  const cast = await newCast()
  const expired = Array.from({ length: 300 }, (_, n) => ({
    entity_id: cast.friend,
    neighbour_id: `${cast.run}-expired-${n}`,
    type: 'device',
    verified: true,
    base_ppm: 400_000,
    since: 10_000,
    expires: 12_000,
    to_adverse: false,
    claim: '',
  }))
  await store.commit({ organizationId: acme.id, links: expired })
  const left = async () =>
    (await database.query('SELECT 1 FROM graph_links WHERE entity_id = $1', [cast.friend])).length
  assert.equal(await left(), 300)
  await hasOutcome('bad', 'default')(cast)
  assert.ok((await left()) < 300)
  await hasOutcome('bad', 'default')(cast)
  await worker.drain()
  assert.equal(await left(), 0)
})
