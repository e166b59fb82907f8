/** The segments that hold the documents of decisions: which decisions share one, and what an altered one takes with it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { readDocuments } from '../src/store/documents/documents.ts'
import { packSmallSegments } from '../src/store/documents/pack-segments.ts'
import { takeOutDocuments } from '../src/store/documents/take-out-documents.ts'
import { addDocuments } from './alter-documents.ts'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { sealedReplay } from './sealed-replay.ts'
import { startTestService, type TestOrganization } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const database = installation.storage.environments.sandbox

/** An organization with decisions of which several share a segment, all sealed. */
async function decidedTogether() {
  // Which of the requests are committed by one statement depends on when each arrives; nearly always some are.
  for (let tries = 0; tries < 20; tries++) {
    const { organization, ids } = await decidedAtOnce()
    const segments = await database.query<{ ids: string[] }>(
      'SELECT array_to_json(decision_ids) AS ids FROM document_segments WHERE org_id = $1 ORDER BY flush, part',
      [organization.id],
    )
    const shared = segments.find((segment) => segment.ids.length > 1)?.ids
    if (!shared) continue
    for (const id of ids) await sealedReplay(organization, id)
    return { organization, ids, segments, shared, others: ids.filter((id) => !shared.includes(id)) }
  }
  throw new Error('no two decisions were committed together')
}

async function decidedAtOnce(): Promise<{ organization: TestOrganization; ids: string[] }> {
  const organization = await api.newOrganization()
  const names = Array.from({ length: 16 }, (_, index) => `applicant ${index}`)
  const entities = await Promise.all(names.map((name) => createEntity(organization, name)))
  const request = { requested_amount: 1_000, currency: 'EUR' }
  const decisions = await Promise.all(entities.map((entityId) => underwrite(organization, entityId, request)))
  return { organization, ids: decisions.map(({ id }) => id as string).sort() }
}

async function replay(organization: TestOrganization, id: string) {
  const { status, body } = await organization.get(`/v1/decisions/${id}/replay`)
  assert.equal(status, 200)
  return { ...body, paths: body.differences.map(({ path }: { path: string }) => path) as string[] }
}

async function assertMatch(organization: TestOrganization, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { matches, paths, decision } = await replay(organization, id)
    assert.deepEqual([matches, paths, decision.id], [true, [], id])
  }
}

/** The decisions that `audit verify` names as changed, each with the parts. */
async function decisionsNamed({ id }: TestOrganization): Promise<[id: string, parts: string][]> {
  const { problems } = await verifyAuditLog({
    organizationId: id,
    environment: 'sandbox',
    store: installation.stores.sandbox,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: installation.masterKey.auditPublicKeys('sandbox'),
  })
  return problems.map((problem) => {
    const [, decision, parts] = /^The decision (\w+) was changed \((.*)\): entry/.exec(problem) ?? []
    assert.ok(decision && parts, problem)
    return [decision, parts]
  })
}

test('decisions that are committed together share a segment, and each of them replays', async () => {
  const { organization, ids, segments } = await decidedTogether()
  assert.deepEqual(segments.flatMap((segment) => segment.ids).sort(), ids, 'each decision is in one segment')
  await assertMatch(organization, ids)
  assert.deepEqual(await decisionsNamed(organization), [])
})

test('decisions of two organizations that are committed together are in segments of their own', async () => {
  const organizations = await Promise.all([api.newOrganization('One'), api.newOrganization('Two')])
  const asked = await Promise.all(
    organizations.flatMap((organization) =>
      ['a', 'b', 'c', 'd'].map(async (name) => ({ organization, entityId: await createEntity(organization, name) })),
    ),
  )
  const decided = await Promise.all(
    asked.map(async ({ organization, entityId }) => ({ organization, ...(await underwrite(organization, entityId)) })),
  )
  for (const { organization, id } of decided) {
    const held = await database.query<{ org_id: string }>(
      'SELECT org_id FROM document_segments WHERE $1 = ANY(decision_ids)',
      [id],
    )
    assert.deepEqual(held, [{ org_id: organization.id }])
  }
})

test('a segment that cannot be unpacked takes only the documents of its own decisions with it', async () => {
  const { organization, ids, shared, others } = await decidedTogether()
  const viewer = await signedInOperator(api, {
    organizationId: organization.id,
    email: 'a@example.com',
    role: 'viewer',
  })
  const read = async (name: string, input: object = {}) => {
    const { status, body } = await viewer.call(`${organization.id}/sandbox/${name}`, input)
    assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
    return body
  }
  const listed = await read('decisions.list')
  await database.query("UPDATE document_segments SET content = '\\x0badc0de'::bytea WHERE $1 = ANY(decision_ids)", [
    shared[0],
  ])

  assert.deepEqual(await read('decisions.list'), listed, 'the list reads columns, not documents')
  const { cases } = await read('cases.list')
  assert.deepEqual(
    cases.map(({ decision, trigger }: QueuedCase) => [decision.id, trigger.evidence]),
    ids.map((id) => [id, shared.includes(id) ? 'altered' : 'stored']),
  )
  for (const { id } of cases) assert.equal((await read('cases.show', { id })).id, id)
  for (const id of shared) {
    const { matches, paths, replayed } = await replay(organization, id)
    assert.deepEqual([matches, replayed], [false, null])
    assert.deepEqual(paths, ['/decision', '/evidence/facts', '/evidence/trace', '/evidence/graph'])
    assert.equal((await read('decisions.show', { id })).replay.matches, false)
    assert.equal((await organization.get(`/v1/decisions/${id}`)).status, 404)
  }
  for (const id of others) assert.equal((await organization.get(`/v1/decisions/${id}`)).body.id, id)
  await assertMatch(organization, others)
  assert.deepEqual(
    (await decisionsNamed(organization)).sort(),
    shared.map((id) => [id, 'body, facts, trace, graph']).sort(),
  )
})

interface QueuedCase {
  decision: { id: string }
  trigger: { evidence: string }
}

test('taking the documents of one decision out of a segment leaves those of the others', async () => {
  const { organization, ids, shared } = await decidedTogether()
  const [taken] = shared as [string]
  const decision = (await installation.stores.sandbox.decisions.find({ organizationId: organization.id, id: taken }))!
  assert.equal(await takeOutDocuments(database, decision), true)
  assert.equal(await takeOutDocuments(database, decision), false, 'they are gone')
  assert.equal((await replay(organization, taken)).matches, false)
  await assertMatch(
    organization,
    ids.filter((id) => id !== taken),
  )
  assert.deepEqual(await decisionsNamed(organization), [[taken, 'body, facts, trace, graph']])
})

test('documents are taken out of a packed segment too, also of one that is packed meanwhile', async () => {
  const organization = await api.newOrganization()
  const ids: string[] = []
  for (let index = 0; index < 16; index++) {
    const entityId = await createEntity(organization, `one of ${index}`)
    ids.push((await underwrite(organization, entityId)).id)
  }
  for (const id of ids) await sealedReplay(organization, id)
  const find = (id: string) => installation.stores.sandbox.decisions.find({ organizationId: organization.id, id })
  const [first, second] = [(await find(ids[0]!))!, (await find(ids[1]!))!]
  const [, taken] = await Promise.all([packSmallSegments(database, 'dec_z'), takeOutDocuments(database, first)])
  assert.equal(taken, true)
  await packSmallSegments(database, 'dec_z')
  assert.equal(await takeOutDocuments(database, second), true)
  await assertMatch(organization, ids.slice(2))
  const named = await decisionsNamed(organization)
  assert.deepEqual(named.map(([id]) => id).sort(), ids.slice(0, 2))
})

test('documents that were put into the segment of another decision are not read', async () => {
  const organization = await api.newOrganization()
  const entityId = await createEntity(organization, 'one after the other')
  const decide = async () => {
    const { id } = await underwrite(organization, entityId)
    return (await installation.stores.sandbox.decisions.find({ organizationId: organization.id, id }))!
  }
  const [one, other] = [await decide(), await decide()]
  await takeOutDocuments(database, one)
  const forged = { decision_id: one.id, body: '{}', facts: '{}', trace: '{}', graph: '{}' }
  await addDocuments(database, other.id, forged)
  const [read, genuine] = await readDocuments(database, [one, other])
  assert.deepEqual(read, { body: null, facts: null, trace: null, graph: null })
  assert.equal(JSON.parse(genuine!.body!).id, other.id)
})
