/** Two operators erase a person, unless a credit, a case or a legal hold stands against it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeRole } from '../src/admin/change-operators.ts'
import type { SteppingAct } from '../src/admin/entity-steps.ts'
import { describeErasure, eraseEntity } from '../src/admin/erase-entity.ts'
import { holdEntity, liftHold, listHolds } from '../src/admin/hold-entity.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { mergeEntities, separateEntity } from '../src/admin/merge-entities.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { findCommand } from '../src/cli/commands.ts'
import type { OpenOffer } from '../src/core/facts/open-offers.ts'
import { nextOffers } from '../src/underwriting/entity-offers.ts'
import { byOperator, byService } from './acts.ts'
import { Authenticator } from './authenticator.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const NOW = '2026-11-15T09:00:00.000Z'
let nowMs = Date.parse(NOW)
const api = await startTestService({ nowMs: () => nowMs })
const { installation } = api.service
const database = installation.storage.environments.sandbox
const store = installation.stores.sandbox

let count = 0

async function newTeam() {
  const organization = await api.newOrganization()
  const add = async (name: string, role: string, reason: string) => {
    const added = await addOperator(installation, byService(organization.id), {
      email: `${name}@example.com`,
      name,
      role,
    })
    const act = byOperator(added, { reason })
    // As at the command line: a session is not asked for, which audit verify would miss.
    return { ...act, by: { ...act.by, via: 'alice (uid 1000)' } }
  }
  const post = async (path: string, body: object) => {
    const answer = await organization.post(path, body, { 'Idempotency-Key': `erasure-${count++}` })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  return {
    organization,
    post,
    ada: await add('ada', 'admin', 'Request 17 of 2026.'),
    grace: await add('grace', 'owner', 'Request 17 was checked.'),
    rob: await add('rob', 'reviewer', 'Court file 12 O 345.'),
    newEntity: async (): Promise<string> => (await post('/v1/entities', { external_id: `erasure-${count++}` })).id,
    decide: (entity_id: string) =>
      post('/v1/underwrite', { entity_id, product: 'default', requested_amount: 1_000, currency: 'EUR' }),
    report: (decisionId: string, type: string, more: object = {}) =>
      post(`/v1/decisions/${decisionId}/outcomes`, {
        type,
        occurred_at: NOW,
        override: true,
        note: 'A test.',
        ...more,
      }),
  }
}

const erase = (act: SteppingAct, entity: string, move: 'propose' | 'approve' | 'withdraw') =>
  eraseEntity(installation, act, { entity, move })
const hold = (act: SteppingAct, entity: string, move: 'propose' | 'approve' | 'withdraw') =>
  holdEntity(installation, act, { entity, move })
const lift = (act: SteppingAct, entity: string, move: 'propose' | 'approve' | 'withdraw') =>
  liftHold(installation, act, { entity, move })

type Team = Awaited<ReturnType<typeof newTeam>>

const standing = async ({ organization: { id: organizationId } }: Team, id: string) =>
  describeErasure(
    installation,
    { environment: 'sandbox', organizationId },
    (await store.entities.find({ organizationId, id }))!,
  )

test('one operator proposes an erasure and another approves it; then the entity is unknown and its erasure announced', async () => {
  const team = await newTeam()
  const { organization, ada, grace, rob } = team
  const entity = await team.newEntity()
  await assert.rejects(erase(rob, entity, 'propose'), { code: 'role_lacks_permission' })
  await assert.rejects(erase(ada, entity, 'approve'), { code: 'step_not_proposed' })
  assert.equal((await erase(ada, entity, 'propose')).state, 'proposed')
  assert.deepEqual((await standing(team, entity)).proposals, [
    { effect: 'erased', reason: 'Request 17 of 2026.', proposed_by: ada.by.operator.id, proposed_at: NOW },
  ])
  await assert.rejects(erase(grace, entity, 'propose'), { code: 'step_proposed', message: /^ada@example\.com has/ })
  await assert.rejects(erase(ada, entity, 'approve'), { code: 'own_step', message: /^ada@example\.com proposed/ })
  assert.equal((await organization.get(`/v1/entities/${entity}`)).status, 200)

  const done = await erase(grace, entity, 'approve')
  assert.deepEqual([done.state, done.proposed_by], ['approved', ada.by.operator.id])
  assert.equal((await organization.get(`/v1/entities/${entity}`)).status, 404)
  await assert.rejects(erase(grace, entity, 'propose'), { code: 'entity_not_found' })
  const erasure = (await store.erasures.ofEntities(organization.id, [entity])).get(entity)!
  const { data } = (
    await database.query<{ data: string }>('SELECT data FROM audit_entries WHERE id = $1', [erasure.entry_id])
  )[0]!
  assert.match(data, /Request 17 was checked\./)
  assert.doesNotMatch(data, /Request 17 of 2026/)
  const events = await database.query(`SELECT data FROM events WHERE org_id = $1 AND type = 'entity.erased'`, [
    organization.id,
  ])
  assert.deepEqual(events, [{ data: JSON.stringify({ entity_id: entity }) }])
})

test('either withdraws a proposal, and that of an operator who has lost the role is void', async () => {
  const team = await newTeam()
  const { ada, grace } = team
  const entity = await team.newEntity()
  for (const who of [ada, grace]) {
    await erase(ada, entity, 'propose')
    assert.equal((await erase(who, entity, 'withdraw')).state, 'withdrawn')
    await assert.rejects(erase(grace, entity, 'approve'), { code: 'step_not_proposed' })
  }
  await erase(ada, entity, 'propose')
  const act = { ...byService(team.organization.id), reason: 'Another team.' }
  await changeRole(installation, act, { operator: ada.by.operator, role: 'viewer' })
  assert.deepEqual((await standing(team, entity)).proposals, [])
  await assert.rejects(erase(grace, entity, 'approve'), { code: 'step_not_proposed' })
  assert.equal((await erase(grace, entity, 'propose')).state, 'proposed')
})

test('open credit, an open case, a merge and a legal hold each refuse an erasure, at the proposal and at the approval', async () => {
  const team = await newTeam()
  const { organization, ada, grace, rob } = team
  const entity = await team.newEntity()
  const refused = (message: RegExp) => ({ code: 'erasure_refused', message })
  const refusesBoth = async (message: RegExp) => {
    await assert.rejects(erase(grace, entity, 'approve'), refused(message))
    await erase(grace, entity, 'withdraw')
    await assert.rejects(erase(ada, entity, 'propose'), refused(message))
  }
  await erase(ada, entity, 'propose')

  const { id: decision } = await team.decide(entity)
  const caseId = `cas_${decision.slice(4)}`
  await refusesBoth(new RegExp(`^${entity} cannot be erased: the case ${caseId} is open\\.$`))
  await team.post(`/v1/decisions/${decision}/reviews`, {
    verdict: 'decline',
    reason: 'Known.',
    reviewer: { id: 'rev-1', name: 'Ann' },
  })
  await erase(ada, entity, 'propose')
  await team.report(decision, 'funded', { amount: 1_000.5, currency: 'EUR' })
  await refusesBoth(new RegExp(`1000\\.5 EUR of credit is open, by ${decision}\\.$`))
  const [owed] = (await standing(team, entity)).obstacles
  assert.deepEqual([owed!.code, owed!.ids], ['open_credit', [decision]])
  await team.report(decision, 'repaid')

  const other = await team.newEntity()
  await erase(ada, entity, 'propose')
  await mergeEntities(installation, ada, { entity, other })
  await mergeEntities(installation, grace, { entity, other })
  await refusesBoth(new RegExp(`it is merged with ${other}\\.$`))
  await separateEntity(installation, ada, entity)
  await separateEntity(installation, grace, entity)

  await erase(ada, entity, 'propose')
  await hold(rob, entity, 'propose')
  await assert.rejects(erase(grace, entity, 'approve'), refused(/a legal hold was proposed/))
  await assert.rejects(hold(rob, entity, 'approve'), { code: 'own_step' })
  await hold(grace, entity, 'approve')
  await assert.rejects(erase(grace, entity, 'approve'), { code: 'step_not_proposed' }, 'a hold ends the proposal')
  await assert.rejects(
    erase(ada, entity, 'propose'),
    refused(/on legal hold since 2026-11-15T09:00:00\.000Z \(“Request 17 was checked\.”\)\.$/),
  )
  await assert.rejects(hold(rob, entity, 'propose'), { code: 'entity_held' })
  assert.deepEqual(await listHolds(installation, { environment: 'sandbox', organizationId: organization.id }), [
    {
      entity_id: entity,
      reason: 'Request 17 was checked.',
      proposed_by: rob.by.operator.id,
      set_by: grace.by.operator.id,
      set_at: NOW,
    },
  ])
  await assert.rejects(lift(rob, await team.newEntity(), 'propose'), { code: 'entity_not_held' })
  await lift(rob, entity, 'propose')
  await assert.rejects(erase(ada, entity, 'propose'), refused(/on legal hold/), 'one operator lifts no hold')
  await lift(ada, entity, 'approve')
  await erase(ada, entity, 'propose')
  assert.equal((await erase(grace, entity, 'approve')).state, 'approved')
})

test('an open offer refuses an erasure, also one that is made at the moment of the approval', async () => {
  const team = await newTeam()
  const { ada, grace } = team
  const entity = await team.newEntity()
  const { id: decision } = await team.decide(entity)
  const approve = () =>
    team.post(`/v1/decisions/${decision}/reviews`, {
      verdict: 'approve',
      reason: 'Known.',
      reviewer: { id: 'rev-1', name: 'Ann' },
    })
  await approve()
  const refused = {
    code: 'erasure_refused',
    message: new RegExp(`an offer is open: 1000 EUR until \\S+, by ${decision}\\.$`),
  }
  await assert.rejects(erase(ada, entity, 'propose'), refused)
  await team.report(decision, 'closed')
  await erase(ada, entity, 'propose')

  const { id: organizationId } = team.organization
  const offer = (offers: OpenOffer[]) =>
    store.entities
      .find({ organizationId, id: entity })
      .then((row) => store.commit({ organizationId, changedOffers: [nextOffers(row!, offers)] }))
  const made = { decisionId: decision, amount: 1_000, currency: 'EUR', expiresAt: '2026-12-15T09:00:00.000Z' }
  const commit: typeof store.commit = async (change) => {
    if (change.newErasures) await offer([made])
    return store.commit(change)
  }
  const racing = { ...installation, stores: { ...installation.stores, sandbox: { ...store, commit } } }
  await assert.rejects(eraseEntity(racing, grace, { entity, move: 'approve' }), refused)
  await offer([])
  assert.equal((await erase(grace, entity, 'approve')).state, 'approved')
})

test('a case that is opened at the moment of the approval refuses it', async () => {
  const team = await newTeam()
  const { ada, grace } = team
  const entity = await team.newEntity()
  await erase(ada, entity, 'propose')
  const commit: typeof store.commit = async (change) => {
    if (change.newErasures) await team.decide(entity)
    return store.commit(change)
  }
  const racing = { ...installation, stores: { ...installation.stores, sandbox: { ...store, commit } } }
  await assert.rejects(eraseEntity(racing, grace, { entity, move: 'approve' }), {
    code: 'erasure_refused',
    message: /the case cas_\w+ is open/,
  })
  assert.equal((await team.organization.get(`/v1/entities/${entity}`)).status, 200)
})

test('steps that were inserted or deleted with SQL propose nothing, and lift no hold', async () => {
  const team = await newTeam()
  const { organization, ada, grace, rob } = team
  const [held, free] = [await team.newEntity(), await team.newEntity()]
  await hold(rob, held, 'propose')
  await hold(ada, held, 'approve')
  const insert = (entity: string, effect: string, step: string) =>
    database.query(
      `INSERT INTO entity_steps (org_id, id, entity_id, effect, step, reason, actor_type, actor_id, taken_at)
       VALUES ($1, $2, $3, $4, $5, 'r', 'operator', $6, now())`,
      [organization.id, `stp_${count++}`, entity, effect, step, ada.by.operator.id],
    )
  await insert(free, 'erased', 'proposed')
  await assert.rejects(erase(grace, free, 'approve'), { code: 'step_not_proposed' })
  await insert(held, 'lifted', 'approved')
  await assert.rejects(erase(ada, held, 'propose'), { code: 'erasure_refused' })
  await tamper(database, 'DELETE FROM entity_steps WHERE org_id = $1 AND entity_id = $2', [organization.id, held])
  await assert.rejects(erase(ada, held, 'propose'), {
    code: 'erasure_refused',
    message: /on legal hold since [^“]+\.$/,
  })
  const trail = async () => (await organization.get(`/v1/entities/${held}/audit-trail`)).body.data
  await until('the hold is sealed', async () => (await trail())[0].leaf_index !== null)
  const { problems } = await verifyAuditLog({
    organizationId: organization.id,
    environment: 'sandbox',
    store,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: installation.masterKey.auditPublicKeys('sandbox'),
  })
  assert.equal(problems.filter((problem) => /The step stp_\w+ is missing/.test(problem)).length, 2, problems.join('\n'))
  assert.equal(
    problems.filter((problem) => /The step stp_\w+ is not on the log/.test(problem)).length,
    1,
    problems.join('\n'),
  )
})

test('reasons of proposals and holds are not on the log', async () => {
  const team = await newTeam()
  const entity = await team.newEntity()
  await hold(team.rob, entity, 'propose')
  await hold(team.rob, entity, 'withdraw')
  const entries = await database.query<{ data: string }>(
    `SELECT data FROM audit_entries WHERE org_id = $1 AND trail_id = $2`,
    [team.organization.id, entity],
  )
  assert.ok(entries.length >= 3)
  assert.doesNotMatch(JSON.stringify(entries), /Court file/)
})

test('the command line erases, holds and lifts, each with the codes of two operators', async () => {
  const organization = await api.newOrganization()
  // biome-ignore lint/suspicious/noExplicitAny: every command returns another shape, and the test reads all of them.
  const run = (name: string, positionals: string[], options: Record<string, string | boolean> = {}): Promise<any> =>
    findCommand(name)!.run(installation, {
      positionals,
      options: { org: organization.id, ...options },
      caller: 'alice (uid 1000)',
    })
  const text = async (name: string, result: Promise<unknown>) => findCommand(name)!.render!(await result)
  const add = async (name: string) => {
    const { email, code_secret } = await run('operators add', [`${name}@example.com`], { name, role: 'admin' })
    const app = new Authenticator(code_secret)
    return (command: string, entity: string, options: Record<string, boolean> = {}) => {
      nowMs += 30_000
      const code = app.next(nowMs)
      return text(command, run(command, [entity], { ...options, as: email, code, reason: 'Request 3.' }))
    }
  }
  const [ada, grace] = [await add('ada'), await add('grace')]
  const { body } = await organization.post('/v1/entities', { external_id: 'anna' })
  const { id } = body
  assert.equal(
    await text('entities erasure', run('entities erasure', ['anna'])),
    `Nothing stands against erasing ${id}.`,
  )
  assert.match(await ada('entities hold', 'anna'), /^Proposed a legal hold on ent_\w+\. Nothing changes until/)
  assert.match(
    await text('entities erasure', run('entities erasure', ['anna'])),
    /set a legal hold +ada@example\.com .*Request 3\./,
  )
  assert.match(await grace('entities hold', id, { approve: true }), /is on legal hold: it is not erased/)
  assert.match(
    await text('entities holds', run('entities holds', [])),
    new RegExp(`${id} +2026-\\S+ +ada@example.com +grace@example.com +Request 3\\.`),
  )
  await assert.rejects(ada('entities erase', 'anna'), { code: 'erasure_refused' })
  await assert.rejects(ada('entities hold', 'anna', { approve: true, withdraw: true }), { code: 'moves_ambiguous' })
  await grace('entities lift-hold', 'anna')
  assert.equal(await ada('entities lift-hold', 'anna', { approve: true }), `Lifted the legal hold on ${id}.`)
  assert.equal(await text('entities holds', run('entities holds', [])), 'No entity is on legal hold.')
  await ada('entities erase', 'anna')
  assert.equal(await ada('entities erase', 'anna', { withdraw: true }), `Withdrew the proposal to erase ${id}.`)
  await ada('entities erase', 'anna')
  assert.match(await grace('entities erase', 'anna', { approve: true }), /^Erased ent_\w+: it is unknown from now on/)
  assert.equal((await organization.get(`/v1/entities/${id}`)).status, 404)
})
