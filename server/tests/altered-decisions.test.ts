/** What a replay says, and what the service decides, after rows were altered by SQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leafHashOf } from '../src/core/audit/audit-entry.ts'
import { canonicalJson, sha256 } from '../src/core/canonical-json.ts'
import { entryOf } from '../src/store/environment/stored-entry.ts'
import type { RowOf } from '../src/store/schema/tables.ts'
import { sealedReplay, trailSealed } from './sealed-replay.ts'
import { tamper } from './tamper.ts'
import { startTestService, type TestOrganization } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox

let keys = 0
function idempotent(): Record<string, string> {
  return { 'Idempotency-Key': `key-${keys++}` }
}

async function underwrite(entityId: string, request: object, organization: TestOrganization = acme) {
  const answer = await organization.post('/v1/underwrite', { entity_id: entityId, ...request }, idempotent())
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

/** A decision about a new entity, with functions to alter its rows and to replay it. */
async function alterableDecision(name: string) {
  const { body: entity } = await acme.post('/v1/entities', { external_id: name })
  const decision = await underwrite(entity.id, { product: 'credit_line' })
  const alter = (sql: string) => tamper(database, sql, [decision.id])
  const replayed = async () => {
    const { status, body } = await acme.get(`/v1/decisions/${decision.id}/replay`)
    assert.equal(status, 200)
    return { ...body, paths: body.differences.map(({ path }: { path: string }) => path) as string[] }
  }
  return { decision, alter, replayed }
}

test('a decision whose facts were altered replays with another verdict, and the replay names both', async () => {
  const { decision, alter, replayed } = await alterableDecision('altered')
  await alter(
    `UPDATE decision_evidence SET facts = replace(facts, '"history.abuse":{"value":0}', '"history.abuse":{"value":3}') WHERE decision_id = $1`,
  )
  const { matches, paths, differences, decision: returned } = await replayed()
  assert.equal(matches, false)
  assert.ok(paths.includes('/evidence/facts'))
  const verdict = differences.find(({ path }: { path: string }) => path === '/verdict')
  assert.deepEqual(verdict, { path: '/verdict', recorded: 'manual_review', replayed: 'decline' })
  assert.deepEqual(returned, decision)
})

for (const [what, sql, path] of [
  [
    'an added field that the policy does not read',
    `UPDATE decision_evidence SET facts = replace(facts, '"format":1', '"format":1,"more":2') WHERE decision_id = $1`,
    '/evidence/facts',
  ],
  ['facts that are not JSON', `UPDATE decision_evidence SET facts = 'x' WHERE decision_id = $1`, '/evidence/facts'],
  ['facts that are empty', `UPDATE decision_evidence SET facts = '{}' WHERE decision_id = $1`, '/evidence/facts'],
  [
    'a fact that is a number',
    `UPDATE decision_evidence SET facts = replace(facts, '"history.abuse":{"value":0}', '"history.abuse":5') WHERE decision_id = $1`,
    '/evidence/facts/features/history.abuse',
  ],
  [
    'a fact that is null',
    `UPDATE decision_evidence SET facts = replace(facts, '"history.abuse":{"value":0}', '"history.abuse":null') WHERE decision_id = $1`,
    '/evidence/facts/features/history.abuse',
  ],
  [
    'a fact whose value is a list',
    `UPDATE decision_evidence SET facts = replace(facts, '"history.abuse":{"value":0}', '"history.abuse":{"value":[]}') WHERE decision_id = $1`,
    '/evidence/facts/features/history.abuse',
  ],
  [
    'a fact whose age is a text',
    `UPDATE decision_evidence SET facts = replace(facts, '"history.abuse":{"value":0}', '"history.abuse":{"value":0,"age_days":"x"}') WHERE decision_id = $1`,
    '/evidence/facts/features/history.abuse',
  ],
  [
    'a fact whose number is out of range',
    `UPDATE decision_evidence SET facts = replace(facts, '"history.abuse":{"value":0}', '"history.abuse":{"value":1e999}') WHERE decision_id = $1`,
    '/evidence/facts',
  ],
  [
    'a fact with a lone surrogate',
    `UPDATE decision_evidence SET facts = replace(facts, '"value":"none"', '"value":"\\ud800"') WHERE decision_id = $1`,
    '/evidence/facts',
  ],
  [
    'facts that hold a list',
    `UPDATE decision_evidence SET facts = '{"format":1,"features":[1]}' WHERE decision_id = $1`,
    '/evidence/facts',
  ],
  ['facts that are null', `UPDATE decision_evidence SET facts = 'null' WHERE decision_id = $1`, '/evidence/facts'],
  [
    'facts that nest too deep to parse',
    `UPDATE decision_evidence SET facts = repeat('[', 200000) || repeat(']', 200000) WHERE decision_id = $1`,
    '/evidence/facts',
  ],
  ['an empty graph', `UPDATE decision_evidence SET graph = '{}' WHERE decision_id = $1`, '/evidence/graph'],
  ['a graph that is a list', `UPDATE decision_evidence SET graph = '[1]' WHERE decision_id = $1`, '/evidence/graph'],
  ['a graph that is null', `UPDATE decision_evidence SET graph = 'null' WHERE decision_id = $1`, '/evidence/graph'],
  ['a graph that is not JSON', `UPDATE decision_evidence SET graph = '{' WHERE decision_id = $1`, '/evidence/graph'],
  ['a trace that is null', `UPDATE decision_evidence SET trace = 'null' WHERE decision_id = $1`, '/evidence/trace'],
  ['a trace that is not JSON', `UPDATE decision_evidence SET trace = 'x' WHERE decision_id = $1`, '/evidence/trace'],
  [
    'a trace that nests too deep to parse',
    `UPDATE decision_evidence SET trace = repeat('[', 200000) || repeat(']', 200000) WHERE decision_id = $1`,
    '/evidence/trace',
  ],
  ['a decision that is not JSON', `UPDATE decisions SET body = 'nonsense' WHERE id = $1`, '/decision'],
  ['a decision that is empty', `UPDATE decisions SET body = '{}' WHERE id = $1`, '/decision'],
  ['a decision that is a list', `UPDATE decisions SET body = '[1]' WHERE id = $1`, '/decision'],
  ['a decision that is null', `UPDATE decisions SET body = 'null' WHERE id = $1`, '/decision'],
  [
    'a decision whose reasons are null',
    `UPDATE decisions SET body = regexp_replace(body, '"reason_codes":\\[.*?\\]', '"reason_codes":[null]') WHERE id = $1`,
    '/decision',
  ],
  ['an empty trace', `UPDATE decision_evidence SET trace = '{}' WHERE decision_id = $1`, '/evidence/trace'],
  [
    'another verdict',
    `UPDATE decisions SET body = replace(body, '"manual_review"', '"approve"') WHERE id = $1`,
    '/verdict',
  ],
  [
    'another time',
    `UPDATE decisions SET body = regexp_replace(body, '"created_at":"[^"]*"', '"created_at":"2020-01-01T00:00:00.000Z"') WHERE id = $1`,
    '/decision',
  ],
  [
    'another request id',
    `UPDATE decisions SET body = regexp_replace(body, '"request_id":"[^"]*"', '"request_id":"req_x"') WHERE id = $1`,
    '/decision',
  ],
  ['another verdict in its column', `UPDATE decisions SET verdict = 'approve' WHERE id = $1`, '/columns/verdict'],
  [
    'another policy checksum in its column',
    `UPDATE decisions SET policy_checksum = 'x' WHERE id = $1`,
    '/columns/policy_checksum',
  ],
] as const) {
  test(`the replay reports altered rows: ${what}`, async () => {
    const { alter, replayed } = await alterableDecision(`alter ${what}`)
    await alter(sql)
    const { matches, paths } = await replayed()
    assert.equal(matches, false)
    assert.ok(paths.includes(path), JSON.stringify(paths))
  })
}

for (const [what, sql, path] of [
  [
    'the entry of another decision',
    `UPDATE decision_evidence SET audit_entry_id = (SELECT id FROM audit_entries WHERE type = 'decision.created' AND subject_id <> $1 LIMIT 1) WHERE decision_id = $1`,
    '/evidence/audit_entry_id',
  ],
  ['no entry', `UPDATE decision_evidence SET audit_entry_id = 'x' WHERE decision_id = $1`, '/evidence/audit_entry_id'],
  [
    'an entry with another verdict',
    `UPDATE audit_entries SET data = replace(data, '"manual_review"', '"approve"') WHERE type = 'decision.created' AND subject_id = $1`,
    '/columns/verdict',
  ],
  [
    'an entry with an added field',
    `UPDATE audit_entries SET data = replace(data, '{', '{"by_the_way":1,') WHERE type = 'decision.created' AND subject_id = $1`,
    '/audit',
  ],
  [
    'an entry with another time',
    `UPDATE audit_entries SET occurred_at = '2020-01-01' WHERE type = 'decision.created' AND subject_id = $1`,
    '/audit',
  ],
  [
    'an entry that is not JSON',
    `UPDATE audit_entries SET data = 'x' WHERE type = 'decision.created' AND subject_id = $1`,
    '/audit',
  ],
  [
    'an entry that is a list',
    `UPDATE audit_entries SET data = '[1]' WHERE type = 'decision.created' AND subject_id = $1`,
    '/audit',
  ],
  ['a deleted entry', `DELETE FROM audit_entries WHERE type = 'decision.created' AND subject_id = $1`, '/audit'],
] as const) {
  test(`the replay reports a wrong audit entry: ${what}`, async () => {
    const { alter, replayed } = await alterableDecision(what)
    await alter(sql)
    const { matches, paths } = await replayed()
    assert.equal(matches, false)
    assert.ok(paths.includes(path), JSON.stringify(paths))
  })
}

test('the replay reports deleted evidence and an altered policy', async () => {
  const { alter, replayed } = await alterableDecision('deleted')
  await alter('DELETE FROM decision_evidence WHERE decision_id = $1')
  const { matches, paths, replayed: again } = await replayed()
  assert.deepEqual([matches, again], [false, null])
  assert.deepEqual(paths, ['/evidence/facts', '/evidence/trace', '/evidence/graph'])

  const other = await api.newOrganization()
  const { body: entity } = await other.post('/v1/entities', { external_id: 'policy' })
  const decision = await underwrite(entity.id, { product: 'credit_line' }, other)
  for (const set of [`replace(document, '"base":', '"base":1')`, `'{}'`, `'nonsense'`, `''`]) {
    await tamper(database, `UPDATE policies SET document = ${set} WHERE org_id = $1`, [other.id])
    const { status, body } = await other.get(`/v1/decisions/${decision.id}/replay`)
    assert.deepEqual([status, body.matches, body.replayed], [200, false, null], set)
    assert.ok(body.differences.some(({ path }: { path: string }) => path === '/evidence/policy'))
  }
})

test('an altered policy decides nothing, and the log names it', async () => {
  const other = await api.newOrganization()
  const { body: entity } = await other.post('/v1/entities', { external_id: 'altered policy' })
  const checksum = '0'.repeat(64) // of no policy that a node has compiled and cached
  await tamper(database, 'UPDATE policies SET checksum = $2 WHERE org_id = $1', [other.id, checksum])
  const refused = await other.post('/v1/underwrite', { entity_id: entity.id, product: 'p' }, idempotent())
  assert.equal(refused.status, 500)
  assert.ok(api.logs.some((line) => line.includes(`the stored policy ${checksum} was altered`)))
})

test('a policy that was edited together with its checksums decides nothing, and the answer says why', async () => {
  const other = await api.newOrganization()
  const { body: entity } = await other.post('/v1/entities', { external_id: 'edited policy' })
  const [row] = await database.query<{ document: string }>('SELECT document FROM policies WHERE org_id = $1', [
    other.id,
  ])
  const document = row!.document.replace('"base":', '"base":9')
  const values = [other.id, sha256(document)]
  await tamper(database, 'UPDATE policies SET document = $3, checksum = $2 WHERE org_id = $1', [...values, document])
  await tamper(database, 'UPDATE policy_steps SET checksum = $2 WHERE org_id = $1', values)
  await database.query('UPDATE active_policies SET checksum = $2 WHERE org_id = $1', values)
  const refused = await other.post('/v1/underwrite', { entity_id: entity.id, product: 'p' }, idempotent())
  assert.deepEqual([refused.status, refused.body.error.code], [500, 'internal_error'])
  assert.match(refused.body.error.message, /is not the one that was approved/)
  assert.ok(api.logs.some((line) => line.includes('"alarm":"policy_not_approved"')))
})

test('a policy that was made active with SQL, without an activation on the log, decides nothing', async () => {
  const other = await api.newOrganization()
  const { body: entity } = await other.post('/v1/entities', { external_id: 'inserted policy' })
  await database.query(
    `INSERT INTO policies SELECT org_id, 'pol_forged', 'forged', model_version, checksum, document, source, author_type, author_id, created_at
     FROM policies WHERE org_id = $1`,
    [other.id],
  )
  await database.query("UPDATE active_policies SET policy_id = 'pol_forged' WHERE org_id = $1", [other.id])
  const refused = await other.post('/v1/underwrite', { entity_id: entity.id, product: 'p' }, idempotent())
  assert.deepEqual([refused.status, refused.body.error.code], [500, 'internal_error'])
})

test('the replay of a decision that was inserted with SQL does not match', async () => {
  const { decision } = await alterableDecision('copied')
  const forged = `dec_${'0'.repeat(26)}`
  const copies = [
    `INSERT INTO decisions SELECT org_id, $2, entity_id, product, verdict, risk_tier, policy_version, policy_checksum, replace(body, id, $2), created_at
     FROM decisions WHERE id = $1`,
    `INSERT INTO decision_evidence SELECT org_id, $2, facts, trace, graph, 'aud_forged' FROM decision_evidence WHERE decision_id = $1`,
    `INSERT INTO audit_entries SELECT org_id, 'aud_forged', trail_id, seq + 1000, type, occurred_at, actor_type, actor_id, request_id, subject_type, $2, data, leaf_hash, mac
     FROM audit_entries WHERE type = 'decision.created' AND subject_id = $1`,
  ]
  for (const sql of copies) await database.query(sql, [decision.id, forged])
  const [copied] = await database.query<{ body: string; org_id: string }>(
    'SELECT body, org_id FROM decisions WHERE id = $1',
    [forged],
  )
  const [entry] = await database.query<RowOf<'audit_entries'>>("SELECT * FROM audit_entries WHERE id = 'aud_forged'")
  const data = canonicalJson({
    ...JSON.parse(entry!.data),
    decision_id: forged,
    decision_sha256: sha256(copied!.body),
  })
  const leaf = leafHashOf(copied!.org_id, entryOf({ ...entry!, data }))
  await tamper(database, 'UPDATE audit_entries SET data = $2, leaf_hash = $3 WHERE id = $1', ['aud_forged', data, leaf])
  const { body } = await acme.get(`/v1/decisions/${forged}/replay`)
  assert.deepEqual([body.matches, body.differences[0].path], [false, '/audit'])
})

test('a decision whose proof does not lead to the signed head does not match', async () => {
  const others = "AND entry_id NOT IN (SELECT id FROM audit_entries WHERE type = 'decision.created')"
  for (const alterations of [
    ['DELETE FROM audit_nodes WHERE org_id = $1'],
    [`DELETE FROM audit_leaves WHERE org_id = $1 ${others}`],
    [
      "UPDATE audit_nodes SET hash = repeat('0', 64) WHERE org_id = $1",
      `UPDATE audit_leaves SET leaf_hash = repeat('0', 64) WHERE org_id = $1 ${others}`,
    ],
  ]) {
    const other = await api.newOrganization()
    const { body: entity } = await other.post('/v1/entities', { external_id: 'unproved' })
    const decision = await underwrite(entity.id, { product: 'credit_line' }, other)
    // A later leaf, so that the proof needs another leaf wherever the decision's is in the tree.
    await other.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' })
    await trailSealed(other, entity.id)
    assert.equal((await sealedReplay(other, decision.id)).body.matches, true)
    for (const sql of alterations) await tamper(database, sql, [other.id])
    const { status, body } = await other.get(`/v1/decisions/${decision.id}/replay`)
    assert.deepEqual([status, body.matches, body.audit.inclusion_proof], [200, false, null])
    assert.deepEqual(
      body.differences.map(({ path }: { path: string }) => path),
      ['/audit/inclusion_proof'],
    )
  }
})
