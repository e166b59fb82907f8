/** What a replay says, and what the service decides, after rows were altered by SQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sha256 } from '../src/core/canonical-json.ts'
import { type Documents, packSegment } from '../src/store/documents/segment.ts'
import { columnsOf, type RowOf } from '../src/store/schema/tables.ts'
import { dataOf, storeData } from '../src/store/write-path/entry-data.ts'
import { alterDocument, deleteDocuments, storedDocuments } from './alter-documents.ts'
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

/** A document of a decision, and what it becomes. */
type AlteredDocument = readonly [name: keyof Documents, altered: string | ((stored: string) => string)]

/** Replaces a part that the document has. */
const replaced = (part: string | RegExp, by: string) => (stored: string) => {
  const altered = stored.replace(part, by)
  assert.notEqual(altered, stored)
  return altered
}
const ABUSE = '"history.abuse":{"value":0}'
const NESTED = '['.repeat(200_000) + ']'.repeat(200_000)

/** A decision about a new entity, with functions to alter its rows and to replay it. */
async function alterableDecision(name: string) {
  const { body: entity } = await acme.post('/v1/entities', { external_id: name })
  const decision = await underwrite(entity.id, { product: 'marketplace_access' })
  const alter = async (alteration: string | AlteredDocument) => {
    if (typeof alteration === 'string') await tamper(database, alteration, [decision.id])
    else await alterDocument(database, decision.id, ...alteration)
  }
  const replayed = async () => {
    const { status, body } = await acme.get(`/v1/decisions/${decision.id}/replay`)
    assert.equal(status, 200)
    return { ...body, paths: body.differences.map(({ path }: { path: string }) => path) as string[] }
  }
  return { decision, alter, replayed }
}

test('a decision whose facts were altered replays with another verdict, and the replay names both', async () => {
  const { decision, alter, replayed } = await alterableDecision('altered')
  await alter(['facts', replaced(ABUSE, '"history.abuse":{"value":3}')])
  const { matches, paths, differences, decision: returned } = await replayed()
  assert.equal(matches, false)
  assert.ok(paths.includes('/evidence/facts'))
  const verdict = differences.find(({ path }: { path: string }) => path === '/verdict')
  assert.deepEqual(verdict, { path: '/verdict', recorded: 'manual_review', replayed: 'decline' })
  assert.deepEqual(returned, decision)
})

for (const [what, alteration, path] of [
  [
    'an added field that the policy does not read',
    ['facts', replaced('"format":1', '"format":1,"more":2')],
    '/evidence/facts',
  ],
  ['facts that are not JSON', ['facts', 'x'], '/evidence/facts'],
  ['facts that are empty', ['facts', '{}'], '/evidence/facts'],
  [
    'a fact that is a number',
    ['facts', replaced(ABUSE, '"history.abuse":5')],
    '/evidence/facts/features/history.abuse',
  ],
  ['a fact that is null', ['facts', replaced(ABUSE, '"history.abuse":null')], '/evidence/facts/features/history.abuse'],
  [
    'a fact whose value is a list',
    ['facts', replaced(ABUSE, '"history.abuse":{"value":[]}')],
    '/evidence/facts/features/history.abuse',
  ],
  [
    'a fact whose age is a text',
    ['facts', replaced(ABUSE, '"history.abuse":{"value":0,"age_days":"x"}')],
    '/evidence/facts/features/history.abuse',
  ],
  [
    'a fact whose number is out of range',
    ['facts', replaced(ABUSE, '"history.abuse":{"value":1e999}')],
    '/evidence/facts',
  ],
  ['a fact with a lone surrogate', ['facts', replaced('"value":"none"', '"value":"\\ud800"')], '/evidence/facts'],
  ['facts that hold a list', ['facts', '{"format":1,"features":[1]}'], '/evidence/facts'],
  ['facts that are null', ['facts', 'null'], '/evidence/facts'],
  ['facts that nest too deep to parse', ['facts', NESTED], '/evidence/facts'],
  ['an empty graph', ['graph', '{}'], '/evidence/graph'],
  ['a graph that is a list', ['graph', '[1]'], '/evidence/graph'],
  ['a graph that is null', ['graph', 'null'], '/evidence/graph'],
  ['a graph that is not JSON', ['graph', '{'], '/evidence/graph'],
  ['a trace that is null', ['trace', 'null'], '/evidence/trace'],
  ['a trace that is not JSON', ['trace', 'x'], '/evidence/trace'],
  ['a trace that nests too deep to parse', ['trace', NESTED], '/evidence/trace'],
  ['a decision that is not JSON', ['body', 'nonsense'], '/decision'],
  ['a decision that is empty', ['body', '{}'], '/decision'],
  ['a decision that is a list', ['body', '[1]'], '/decision'],
  ['a decision that is null', ['body', 'null'], '/decision'],
  [
    'a decision whose reasons are null',
    ['body', replaced(/"reason_codes":\[.*?\]/, '"reason_codes":[null]')],
    '/decision',
  ],
  ['an empty trace', ['trace', '{}'], '/evidence/trace'],
  ['another verdict', ['body', replaced('"manual_review"', '"approve"')], '/verdict'],
  ['another time', ['body', replaced(/"created_at":"[^"]*"/, '"created_at":"2020-01-01T00:00:00.000Z"')], '/decision'],
  ['another request id', ['body', replaced(/"request_id":"[^"]*"/, '"request_id":"req_x"')], '/decision'],
  ['another verdict in its column', `UPDATE decisions SET verdict = 'approve' WHERE id = $1`, '/columns/verdict'],
] as const) {
  test(`the replay reports altered rows: ${what}`, async () => {
    const { alter, replayed } = await alterableDecision(`alter ${what}`)
    await alter(alteration)
    const { matches, paths } = await replayed()
    assert.equal(matches, false)
    assert.ok(paths.includes(path), JSON.stringify(paths))
  })
}

for (const [what, sql, path] of [
  [
    'an entry with another verdict',
    `UPDATE audit_entries SET data = replace(data, '"manual_review"', '"approve"') WHERE type = 'decision.created' AND subject_id = $1`,
    '/columns/verdict',
  ],
  [
    'an entry with an added field',
    `UPDATE audit_entries SET data = replace(data, '[', '["by the way",') WHERE type = 'decision.created' AND subject_id = $1`,
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

test('the replay reports deleted documents and an altered policy', async () => {
  const { decision: deleted, replayed } = await alterableDecision('deleted')
  await deleteDocuments(database, deleted.id)
  const { matches, paths, replayed: again } = await replayed()
  assert.deepEqual([matches, again], [false, null])
  assert.deepEqual(paths, ['/decision', '/evidence/facts', '/evidence/trace', '/evidence/graph'])

  const other = await api.newOrganization()
  const { body: entity } = await other.post('/v1/entities', { external_id: 'policy' })
  const decision = await underwrite(entity.id, { product: 'marketplace_access' }, other)
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
  const refused = await other.post(
    '/v1/underwrite',
    { entity_id: entity.id, product: 'marketplace_access' },
    idempotent(),
  )
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
  const refused = await other.post(
    '/v1/underwrite',
    { entity_id: entity.id, product: 'marketplace_access' },
    idempotent(),
  )
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
  const refused = await other.post(
    '/v1/underwrite',
    { entity_id: entity.id, product: 'marketplace_access' },
    idempotent(),
  )
  assert.deepEqual([refused.status, refused.body.error.code], [500, 'internal_error'])
})

test('the replay of a decision that was inserted with SQL does not match', async () => {
  const { decision } = await alterableDecision('copied')
  const forged = `dec_${'0'.repeat(26)}`
  const { body, ...evidence } = await storedDocuments(database, decision.id)
  const documents = { ...evidence, decision_id: forged, body: body.replaceAll(decision.id, forged) }
  const columns = columnsOf('decisions').filter((column) => column !== 'id')
  const copies = [
    `INSERT INTO decisions (id, ${columns}, flush) SELECT $2, ${columns}, flush FROM decisions WHERE id = $1`,
    `INSERT INTO audit_entries SELECT seq + 1000, flush, occurred_at, place + 1000, org_id, 'aud_' || substr($2, 5), trail_id, type, actor_type, actor_id, request_id, subject_type, $2, data, hashes, mac
     FROM audit_entries WHERE type = 'decision.created' AND subject_id = $1`,
  ]
  for (const sql of copies) await database.query(sql, [decision.id, forged])
  await database.query(
    `INSERT INTO document_segments (org_id, is_packed, flush, part, first_flush, decision_ids, content)
     SELECT org_id, false, flush, 1000, flush, ARRAY[id], $2::bytea FROM decisions WHERE id = $1`,
    [forged, await packSegment([documents])],
  )
  const [entry] = await database.query<RowOf<'audit_entries'>>('SELECT * FROM audit_entries WHERE subject_id = $1', [
    forged,
  ])
  const stored = storeData('decision.created', { ...dataOf(entry!), decision_sha256: sha256(documents.body) }, '')
  await tamper(database, 'UPDATE audit_entries SET hashes = $2::bytea WHERE id = $1', [entry!.id, stored.hashes])
  const { body: replay } = await acme.get(`/v1/decisions/${forged}/replay`)
  assert.deepEqual([replay.matches, replay.differences[0].path], [false, '/audit'])
})

test('a decision whose proof does not lead to the signed head does not match', async () => {
  const others = "AND flush NOT IN (SELECT flush FROM audit_entries WHERE type = 'decision.created')"
  for (const alterations of [
    ['DELETE FROM audit_nodes WHERE org_id = $1'],
    [`DELETE FROM audit_flushes WHERE org_id = $1 ${others}`],
    [
      "UPDATE audit_nodes SET hash = decode(repeat('00', 32), 'hex') WHERE org_id = $1",
      `UPDATE audit_flushes SET leaf_hashes = decode(repeat('00', octet_length(leaf_hashes)), 'hex') WHERE org_id = $1 ${others}`,
    ],
  ]) {
    const other = await api.newOrganization()
    const { body: entity } = await other.post('/v1/entities', { external_id: 'unproved' })
    const decision = await underwrite(entity.id, { product: 'marketplace_access' }, other)
    // Later leaves, so that the proof needs leaves of the decision's block, and the stored node of another one.
    for (let n = 0; n < 32; n++) await other.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' })
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
