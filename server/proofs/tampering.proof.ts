/** Alterations of the database with SQL, each of which `audit verify` has to name. See docs/audit-log.md. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdEntity } from '../src/admin/hold-entity.ts'
import { revokeKey } from '../src/admin/manage-keys.ts'
import { mergeEntities } from '../src/admin/merge-entities.ts'
import { retractOutcome } from '../src/admin/retract-outcome.ts'
import { Sealer } from '../src/audit/sealer.ts'
import { type LogVerification, verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { leafHashOf } from '../src/core/audit/audit-entry.ts'
import { entryMac } from '../src/core/audit/entry-mac.ts'
import { sha256 } from '../src/core/canonical-json.ts'
import type { Operator } from '../src/store/control/operators.ts'
import { entryOf } from '../src/store/environment/stored-entry.ts'
import { columnsOf, type RowOf } from '../src/store/schema/tables.ts'
import { byOperator, byService } from '../tests/acts.ts'
import { OUT_OF_REACH } from '../tests/out-of-reach.ts'
import { addOperatorRow } from '../tests/people.ts'
import { tamper } from '../tests/tamper.ts'
import { testKeys } from '../tests/test-keys.ts'
import { startTestService } from '../tests/test-service.ts'
import type { Alteration, Scene } from './alterations/alteration.ts'
import { LOG_ALTERATIONS } from './alterations/log-alterations.ts'
import { RECORD_ALTERATIONS } from './alterations/record-alterations.ts'
import { reportFigures } from './proof-run.ts'

const api = await startTestService()
const { installation } = api.service
const database = installation.storage.environments.sandbox
const store = installation.stores.sandbox
const signingKey = installation.masterKey.auditSigningKey('sandbox')
const knownHeads = installation.knownHeads.sandbox
const refused: string[] = []
const sealer = new Sealer({
  ...installation,
  environment: 'sandbox',
  database,
  store,
  keys: installation.masterKey.sealingKeys('sandbox'),
  knownHeads,
  knownErasures: installation.knownErasures.sandbox,
  onError: () => {},
  onRefused: ({ entry_ids }) => refused.push(...entry_ids),
})

let keys = 0
const idempotent = () => ({ 'Idempotency-Key': `k-${keys++}` })

async function newScene(): Promise<Scene> {
  const organization = await api.newOrganization()
  const create = async (path: string, body: object) => {
    const answer = await organization.post(path, body, idempotent())
    assert.equal(answer.status, 201, answer.text)
    return answer.body.id as string
  }
  const entity = await create('/v1/entities', { external_id: 'subject' })
  const of = `/v1/entities/${entity}`
  const identifier = { type: 'tax_id', value: '12-3456789' }
  const link = await create(`${of}/identity-links`, { identifier, verification: { status: 'verified' } })
  const consent = await create(`${of}/consents`, { purpose: 'credit_underwriting' })
  const at = new Date(Date.now() - 86_400_000).toISOString()
  const snapshot = await create(`${of}/feature-snapshots`, { source: 'bureau', as_of: at, features: { score: 7 } })
  const paid = { external_id: 't-1', occurred_at: at, amount: 12.5, currency: 'EUR', direction: 'credit' }
  await create(`${of}/transactions`, { transactions: [paid] })
  const correction = await create(`${of}/transactions`, { transactions: [{ ...paid, amount: 13, corrects: true }] })
  const request = { entity_id: entity, product: 'credit_line', requested_amount: 5_000, currency: 'EUR' }
  const decision = await create('/v1/underwrite', request)
  const about = `/v1/decisions/${decision}`
  const review = await create(`${about}/reviews`, { verdict: 'decline', reviewer: { id: 'u-1' }, reason: 'No papers.' })
  const now = new Date().toISOString()
  const outcome = await create(`${about}/outcomes`, { type: 'default', occurred_at: now })
  const mistaken = await create(`${about}/outcomes`, { type: 'late', occurred_at: now, days_past_due: 3 })
  const operators = await addOperators(organization.id)
  const [proposal, retraction] = await retractedByTwo(organization.id, operators, mistaken)
  const other = await create('/v1/entities', { external_id: 'duplicate' })
  const merge = await mergedByTwo(organization.id, operators, { entity, other })
  const hold = await heldByTwo(organization.id, operators, entity)
  const revokedKey = (await organization.newKey('sandbox', ['entities:read'])).id
  const otherKey = (await organization.newKey('sandbox', ['entities:read'])).id
  await revokeKey(installation, byService(organization.id), revokedKey)
  const policy = (await store.policies.active(organization.id))!.id
  await sealer.sealAll()
  const ofDecision = { decision, review, outcome, proposal, retraction }
  return {
    organization,
    entity,
    link,
    consent,
    snapshot,
    correction,
    ...ofDecision,
    merge,
    hold,
    policy,
    revokedKey,
    otherKey,
  }
}

/** Two operators of an organization. */
async function addOperators(organizationId: string): Promise<Operator[]> {
  const operators: Operator[] = []
  for (const name of ['ada', 'grace'])
    operators.push(
      await addOperatorRow(installation, {
        org_id: organizationId,
        id: installation.newId('opr'),
        email: `${name}@example.com`,
        name,
        role: 'admin',
        created_at: new Date().toISOString(),
        disabled_at: null,
        account_id: installation.newId('acc'),
      }),
    )
  return operators
}

/** Takes an outcome back as two operators do; returns the ids of the two steps. */
async function retractedByTwo(
  organizationId: string,
  operators: readonly Operator[],
  outcomeId: string,
): Promise<[string, string]> {
  for (const operator of operators)
    await retractOutcome(installation, byOperator(operator, { reason: 'Reported by mistake.' }), outcomeId)
  const steps = await database.query<{ id: string }>(
    'SELECT id FROM outcome_retractions WHERE org_id = $1 ORDER BY taken_at, step DESC',
    [organizationId],
  )
  return steps.map(({ id }) => id) as [string, string]
}

/** Merges two entities as two operators do; returns the id of the approved step of the first. */
async function mergedByTwo(
  organizationId: string,
  operators: readonly Operator[],
  { entity, other }: { entity: string; other: string },
): Promise<string> {
  for (const operator of operators)
    await mergeEntities(installation, byOperator(operator, { reason: 'One customer.' }), { entity, other })
  const [step] = await database.query<{ id: string }>(
    "SELECT id FROM entity_merges WHERE org_id = $1 AND entity_id = $2 AND step = 'approved'",
    [organizationId, entity],
  )
  return step!.id
}

/** Sets a legal hold as two operators do; returns the id of the approved step. */
async function heldByTwo(organizationId: string, operators: readonly Operator[], entity: string): Promise<string> {
  for (const [n, operator] of operators.entries()) {
    const step = { entity, move: n === 0 ? 'propose' : 'approve' } as const
    await holdEntity(installation, byOperator(operator, { reason: 'A court case.' }), step)
  }
  const [step] = await database.query<{ id: string }>(
    "SELECT id FROM entity_steps WHERE org_id = $1 AND step = 'approved'",
    [organizationId],
  )
  return step!.id
}

function verify(organizationId: string): Promise<LogVerification> {
  return verifyAuditLog({
    organizationId,
    environment: 'sandbox',
    store,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: [signingKey.publicKey],
    knownHeads,
  })
}

/** Runs statements as a database administrator; `$1` is the organization of the scene. */
async function runStatements({ organization }: Scene, ...statements: string[]): Promise<void> {
  for (const sql of statements) {
    const params = sql.includes('$1') ? [organization.id] : []
    if (/^INSERT/.test(sql)) await database.query(sql, params)
    else await tamper(database, sql, params)
  }
}

/** Alters a scene and returns what the verification reports. */
async function problemsAfter(scene: Scene, alteration: Alteration): Promise<string> {
  if ('sql' in alteration) await runStatements(scene, ...[alteration.sql(scene)].flat())
  else await alteration.alter(scene, database)
  const { intact, problems } = await verify(scene.organization.id)
  assert.equal(intact, false)
  return problems.join('\n')
}

const detected: string[] = []

test('an untouched organization with records of every kind is intact, and every record was compared', async () => {
  const { organization } = await newScene()
  const report = await verify(organization.id)
  assert.deepEqual(report.problems, [])
  assert.ok(report.records_compared >= 17, String(report.records_compared))
})

for (const alteration of [...RECORD_ALTERATIONS, ...LOG_ALTERATIONS]) {
  const { what, named } = alteration
  test(`audit verify names it: ${what}`, async () => {
    const scene = await newScene()
    const expected = await named(scene, database)
    const problems = await problemsAfter(scene, alteration)
    if (typeof expected === 'string') assert.ok(problems.includes(expected), `${expected}\nis not in\n${problems}`)
    else assert.match(problems, expected)
    detected.push(what)
  })
}

test('a review that was moved to another organization is named in both', async () => {
  const [one, other] = [await newScene(), await newScene()]
  await runStatements(
    one,
    `UPDATE reviews SET org_id = '${other.organization.id}' WHERE org_id = $1 AND id = '${one.review}'`,
  )
  assert.match((await verify(one.organization.id)).problems.join(), new RegExp(`The review ${one.review} is missing`))
  assert.match(
    (await verify(other.organization.id)).problems.join(),
    new RegExp(`The review ${one.review} is not on the log`),
  )
  detected.push('a row moved to another organization')
})

test('entries that two organizations exchanged are named in both', async () => {
  const [one, other] = [await newScene(), await newScene()]
  const ids = [one.organization.id, other.organization.id]
  const entries = await database.query<{ id: string; org_id: string }>(
    `SELECT id, org_id FROM audit_entries WHERE type = 'decision.reviewed' AND org_id = ANY($1::text[])`,
    [ids],
  )
  for (const { id, org_id } of entries)
    await tamper(database, 'UPDATE audit_entries SET org_id = $2, seq = seq + 50 WHERE id = $1', [
      id,
      ids.find((organizationId) => organizationId !== org_id),
    ])
  for (const { id, org_id } of entries)
    assert.match(
      (await verify(org_id)).problems.join('\n'),
      new RegExp(`Entry ${id}, sealed as leaf \\d+, was removed`),
    )
  detected.push('entries exchanged between organizations')
})

test('a forged entry in the sealing queue is refused, and its decision does not replay as recorded', async () => {
  const scene = await newScene()
  const { id: organizationId } = scene.organization
  const [entry] = await database.query<RowOf<'audit_entries'> & { seq: number }>(
    `SELECT * FROM audit_entries WHERE org_id = $1 AND subject_id = $2 AND type = 'decision.created'`,
    [organizationId, scene.decision],
  )
  const forged = {
    ...entry!,
    id: `aud_${'1'.repeat(26)}`,
    subject_id: `dec_${'1'.repeat(26)}`,
    seq: 90,
    flush: 9_000_000_000,
    place: 0,
  }
  const leaf_hash = leafHashOf(organizationId, entryOf(forged))
  // The forger knows the format, but has another key.
  const row = { ...forged, mac: entryMac(testKeys.auditKeys[0], { ...forged, leaf_hash }) }
  const columns = Object.keys(row)
  await database.query(
    `INSERT INTO audit_entries (${columns.join(', ')}) VALUES (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  )
  await database.query(
    `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac) VALUES ($1, $2, substr($3, 5), decode($4, 'hex'), 'forged')`,
    [organizationId, row.flush, row.id, leaf_hash],
  )
  const copied = columnsOf('decisions').filter((column) => column !== 'id')
  await database.query(
    `INSERT INTO decisions (id, ${copied}, flush) SELECT $2, ${copied}, flush FROM decisions WHERE id = $1`,
    [scene.decision, forged.subject_id],
  )
  await sealer.sealAll()
  assert.ok(refused.includes(forged.id))
  const { body } = await scene.organization.get(`/v1/decisions/${forged.subject_id}/replay`)
  assert.deepEqual([body.matches, body.audit.leaf_index], [false, null])
  const problems = (await verify(organizationId)).problems.join('\n')
  assert.match(problems, new RegExp(`Entry ${forged.id} was not written by this service`))
  detected.push('a forged entry in the sealing queue')
})

test('a policy that was edited together with all its checksums is named, and decides nothing', async () => {
  const scene = await newScene()
  const { organization, policy, entity } = scene
  const [{ document } = { document: '' }] = await database.query<{ document: string }>(
    'SELECT document FROM policies WHERE org_id = $1',
    [organization.id],
  )
  const forged = document.replace('"base":', '"base":9')
  const checksum = sha256(forged)
  await tamper(database, 'UPDATE policies SET document = $2, checksum = $3 WHERE org_id = $1', [
    organization.id,
    forged,
    checksum,
  ])
  await tamper(database, 'UPDATE policy_steps SET checksum = $2 WHERE org_id = $1', [organization.id, checksum])
  await database.query('UPDATE active_policies SET checksum = $2 WHERE org_id = $1', [organization.id, checksum])
  await new Promise((resolve) => setTimeout(resolve, 600)) // the node caches the active policy for half a second
  const answer = await organization.post(
    '/v1/underwrite',
    { entity_id: entity, product: 'marketplace_access' },
    idempotent(),
  )
  assert.deepEqual([answer.status, answer.body.error.code], [500, 'internal_error'])
  assert.match((await verify(organization.id)).problems.join('\n'), new RegExp(`The policy ${policy} was changed`))
  detected.push('a policy edited with its checksums')
})

for (const { what, sql } of OUT_OF_REACH) {
  if (!sql) continue
  test(`listed as out of reach, and so it is: ${what}`, async () => {
    const scene = await newScene()
    await runStatements(scene, sql)
    assert.deepEqual((await verify(scene.organization.id)).problems, [])
  })
}

// Last, because it alters all organizations.
test('truncated tables are named', async (t) => {
  const scene = await newScene()
  for (const [table, record, id] of [
    ['reviews', 'review', scene.review],
    ['outcomes', 'outcome', scene.outcome],
    ['outcome_retractions', 'retraction', scene.retraction],
    ['consents', 'consent', scene.consent],
  ] as const) {
    await tamper(database, `TRUNCATE ${table}`, [])
    assert.match(
      (await verify(scene.organization.id)).problems.join('\n'),
      new RegExp(`The ${record} ${id} is missing`),
    )
    detected.push(`truncated ${table}`)
  }
  await tamper(database, 'TRUNCATE audit_flushes', [])
  assert.match((await verify(scene.organization.id)).problems.join('\n'), /but a signed head covers \d+ leaves/)
  detected.push('truncated audit_flushes')
  assert.ok(detected.length >= 85, String(detected.length))
  reportFigures(
    t,
    `${detected.length} alterations by SQL detected and named, ${OUT_OF_REACH.length} kinds listed as out of reach`,
  )
})
