/** Decisions about merged entities: what they are made from, what they say of it, and when they are made again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCommand } from '../src/cli/commands.ts'
import { describeView } from '../src/console/decision-view/describe-view.ts'
import { replayRecorded } from '../src/underwriting/replay-recorded.ts'
import { type MergingTeam, startMergingService } from './merging-service.ts'
import { personas } from './personas.ts'
import { booked, type Movements, monthly } from './verified-applicant.ts'

const NOW = '2026-11-15T09:00:00.000Z'
const { installation, store, database, worker, newTeam, factsNow } = await startMergingService(NOW)

/** An entity with the movements of one account. */
async function holder(team: MergingTeam, statement: { movements: Movements; opening: number; account?: object }) {
  const id = await team.newEntity()
  await team.ingest(id, booked(statement.movements, { now: NOW, id: `${statement.opening}`, ...statement }))
  return id
}

async function revoke(team: MergingTeam, id: string, purpose: string) {
  const times = { granted_at: NOW, revoked_at: NOW }
  await team.post(`/v1/entities/${id}/consents`, { purpose, status: 'revoked', ...times })
}

test('an overdrawn account stays overdrawn if its holder is merged, whether accounts are named or not', async () => {
  for (const account of [undefined, { id: 'main' }]) {
    const team = await newTeam()
    const good = await holder(team, {
      movements: [...monthly(3, 'Acme GmbH', 2_900, 'salary'), ...monthly(17, 'Market', -900)],
      opening: 3_000,
      ...(account && { account }),
    })
    const bad = await holder(team, {
      movements: [...monthly(3, 'Other', 40), ...monthly(17, 'Shop', -45)],
      opening: -1_500,
      ...(account && { account }),
    })
    const figures = async (id: string) => {
      const { features } = await factsNow(team, id)
      return ['cashflow.overdrawn_days_365', 'cashflow.deepest_overdraft'].map(
        (name) => features[name]!.value as number,
      )
    }
    const alone = await figures(bad)
    assert.ok(alone.every((figure) => figure > 0))
    await team.merge(good, bad)
    assert.deepEqual(await figures(good), alone)
    const { features } = await factsNow(team, good)
    const reconciled = features['cashflow.balances_reconciled']!.value as number
    if (account) assert.ok(reconciled <= 0.5, 'what is said to be one account contradicts itself')
    else assert.equal(reconciled, 1, 'two accounts')
  }
})

test('the later credit of one member is no earlier credit of a decision about another', async () => {
  const team = await newTeam()
  const [prime] = personas(NOW)
  const newPrime = async () => {
    const id = await team.newEntity()
    for (const consent of prime!.consents) await team.post(`/v1/entities/${id}/consents`, consent)
    for (const type of ['government_id', 'bank_account']) await team.identify(id, type, `${type}-${id}`)
    await team.ingest(id, prime!.transactions)
    return id
  }
  const [a, b] = [await newPrime(), await team.newEntity()]
  const ask = (id: string, amount: number) =>
    team.post('/v1/underwrite', { entity_id: id, ...prime!.underwrite, requested_amount: amount, reference: 'loan-1' })
  const limit: number = (await ask(await newPrime(), 1e6)).recommended_limit
  await team.merge(a, b)
  const first = await ask(a, limit)
  assert.equal(first.verdict, 'approve')
  // With the same reference, it replaces the offer of the first.
  const second = await ask(b, limit)
  assert.equal(second.verdict, 'approve')
  const fund = (decision: { id: string }) =>
    team.report(decision.id, 'funded', { amount: limit, currency: 'EUR', override: true, note: 'A test.' })
  await fund(second)
  await worker.drain()
  const announced = async () => {
    const rows = await database.query<{ data: string }>(
      `SELECT data FROM audit_entries WHERE org_id = $1 AND type = 'decision.reevaluation_due'`,
      [team.organization.id],
    )
    return rows.map(({ data }) => JSON.parse(data).decision_id)
  }
  assert.equal((await announced()).includes(first.id), false)
  await revoke(team, a, 'credit_underwriting')
  await worker.drain()
  assert.deepEqual((await announced()).slice(-1), [second.id], 'the latest decision about any of them')
})

test('replay, explanation and decision view name the members, and the sources of all of them', async () => {
  const team = await newTeam()
  const [a, b] = [await team.newEntity(), await team.newEntity()]
  for (const [id, name] of [
    [a, 'Stadtbank'],
    [b, 'Volksbank'],
  ])
    await team.post(`/v1/entities/${id}/transactions`, {
      transactions: booked(monthly(3, 'Acme', 900, 'salary'), { now: NOW, id: name!, account: { id: name } }),
      provided_by: { kind: 'bank', name },
    })
  const alone = await team.decide(a)
  await team.merge(a, b)
  const merged = await team.decide(b)
  const evidenceOf = async (id: string) => {
    const { body } = await team.organization.get(`/v1/decisions/${id}/replay`)
    assert.equal(body.matches, true)
    return body.evidence
  }
  const sourcesOf = ({ sources }: { sources: { name: string }[] }) => sources.map(({ name }) => name).sort()
  assert.deepEqual(sourcesOf(await evidenceOf(merged)), ['Stadtbank', 'Volksbank'])
  assert.deepEqual((await evidenceOf(merged)).merged, [a, b])
  assert.deepEqual(sourcesOf(await evidenceOf(alone)), ['Stadtbank'])
  assert.equal('merged' in (await evidenceOf(alone)), false)

  const explain = findCommand('decisions explain')!
  const explained = async (id: string) =>
    explain.render!(
      await explain.run(installation, {
        positionals: [id],
        options: { org: team.organization.id },
        caller: 'alice (uid 1000)',
      }),
    )
  assert.match(await explained(merged), new RegExp(`^Read as one: ${a}, ${b}\\.$`, 'm'))
  assert.doesNotMatch(await explained(alone), /Read as one/)
  assert.deepEqual(
    (await viewOf(team, merged)).merged.map(({ id }) => id),
    [a, b],
  )
  assert.deepEqual((await viewOf(team, alone)).merged, [])
})

/** The decision view of a recorded decision. */
async function viewOf({ organization }: MergingTeam, id: string) {
  const recorded = (await store.decisions.recorded(organization.id, id))!
  const { entity_id: entityId, product, created_at: decidedAt } = recorded
  return describeView(replayRecorded(recorded), {
    store,
    organizationId: organization.id,
    entityId,
    product,
    decidedAt,
    now: NOW,
  })
}

test('the decision view shows the account of the entities that the decision was made from, not of those merged now', async () => {
  const team = await newTeam()
  const one = { movements: monthly(3, 'Acme', 900, 'salary'), opening: 100, account: { id: 'one' } }
  const two = { movements: monthly(4, 'Zenith', 700, 'salary'), opening: 200, account: { id: 'two' } }
  const [a, b] = [await holder(team, one), await holder(team, two)]
  const incomes = async (id: string) =>
    new Set(((await viewOf(team, id)).account?.days ?? []).map(({ income }) => income).filter((income) => income > 0))
  const before = await team.decide(a)
  await team.merge(a, b)
  const between = await team.decide(a)
  assert.deepEqual(await incomes(before), new Set([900]))
  assert.deepEqual(await incomes(between), new Set([700, 900]))
  await team.separate(b)
  assert.deepEqual(await incomes(before), new Set([900]))
  assert.deepEqual(await incomes(between), new Set([700, 900]))
  await team.merge(a, b)
  await revoke(team, b, 'transaction_analysis')
  assert.deepEqual(await incomes(before), new Set(), 'a consent that one revoked is revoked')
})

test('merged entities are of one type and country, whichever is named', async () => {
  const team = await newTeam()
  const typed = await team.post('/v1/entities', { external_id: 'typed', type: 'person', country: 'DE' })
  const untyped = await team.post('/v1/entities', { external_id: 'untyped', country: 'AT' })
  await team.merge(typed.id, untyped.id)
  const setType = async (type: string) => {
    const { status, body } = await team.organization.post('/v1/entities', { external_id: 'untyped', type })
    return [status, body.error?.code ?? body.code ?? body.type]
  }
  assert.deepEqual(await setType('business'), [409, 'entity_type_conflict'])
  for (const id of [typed.id, untyped.id]) {
    const { features } = await factsNow(team, id)
    assert.deepEqual([features['entity.type'], features['entity.country']], [{ value: 'person' }, { value: 'DE' }])
  }
  assert.deepEqual(await setType('person'), [200, 'person'])
})

test('the command line shows what merged entities owe together', async () => {
  const team = await newTeam()
  const [a, b] = [await team.newEntity(), await team.newEntity()]
  for (const [id, amount] of [
    [a, 300],
    [b, 1_200],
  ] as const)
    await team.report(await team.decide(id), 'funded', { amount, currency: 'EUR', override: true, note: 'A test.' })
  const show = findCommand('entities show')!
  const shown = async () =>
    show.render!(
      await show.run(installation, {
        positionals: [a],
        options: { org: team.organization.id },
        caller: 'alice (uid 1000)',
      }),
    )
  assert.match(await shown(), /Open credits:\n {2}300 EUR, of 1 credit\n/)
  await team.merge(a, b)
  assert.match(await shown(), /Open credits of all that are read as one:\n {2}1500 EUR, of 2 credits\n/)
  assert.match(await shown(), /Open offers of all that are read as one:\n {2}none$/)
  assert.match(await shown(), new RegExp(`read with +${b}$`, 'm'))
})
