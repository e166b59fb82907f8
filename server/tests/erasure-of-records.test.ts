/** What upkeep erases once an erasure is approved and sealed; on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsOf } from '../src/store/schema/tables.ts'
import { startAuditLogScene } from './audit-log-scene.ts'
import {
  approveErasure,
  eraseAfter,
  eraseDecisionsAfter,
  eraseEntirely,
  PERSONAL_TEXTS,
  readEverything,
  sealEverything,
  storePerson,
} from './erase-entity.ts'

const scene = await startAuditLogScene()
const { api, installation, database, store } = scene

/** Of an identifier only the last digits are stored, and no name beside an entity. */
const NEVER_STORED = ['masked', 'counterparty_of_another']

test('of an erased entity no text that was sent about it is left in any table or document', async () => {
  const acme = await api.newOrganization()
  const { entityId, decisionId } = await storePerson(scene, acme)
  const before = await readEverything(installation, acme)
  for (const [name, text] of Object.entries(PERSONAL_TEXTS))
    assert.ok(before.includes(text) || NEVER_STORED.includes(name), `${name} is stored: ${text}`)
  await eraseEntirely(scene, acme, entityId)
  const after = await readEverything(installation, acme)
  for (const [name, text] of Object.entries(PERSONAL_TEXTS))
    assert.ok(!after.includes(text), `${name} is left: ${text}`)
  assert.ok(after.includes(decisionId), 'the decision is kept')
})

test('before its entry is sealed an erasure erases nothing', async () => {
  const acme = await api.newOrganization()
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'unsealed' })
  await acme.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' })
  const count = async () => (await database.query('SELECT 1 FROM consents WHERE entity_id = $1', [entity.id])).length
  const unsealed = {
    ...store,
    erasures: {
      ...store.erasures,
      async *pending() {
        for await (const page of store.erasures.pending()) yield page.map((each) => ({ ...each, is_sealed: false }))
      },
    },
  }
  await approveErasure(installation, acme.id, entity.id)
  await eraseAfter({ ...scene, store: unsealed }, 11)
  assert.equal(await count(), 1)
  await sealEverything(scene, acme.id)
  await eraseAfter(scene, 11)
  assert.equal(await count(), 0)
})

test('an erasure is carried out, however many rows before it the log does not confirm', async () => {
  const acme = await api.newOrganization()
  await database.query(
    `INSERT INTO erasures (org_id, entity_id, entry_id, approved_at)
     SELECT $1, 'ent_' || n, 'aud_' || n, '2020-01-01T00:00:00Z' FROM generate_series(1, 250) AS n`,
    [acme.id],
  )
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'behind' })
  await acme.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' })
  await eraseEntirely(scene, acme, entity.id)
  assert.deepEqual(await database.query('SELECT 1 FROM consents WHERE entity_id = $1', [entity.id]), [])
  await database.query('DELETE FROM erasures WHERE org_id = $1', [acme.id])
})

test('a decision about another entity that the person was merged with loses the texts, and replays; its reference stays', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  const [about] = await database.query<{ id: string }>(
    `SELECT id FROM decisions WHERE org_id = $1 AND reference = 'of-another-person'`,
    [acme.id],
  )
  const replay = async () => (await acme.get(`/v1/decisions/${about!.id}/replay`)).body
  const before = await replay()
  assert.equal(before.evidence.feature_snapshot['snapshot.employer'].value, PERSONAL_TEXTS.employer)
  assert.equal(before.erased, undefined)
  await eraseEntirely(scene, acme, entityId)
  const after = await replay()
  assert.equal(after.evidence.feature_snapshot['snapshot.employer'].value, '[erased]')
  assert.deepEqual([after.matches, after.differences, after.erased.evidence], [true, [], 'without_texts'])
  assert.equal(after.decision.reference, 'of-another-person')
  assert.deepEqual((await scene.verify(acme)).problems, [])
})

test('audit verify finds a log intact after an erasure, and counts what it erased', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  await sealEverything(scene, acme.id)
  const before = await scene.verify(acme)
  assert.deepEqual([before.intact, before.records_erased], [true, 0], before.problems.join('\n'))
  await approveErasure(installation, acme.id, entityId)
  assert.deepEqual((await scene.verify(acme)).problems, [], 'while it waits for its leaf')
  await sealEverything(scene, acme.id)
  assert.equal((await scene.verify(acme)).intact, true, 'while it is pending')
  await eraseAfter(scene, 11)
  await sealEverything(scene, acme.id)
  const after = await scene.verify(acme)
  assert.deepEqual(after.problems, [])
  assert.ok(after.records_erased >= 10, String(after.records_erased))
})

test('a case that was opened as its person was erased goes too, and a decided one hides none of the others', async () => {
  const acme = await api.newOrganization()
  const post = async (path: string, body: object) => {
    const answer = await acme.post(path, body, { 'Idempotency-Key': crypto.randomUUID() })
    assert.equal(answer.status, 201, answer.text)
    return answer.body.id as string
  }
  const newCase = async (externalId: string) => {
    const entityId = await post('/v1/entities', { external_id: externalId })
    const request = { entity_id: entityId, product: 'default', requested_amount: 900, currency: 'EUR' }
    return { entityId, decisionId: await post('/v1/underwrite', request) }
  }
  const decided = async (externalId: string) => {
    const { entityId, decisionId } = await newCase(externalId)
    const review = { verdict: 'decline', reviewer: { id: 'u-1' }, reason: 'No papers.' }
    await post(`/v1/decisions/${decisionId}/reviews`, review)
    return entityId
  }
  const older = await decided('older')
  const newer = await decided('newer')
  const open = await post('/v1/entities', { external_id: 'open' })
  const counts = () => store.cases.counts(acme.id, { operatorId: 'opr_one', openedBefore: '2020-01-01T00:00:00.000Z' })
  await approveErasure(installation, acme.id, open)
  const columns = columnsOf('decisions').filter((column) => !['id', 'entity_id'].includes(column))
  await database.query(
    `INSERT INTO decisions (id, entity_id, flush, ${columns.join(', ')})
     SELECT 'dec_late', $3, flush, ${columns.join(', ')} FROM decisions WHERE org_id = $1 AND entity_id = $2`,
    [acme.id, older, open],
  )
  assert.equal((await counts()).all, 1)
  await sealEverything(scene, acme.id)
  await eraseAfter(scene, 11)
  await eraseEntirely(scene, acme, newer)
  assert.equal((await counts()).all, 0)
  assert.deepEqual(await database.query(`SELECT FROM waiting_reviews WHERE decision_id = 'dec_late'`), [])
  const filter = { organizationId: acme.id, state: 'decided', holder: 'all', limit: 1 } as const
  const page = await store.cases.page(filter, 20_000)
  assert.deepEqual(
    page.map(({ entity_id }) => entity_id),
    [older],
  )
})

/** What `audit verify` says of an organization in which one record of an erased person, or one erasure, was changed with SQL. */
async function problemsAfter(sql: string, params: (person: { entityId: string; decisionId: string }) => unknown[]) {
  const acme = await api.newOrganization()
  const person = await storePerson(scene, acme)
  await eraseEntirely(scene, acme, person.entityId)
  await alter(sql, params(person))
  return (await scene.verify(acme)).problems
}

/** Changes rows of append-only tables, as an administrator of the database can. */
async function alter(sql: string, params: unknown[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.script('SET LOCAL session_replication_role = replica')
    await transaction.query(sql, params)
  })
}

test('what an erasure leaves is verified as before: a deleted or edited record is a problem', async () => {
  const ofEntity = ({ entityId }: { entityId: string }) => [entityId]
  for (const [sql, what] of [
    ['DELETE FROM reviews WHERE entity_id = $1', /^The review rev_\w+ is missing/],
    ['DELETE FROM outcomes WHERE entity_id = $1', /^The outcome out_\w+ is missing/],
    [
      `UPDATE reviews SET body = replace(body, '[erased]', 'forged') WHERE entity_id = $1`,
      /^The review rev_\w+ was changed/,
    ],
    ['UPDATE decisions SET score = 1 WHERE entity_id = $1', /^The decision dec_\w+ was changed \(score\)/],
    ['UPDATE erasures SET entry_id = $1 WHERE entity_id = $1', /is missing|is not on the log/],
    ['DELETE FROM erasures WHERE entity_id = $1', /^The entity ent_\w+ is missing/],
  ] as const) {
    const problems = await problemsAfter(sql, ofEntity)
    assert.ok(
      problems.some((problem) => what.test(problem)),
      `${sql}: ${problems.join('\n')}`,
    )
  }
})

test('the same rows deleted with SQL, without an erasure, are problems', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  await sealEverything(scene, acme.id)
  await alter('DELETE FROM consents WHERE entity_id = $1', [entityId])
  assert.match((await scene.verify(acme)).problems.join('\n'), /^The consent con_\w+ is missing/)
  await alter('INSERT INTO erasures (org_id, entity_id, entry_id, approved_at) VALUES ($2, $1, $1, now())', [
    entityId,
    acme.id,
  ])
  const problems = (await scene.verify(acme)).problems.join('\n')
  assert.match(problems, /The consent con_\w+ is missing/, 'an inserted erasure explains nothing')
  assert.match(problems, /The erasure of ent_\w+ is not on the log/)
})

test('a decision that was being made when the erasure was approved is not written', async () => {
  const acme = await api.newOrganization()
  const { entityId, firstDecisionId } = await storePerson(scene, acme)
  const stored = (await store.decisions.find({ organizationId: acme.id, id: firstDecisionId }))!
  const { org_id: _, flush: __, ...row } = stored
  const documents = { body: '{}', facts: '{}', trace: '{}', graph: '{}' }
  await approveErasure(installation, acme.id, entityId)
  const late = { ...row, id: installation.newId('dec'), documents, madeOn: '' }
  assert.deepEqual(await store.commit({ organizationId: acme.id, decisions: [late] }), { lost: 'erased' })
  assert.equal(await store.decisions.find({ organizationId: acme.id, id: late.id }), undefined)
})

test('what a request wrote that had read the entity before the approval goes with the second look', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  await eraseAfter(scene, 0)
  assert.equal((await store.erasures.ofEntities(acme.id, [entityId])).get(entityId)!.done_at, null)
  await database.query(
    `INSERT INTO consents (org_id, id, entity_id, purpose, status, data_categories, granted_at, evidence_reference, created_at)
     VALUES ($1, 'con_late', $2, 'marketing', 'granted', '', now(), 'late-zq', now())`,
    [acme.id, entityId],
  )
  await eraseAfter(scene, 11)
  assert.ok((await store.erasures.ofEntities(acme.id, [entityId])).get(entityId)!.done_at)
  assert.ok(!(await readEverything(installation, acme)).includes('late-zq'))
})

test('an erasure that was killed after any statement is carried out by the next round, and the log stays intact', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  let statements = 0
  let killedAt = 0
  const mortal: typeof database = {
    ...database,
    query: async (sql, params, options) => {
      statements += 1
      if (statements === killedAt) throw new Error('killed')
      return database.query(sql, params, options)
    },
  }
  let killed = 0
  for (killedAt = 1; ; killedAt += 7) {
    statements = 0
    const isKilled = await eraseAfter({ ...scene, database: mortal }, 0).then(
      () => false,
      () => true,
    )
    if (!isKilled) break
    killed += 1
  }
  assert.ok(killed > 5, `killed ${killed} times`)
  await eraseAfter(scene, 11)
  await sealEverything(scene, acme.id)
  const everything = await readEverything(installation, acme)
  for (const text of Object.values(PERSONAL_TEXTS)) assert.ok(!everything.includes(text), text)
  assert.deepEqual((await scene.verify(acme)).problems, [])
})

test('about a decision of an erased entity nothing more is recorded', async () => {
  const acme = await api.newOrganization()
  const { entityId, decisionId } = await storePerson(scene, acme)
  await approveErasure(installation, acme.id, entityId)
  const now = new Date(installation.nowMs()).toISOString()
  for (const [path, body] of [
    ['reviews', { verdict: 'decline', reviewer: { id: 'reviewer-1' }, reason: 'After the erasure.' }],
    ['outcomes', { type: 'default', occurred_at: now }],
  ] as const) {
    const answer = await acme.post(`/v1/decisions/${decisionId}/${path}`, body, { 'Idempotency-Key': `late-${path}` })
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'decision_not_found'])
    assert.match(answer.body.error.message, /was erased/)
  }
})

test('seven years after a decision about an erased entity only its hashes are left, and other decisions still replay', async () => {
  const acme = await api.newOrganization()
  const erased = await storePerson(scene, acme)
  const { body: other } = await acme.post('/v1/entities', { external_id: 'another' })
  const request = { entity_id: other.id, product: 'default', requested_amount: 900, currency: 'EUR' }
  const { body: kept } = await acme.post('/v1/underwrite', request, { 'Idempotency-Key': 'another' })
  await eraseEntirely(scene, acme, erased.entityId)
  const { keepDays } = installation.config
  assert.equal(keepDays.erasedDecisions, 2557)
  const figures = async () =>
    database.query(
      'SELECT id FROM decisions WHERE org_id = $1 AND entity_id = $2 AND requested_amount IS NOT NULL AND score IS NOT NULL',
      [acme.id, erased.entityId],
    )
  await eraseDecisionsAfter(scene, keepDays.erasedDecisions - 1)
  assert.equal((await figures()).length, 2, 'a day too early')
  await eraseDecisionsAfter(scene, keepDays.erasedDecisions + 1)
  assert.equal((await figures()).length, 0)
  for (const table of ['reviews', 'outcomes', 'outcome_retractions'])
    assert.deepEqual(await database.query(`SELECT id FROM ${table} WHERE entity_id = $1`, [erased.entityId]), [], table)
  assert.equal((await acme.get(`/v1/decisions/${erased.decisionId}`)).status, 404)
  const replay = await acme.get(`/v1/decisions/${kept.id}/replay`)
  assert.equal(replay.body.matches, true)
  await sealEverything(scene, acme.id)
  assert.deepEqual((await scene.verify(acme)).problems, [])
  const [erasure] = (await store.erasures.ofEntities(acme.id, [erased.entityId])).values()
  assert.ok(erasure!.decisions_done_at, 'it is not read again')
})

test('an erasure does not wash a confirmed fraud: a new entity with an identifier of it is linked to the fraud', async () => {
  const acme = await api.newOrganization()
  const newHolder = async (externalId: string, device: string) => {
    const { body: entity } = await acme.post('/v1/entities', { external_id: externalId })
    const answer = await acme.post(
      `/v1/entities/${entity.id}/identity-links`,
      { identifier: { type: 'device', value: device }, verification: { status: 'verified' } },
      { 'Idempotency-Key': externalId },
    )
    assert.equal(answer.status, 201)
    return entity.id as string
  }
  const decided = async (entityId: string) => {
    const request = { entity_id: entityId, product: 'default', requested_amount: 900, currency: 'EUR' }
    return (await acme.post('/v1/underwrite', request, { 'Idempotency-Key': `of ${entityId}` })).body.id as string
  }
  const reported = async (entityId: string, type: string) => {
    const occurred_at = new Date(installation.nowMs()).toISOString()
    const decision = `/v1/decisions/${await decided(entityId)}`
    const review = { verdict: 'decline', reviewer: { id: 'reviewer-1' }, reason: 'No case stays open.' }
    for (const [path, body] of [
      ['outcomes', { type, occurred_at }],
      ['reviews', review],
    ] as const) {
      const answer = await acme.post(`${decision}/${path}`, body, { 'Idempotency-Key': `${path} of ${entityId}` })
      assert.equal(answer.status, 201, answer.text)
    }
  }
  const negativeExposure = async (entityId: string) => {
    const { body } = await acme.get(`/v1/decisions/${await decided(entityId)}/replay`)
    return body.evidence.feature_snapshot['graph.negative_exposure'].value as number
  }
  const fraud = await newHolder('fraud-zq', 'device-of-a-fraud')
  await reported(fraud, 'fraud_confirmed')
  const late = await newHolder('late-payer-zq', 'device-of-a-late-payer')
  await reported(late, 'default')
  for (const entityId of [fraud, late]) await eraseEntirely(scene, acme, entityId)

  const left = await database.query<{ table: string }>(
    `SELECT 'holder' AS table FROM identifier_holders WHERE entity_id = ANY($1::text[])
     UNION ALL SELECT 'record' FROM graph_track_records WHERE entity_id = ANY($1::text[])`,
    [[fraud, late]],
  )
  assert.deepEqual(left.map(({ table }) => table).sort(), ['holder', 'record'], 'of the fraud, not of the default')
  assert.ok(!(await readEverything(installation, acme)).includes('fraud-zq'))
  assert.ok((await negativeExposure(await newHolder('fraud-zq', 'device-of-a-fraud'))) > 0.1)
  assert.equal(await negativeExposure(await newHolder('late-payer-zq', 'device-of-a-late-payer')), 0)
})

test('replays and lists say that the entity was erased, and what is left still replays to the byte', async () => {
  const acme = await api.newOrganization()
  const { entityId, decisionId, firstDecisionId } = await storePerson(scene, acme)
  const replay = async (id: string) => (await acme.get(`/v1/decisions/${id}/replay`)).body
  assert.equal((await replay(decisionId)).erased, undefined)
  await eraseEntirely(scene, acme, entityId)
  const [first, second] = [await replay(firstDecisionId), await replay(decisionId)]
  assert.deepEqual([first.matches, first.erased.evidence], [true, 'kept'])
  assert.deepEqual([second.differences, second.matches, second.erased.evidence], [[], true, 'without_texts'])
  assert.deepEqual(second.evidence.feature_snapshot['snapshot.employer'].value, '[erased]')
  assert.equal(second.evidence.feature_snapshot['snapshot.months_employed'].value, 14)
  assert.equal(second.reviews[0].reason, '[erased]')
  const { decisions } = await store.decisions.page(acme.id, { entityId }, { after: undefined, limit: 10 })
  assert.deepEqual(
    decisions.map(({ entity_name }) => entity_name),
    ['erased', 'erased'],
  )
  await eraseDecisionsAfter(scene, installation.config.keepDays.erasedDecisions + 1)
  const gone = await replay(decisionId)
  assert.deepEqual([gone.matches, gone.erased.evidence, gone.decision], [false, 'gone', null])
})
