/** Two entities are merged by two operators and read as one, and are told apart again as if they never had been. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MEMBERS_MAX, mergeEntities, separateEntity } from '../src/admin/merge-entities.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { findCommand } from '../src/cli/commands.ts'
import { Authenticator } from './authenticator.ts'
import { type MergingTeam, startMergingService } from './merging-service.ts'
import { tamper } from './tamper.ts'
import { booked, type Movements, monthly } from './verified-applicant.ts'
import { until } from './webhook-receiver.ts'

const NOW = '2026-11-15T09:00:00.000Z'
const { api, installation, database, store, worker, newTeam, callsOf, documentsOf, factsNow } =
  await startMergingService(NOW)
type Team = MergingTeam

let count = 0

/** The same but for how often the entity had asked, which every decision raises. */
function withoutRequests(text: string): string {
  return text.replaceAll(/("history\.requests_\d+_days":(?:\{"value":)?)\d+/g, '$1n')
}

/** Everything that is stored and answered of an entity, and a new decision about it, to the byte. */
async function standingOf(team: Team, entityId: string) {
  await worker.drain()
  const [row] = await database.query('SELECT state FROM entities WHERE id = $1', [entityId])
  const [exposure] = await database.query('SELECT summary, trust FROM graph_exposures WHERE entity_id = $1', [entityId])
  const { text } = await team.organization.get(`/v1/entities/${entityId}`)
  const { facts, trace, graph } = await documentsOf(team, await team.decide(entityId))
  return { row, exposure, text, facts: withoutRequests(facts), trace: withoutRequests(trace), graph }
}

const SALARY = monthly(3, 'Acme GmbH', 2900, 'salary')
const LIVING: Movements = [...monthly(2, 'City Rent', -1000), ...monthly(17, 'Market', -900)]
const SIDE: Movements = [
  ...monthly(5, 'Zenith AG', 800, 'salary'),
  ...monthly(9, 'Insurance', -190),
  ...monthly(20, 'Gym', -30),
]
const TRANSFERS = { out: monthly(1, 'Own account', -500), into: monthly(1, 'Own account', 500) }

/** An entity with an account, and a loan of which an amount was paid out. */
async function borrower(
  team: Team,
  { account, movements, amount }: { account: string; movements: Movements; amount: number },
) {
  const id = await team.newEntity()
  await team.ingest(id, booked(movements, { now: NOW, id: account, opening: 3_000, account: { id: account } }))
  const decision = await team.decide(id)
  await team.report(decision, 'funded', { amount, currency: 'EUR', override: true, note: 'A test.' })
  return { id, decision }
}

test('merged entities read as one, and are told apart again to the byte', async () => {
  const team = await newTeam()
  const a = await borrower(team, { account: 'one', movements: [...SALARY, ...LIVING, ...TRANSFERS.out], amount: 300 })
  const b = await borrower(team, { account: 'two', movements: [...SIDE, ...TRANSFERS.into], amount: 1_200 })
  await team.identify(a.id, 'tax_id', 'DE-1')
  await team.identify(b.id, 'tax_id', 'DE-1')
  const whole = await team.newEntity()
  for (const [account, movements] of [
    ['one', [...SALARY, ...LIVING, ...TRANSFERS.out]],
    ['two', [...SIDE, ...TRANSFERS.into]],
  ] as const)
    await team.ingest(whole, booked(movements, { now: NOW, id: account, opening: 3_000, account: { id: account } }))
  const before = [await standingOf(team, a.id), await standingOf(team, b.id)]
  const earlier = [await documentsOf(team, a.decision), await documentsOf(team, b.decision)]

  assert.deepEqual(await team.merge(b.id, a.id), [a.id, b.id])
  const [ofA, ofB, ofWhole] = [await factsNow(team, a.id), await factsNow(team, b.id), await factsNow(team, whole)]
  assert.equal(withoutRequests(JSON.stringify(ofA)), withoutRequests(JSON.stringify(ofB)))
  const asked = [ofA, ofB, ofWhole].map(({ features }) => features['history.requests_7_days']!.value)
  assert.deepEqual(asked, [4, 5, 0], 'two requests of each before the merge, and the one of this line')
  assert.deepEqual(ofA.merged, [a.id, b.id])
  assert.equal(ofWhole.merged, undefined)
  assert.equal(ofA.features['history.outstanding']!.value, 1_500)
  const cashflow = (facts: typeof ofA) =>
    Object.entries(facts.features).filter(([name]) => name.startsWith('cashflow.'))
  assert.deepEqual(cashflow(ofA), cashflow(ofWhole), 'as one entity with both accounts')
  assert.ok((ofA.features['cashflow.recurring_income']!.value as number) > 3_500)
  const made = await team.decide(b.id)
  const { body: replay } = await team.organization.get(`/v1/decisions/${made}/replay`)
  assert.equal(replay.matches, true)

  assert.deepEqual(await team.separate(b.id), [a.id])
  assert.deepEqual([await standingOf(team, a.id), await standingOf(team, b.id)], before)
  assert.deepEqual([await documentsOf(team, a.decision), await documentsOf(team, b.decision)], earlier)
  for (const id of [made, a.decision, b.decision])
    assert.equal((await team.organization.get(`/v1/decisions/${id}/replay`)).body.matches, true)
  assert.equal(JSON.parse((await documentsOf(team, made)).facts).merged.length, 2)
})

test('of three merged entities one is told apart, and the others stay together', async () => {
  const team = await newTeam()
  const [a, b, c] = [await team.newEntity(), await team.newEntity(), await team.newEntity()]
  await team.merge(a, b)
  assert.deepEqual(await team.merge(b, c), [a, b, c])
  assert.deepEqual(await team.separate(b), [a, c])
  assert.deepEqual((await factsNow(team, a)).merged, [a, c])
  assert.deepEqual((await factsNow(team, c)).merged, [a, c])
  assert.equal((await factsNow(team, b)).merged, undefined)
  assert.deepEqual(await team.merge(b, a), [a, b, c], 'and back again')
})

test('a merge is refused where the entities cannot be one, and to one operator alone', async () => {
  const team = await newTeam()
  const { ada, grace, victor } = team
  const [a, b, business, plain] = [
    await team.newEntity(),
    await team.newEntity(),
    await team.newEntity({ type: 'business' }),
    await team.newEntity({}),
  ]
  const merge = (act: typeof ada, entity: string, other: string) => mergeEntities(installation, act, { entity, other })
  await assert.rejects(merge(victor, a, b), { code: 'role_lacks_permission' })
  await assert.rejects(merge(ada, a, a), { code: 'same_entity' })
  await assert.rejects(merge(ada, a, 'ent_unknown'), { code: 'entity_not_found' })
  await assert.rejects(merge(ada, a, business), { code: 'entity_types_differ' })
  await assert.rejects(separateEntity(installation, ada, a), { code: 'entity_not_merged' })
  await merge(ada, a, b)
  await assert.rejects(merge(ada, b, a), { code: 'own_merge' })
  assert.equal((await factsNow(team, a)).merged, undefined, 'a proposal alone merges nothing')
  await merge(grace, a, b)
  await assert.rejects(merge(ada, a, b), { code: 'entities_merged' })
  await team.merge(plain, a)
  await assert.rejects(merge(ada, plain, business), { code: 'entity_types_differ' }, 'also by a third')
  await separateEntity(installation, ada, a)
  await assert.rejects(separateEntity(installation, ada, a), { code: 'own_merge' })
  await separateEntity(installation, grace, a)
  assert.equal((await merge(grace, a, b)).state, 'proposed', 'what was proposed before the separation does not count')
  for (let members = 2; members < MEMBERS_MAX; members++) await team.merge(b, await team.newEntity({}))
  await assert.rejects(merge(ada, b, await team.newEntity({})), { code: 'too_many_merged' })
})

test('a proposal is void once one of its entities was merged or told apart otherwise, whichever it is', async () => {
  const team = await newTeam()
  const { ada, grace } = team
  const [a, b, c] = [await team.newEntity(), await team.newEntity(), await team.newEntity()]
  await mergeEntities(installation, ada, { entity: a, other: b })
  await team.merge(a, c)
  await team.separate(a)
  assert.equal((await mergeEntities(installation, grace, { entity: a, other: b })).state, 'proposed')
})

test('a decision is not dated before the merge that it was made with, whatever the clocks say', async () => {
  const team = await newTeam()
  const [a, b] = [await team.newEntity(), await team.newEntity()]
  const ahead = { ...installation, nowMs: () => Date.parse(NOW) + 60_000 }
  await mergeEntities(ahead, team.ada, { entity: a, other: b })
  await mergeEntities(ahead, team.grace, { entity: a, other: b })
  const decision = await team.decide(a)
  assert.deepEqual(JSON.parse((await documentsOf(team, decision)).facts).merged, [a, b])
  const { body } = await team.organization.get(`/v1/decisions/${decision}`)
  assert.equal(body.created_at, new Date(ahead.nowMs()).toISOString())
})

test('rows that were inserted with SQL merge nothing, propose nothing and separate nothing', async () => {
  const team = await newTeam()
  const { ada, grace, organization } = team
  const [a, b, c, d] = [await team.newEntity(), await team.newEntity(), await team.newEntity(), await team.newEntity()]
  const insert = (
    entity: string,
    subject: string,
    row: { effect: string; step: string; members: string; version: number },
  ) =>
    database.query(
      `INSERT INTO entity_merges (org_id, id, entity_id, effect, step, subject_id, members, version, reason, actor_type, actor_id, taken_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'r', 'operator', $9, now())`,
      [
        organization.id,
        `mrg_${count++}`,
        entity,
        row.effect,
        row.step,
        subject,
        row.members,
        row.version,
        ada.by.operator.id,
      ],
    )
  await insert(a, b, { effect: 'merged', step: 'approved', members: `${a} ${b}`, version: 50 })
  assert.equal((await factsNow(team, a)).merged, undefined)
  await insert(b, b, { effect: 'merged', step: 'proposed', members: `${a} ${b}`, version: 60 })
  assert.equal((await mergeEntities(installation, grace, { entity: a, other: b })).state, 'proposed')
  await team.merge(c, d)
  await insert(c, d, { effect: 'separated', step: 'approved', members: c, version: 50 })
  assert.deepEqual((await factsNow(team, c)).merged, [c, d])
  await team.separate(d)
  await database.query(
    `INSERT INTO entity_merges SELECT org_id, 'mrg_again' || id, entity_id, effect, step, subject_id, members, 99, reason, actor_type, actor_id, taken_at
     FROM entity_merges WHERE entity_id = $1 AND effect = 'merged' AND step = 'approved'`,
    [c],
  )
  assert.equal((await factsNow(team, c)).merged, undefined, 'a merge that was undone does not come back')
})

test('new facts about one of them, and the merge itself, have the decisions about the other made again', async () => {
  const team = await newTeam()
  const a = await borrower(team, { account: 'one', movements: [...SALARY, ...LIVING], amount: 300 })
  const b = { id: await team.newEntity() }
  const latest = await team.decide(a.id)
  await worker.drain()
  const announced = async () => {
    const { body } = await team.organization.get(`/v1/entities/${a.id}/audit-trail?limit=50`)
    return body.data.filter(({ type }: { type: string }) => type === 'decision.reevaluation_due')
  }
  const known = (await announced()).length
  await team.merge(a.id, b.id)
  await team.post(`/v1/entities/${b.id}/consents`, {
    purpose: 'credit_underwriting',
    status: 'revoked',
    data_categories: ['identity', 'transactions', 'features', 'graph'],
    granted_at: NOW,
    revoked_at: NOW,
  })
  await worker.drain()
  const [newest, ...others] = await announced()
  assert.equal(others.length, known)
  assert.equal(newest.data.decision_id, latest)
  await team.separate(a.id)
  assert.equal((await announced()).length, known + 2, 'and back')
})

test('in the trust graph they are one: what links them does not count, and what links either to others does', async () => {
  const team = await newTeam()
  const [a, b, x, y] = [await team.newEntity(), await team.newEntity(), await team.newEntity(), await team.newEntity()]
  await team.identify(a, 'tax_id', 'shared')
  await team.identify(b, 'tax_id', 'shared')
  await team.identify(b, 'phone', '+49 30 1234567')
  await team.identify(x, 'phone', '+49 30 1234567')
  await team.identify(a, 'email', 'x@example.com')
  await team.identify(x, 'email', 'x@example.com')
  await team.identify(x, 'device', 'laptop')
  await team.identify(y, 'device', 'laptop')
  await team.report(await team.decide(a), 'default')
  await team.report(await team.decide(b), 'default')
  await worker.drain()
  const exposure = async (id: string) => {
    const { features } = await factsNow(team, id)
    return [features['graph.evidence_count']!.value, features['graph.negative_exposure']!.value] as [number, number]
  }
  const trustOf = async (id: string) => (await team.organization.get(`/v1/entities/${id}`)).body.trust
  const apart = { a: await exposure(a), x: await exposure(x), trust: await trustOf(a) }
  assert.deepEqual([apart.a[0], apart.x[0]], [1, 2])
  await team.merge(a, b)
  assert.deepEqual(await exposure(a), [0, 0], 'only its own history counts')
  assert.deepEqual(await trustOf(a), await trustOf(b))
  assert.equal((await trustOf(a)).evidence_count, 1)
  const merged = await exposure(x)
  assert.equal(merged[0], 1)
  assert.ok(merged[1] < apart.x[1], 'one neighbour with two bad outcomes is less than two')
  await team.report(await team.decide(a), 'fraud_confirmed')
  await worker.drain()
  assert.ok((await exposure(y))[1] > 0, 'an outcome of one reaches the neighbours of the other')
  await team.separate(b)
  assert.equal((await exposure(x))[0], 2)
})

test('an outcome of a merged entity reaches those that are linked to the other alone', async () => {
  const team = await newTeam()
  const [a, b, x] = [await team.newEntity(), await team.newEntity(), await team.newEntity()]
  await team.identify(b, 'phone', '+49 30 7654321')
  await team.identify(x, 'phone', '+49 30 7654321')
  await team.merge(a, b)
  await team.report(await team.decide(a), 'default')
  await worker.drain()
  const negative = async () => (await factsNow(team, x)).features['graph.negative_exposure']!.value as number
  assert.ok((await negative()) > 0)
  await team.separate(a)
  assert.equal(await negative(), 0)
})

test('the steps are on both trails, announced with ids alone, and compared by audit verify', async () => {
  const team = await newTeam()
  const { organization } = team
  const [a, b] = [await team.newEntity(), await team.newEntity()]
  await team.merge(a, b)
  await team.separate(a)
  for (const id of [a, b]) {
    const { body } = await organization.get(`/v1/entities/${id}/audit-trail?limit=50`)
    const types = body.data
      .map(({ type }: { type: string }) => type)
      .filter((type: string) => /merge|separat/.test(type))
    assert.deepEqual(types.sort(), [
      'entity.merge_proposed',
      'entity.merged',
      'entity.separated',
      'entity.separation_proposed',
    ])
    assert.doesNotMatch(JSON.stringify(body.data), /papers/)
  }
  const events = await database.query<{ data: string }>(
    `SELECT data FROM events WHERE org_id = $1 AND type = 'entity.merged' ORDER BY id`,
    [organization.id],
  )
  assert.deepEqual(
    events.map(({ data }) => JSON.parse(data)),
    [
      { entity_id: b, state: 'merged', members: [a, b] },
      { entity_id: a, state: 'separated', members: [b] },
    ],
  )
  const isSealed = async () =>
    (await organization.get(`/v1/entities/${b}/audit-trail`)).body.data[0].leaf_index !== null
  await until('the separation is sealed', isSealed)
  const problems = async () =>
    (
      await verifyAuditLog({
        organizationId: organization.id,
        environment: 'sandbox',
        store,
        people: installation.stores.production,
        control: installation.storage.control,
        publicKeys: installation.masterKey.auditPublicKeys('sandbox'),
      })
    ).problems
  assert.deepEqual(await problems(), [])
  await tamper(database, `UPDATE entity_merges SET members = entity_id WHERE org_id = $1 AND effect = 'merged'`, [
    organization.id,
  ])
  assert.equal((await problems()).filter((problem) => /The merge mrg_\w+ was changed/.test(problem)).length, 4)
})

test('the command line merges and separates, each with the codes of two operators', async () => {
  const organization = await api.newOrganization()
  // biome-ignore lint/suspicious/noExplicitAny: every command returns another shape, and the test reads all of them.
  const run = (name: string, positionals: string[], options: Record<string, string> = {}): Promise<any> =>
    findCommand(name)!.run(installation, {
      positionals,
      options: { org: organization.id, ...options },
      caller: 'alice (uid 1000)',
    })
  const add = async (name: string) => {
    const { email, code_secret } = await run('operators add', [`${name}@example.com`], { name, role: 'reviewer' })
    const app = new Authenticator(code_secret)
    let uses = 0
    return (command: string, named: string[]) =>
      run(command, named, { as: email, code: app.next(Date.parse(NOW) + 30_000 * uses++), reason: 'Same passport.' })
  }
  const [ada, grace] = [await add('ada'), await add('grace')]
  const { newEntity } = callsOf(organization)
  const [a, b] = [await newEntity({ external_id: 'anna' }), await newEntity({ external_id: 'anna-2' })]
  await ada('entities merge', ['anna', 'anna-2'])
  const waiting = await run('entities merges', ['anna-2'])
  assert.deepEqual(waiting.members, [b])
  assert.deepEqual(
    waiting.proposals.map(({ proposed_by, reason, members }: Record<string, unknown>) => [
      proposed_by,
      reason,
      members,
    ]),
    [['ada@example.com', 'Same passport.', [a, b]]],
  )
  assert.match(
    findCommand('entities merges')!.render!(waiting),
    /merge +ent_\w+ +ent_\w+ ent_\w+ +ada@example\.com +Same passport\./,
  )
  assert.match(findCommand('entities merge')!.render!(await grace('entities merge', ['anna', 'anna-2'])), /^Merged: /)
  assert.deepEqual(await run('entities merges', ['anna']), { members: [a, b], proposals: [] })
  assert.equal((await grace('entities separate', ['anna'])).state, 'proposed')
  assert.match(
    findCommand('entities separate')!.render!(await ada('entities separate', ['anna'])),
    new RegExp(`^Told ${a} apart`),
  )
  assert.deepEqual(await run('entities merges', ['anna']), { members: [a], proposals: [] })
})
