import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordContext } from '../src/admin/record-context.ts'
import { Sealer } from '../src/audit/sealer.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { leafHashOf } from '../src/core/audit/audit-entry.ts'
import { verifyCheckpoint } from '../src/core/audit/checkpoint.ts'
import { inclusionProof, inclusionProofPositions, verifyInclusion } from '../src/core/audit/merkle-proofs.ts'
import { appendLeaves, frontierPositions } from '../src/core/audit/merkle-tree.ts'
import { commitOrThrow } from '../src/store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../src/store/write-path/record.ts'
import { tamper } from './tamper.ts'
import { startTestService, type TestOrganization } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const database = installation.storage.environments.sandbox
const store = installation.stores.sandbox
const signingKey = installation.masterKey.auditSigningKey('sandbox')
const refused: string[] = []
const sealer = newSealer()

function newSealer(onError: (error: unknown) => void = () => {}): Sealer {
  const knownHeads = installation.knownHeads.sandbox
  return new Sealer({
    ...installation,
    environment: 'sandbox',
    database,
    store,
    keys: installation.masterKey.sealingKeys('sandbox'),
    knownHeads,
    onError,
    onRefused: ({ id }) => refused.push(id),
  })
}

/** An organization with a log of sealed entries; the last nine are about one entity. */
async function organizationWithLog(): Promise<TestOrganization> {
  const organization = await api.newOrganization()
  const { body: entity } = await organization.post('/v1/entities', { external_id: 'subject' })
  for (let n = 0; n < 8; n++) await organization.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' })
  await sealer.sealAll()
  return organization
}

function verify({ id }: TestOrganization) {
  return verifyAuditLog({
    organizationId: id,
    environment: 'sandbox',
    store,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: [signingKey.publicKey],
    knownHeads: installation.knownHeads.sandbox,
  })
}

async function entryCount({ id }: TestOrganization): Promise<number> {
  const [row] = await database.query<{ n: number }>('SELECT count(*) AS n FROM audit_entries WHERE org_id = $1', [id])
  return row!.n
}

async function entryAt({ id }: TestOrganization, leafIndex: number): Promise<string> {
  const [row] = await database.query<{ entry_id: string }>(
    'SELECT entry_id FROM audit_leaves WHERE org_id = $1 AND leaf_index = $2',
    [id, leafIndex],
  )
  return row!.entry_id
}

async function insertRow(table: string, row: Record<string, unknown>): Promise<void> {
  const values = Object.keys(row).map((_, n) => `$${n + 1}`)
  await database.query(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${values})`, Object.values(row))
}

test('an unaltered log is intact', async () => {
  const organization = await organizationWithLog()
  const report = await verify(organization)
  assert.deepEqual([report.intact, report.leaves, report.problems], [true, await entryCount(organization), []])
})

for (const column of ['type', 'data', 'actor_id', 'subject_id', 'request_id', 'trail_id'] as const) {
  test(`verification names an entry whose ${column} was edited`, async () => {
    const organization = await organizationWithLog()
    const entryId = await entryAt(organization, 5)
    const value = column === 'data' ? '{"forged":true}' : 'forged'
    await tamper(database, `UPDATE audit_entries SET ${column} = $2 WHERE id = $1`, [entryId, value])
    const report = await verify(organization)
    assert.equal(report.intact, false)
    assert.equal(report.problems[0], `Entry ${entryId} was edited: its hash is not the one sealed as leaf 5.`)
  })
}

test('verification finds an edited entry even if its hashes were recomputed, by the signed heads', async () => {
  const organization = await organizationWithLog()
  const entryId = await entryAt(organization, 4)
  const [row] = await database.query<{
    type: string
    occurred_at: string
    actor_type: 'system'
    actor_id: string
    request_id: string
    subject_type: string
    subject_id: string
    trail_id: string
  }>('SELECT * FROM audit_entries WHERE id = $1', [entryId])
  const { type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, trail_id } = row!
  const forged = {
    id: entryId,
    trail_id,
    type,
    occurred_at,
    actor: { type: actor_type, id: actor_id },
    request_id,
    subject: { type: subject_type, id: subject_id },
    data: { forged: true },
  }
  const hash = leafHashOf(organization.id, forged)
  await tamper(database, 'UPDATE audit_entries SET data = $2, leaf_hash = $3 WHERE id = $1', [
    entryId,
    '{"forged":true}',
    hash,
  ])
  await tamper(database, 'UPDATE audit_leaves SET leaf_hash = $2 WHERE entry_id = $1', [entryId, hash])
  const report = await verify(organization)
  assert.equal(report.intact, false)
  assert.match(report.problems.join(' '), /[Ll]ea(f|ves) 4/)
})

test('verification names a deleted entry', async () => {
  const organization = await organizationWithLog()
  const entryId = await entryAt(organization, 7)
  await tamper(database, 'DELETE FROM audit_entries WHERE id = $1', [entryId])
  assert.equal((await verify(organization)).problems[0], `Entry ${entryId}, sealed as leaf 7, was removed.`)
})

test('verification names a deleted leaf', async () => {
  const organization = await organizationWithLog()
  await tamper(database, 'DELETE FROM audit_leaves WHERE org_id = $1 AND leaf_index = 3', [organization.id])
  assert.match((await verify(organization)).problems[0]!, /^Leaf 3 is missing\.$/)
})

test('verification finds two leaves that were swapped', async () => {
  const organization = await organizationWithLog()
  await tamper(database, 'UPDATE audit_leaves SET leaf_index = 999999 WHERE org_id = $1 AND leaf_index = 2', [
    organization.id,
  ])
  await tamper(database, 'UPDATE audit_leaves SET leaf_index = 2 WHERE org_id = $1 AND leaf_index = 8', [
    organization.id,
  ])
  await tamper(database, 'UPDATE audit_leaves SET leaf_index = 8 WHERE org_id = $1 AND leaf_index = 999999', [
    organization.id,
  ])
  const report = await verify(organization)
  assert.equal(report.intact, false)
  assert.match(report.problems.join(' '), /leaf 2|Leaf 2|Leaves 2/)
})

test('verification finds a truncated log by its newest head, or by a head kept elsewhere if the heads were deleted too', async () => {
  const organization = await organizationWithLog()
  const pinned = await store.auditLog.newestHead(organization.id)
  await tamper(database, 'DELETE FROM audit_leaves WHERE org_id = $1 AND leaf_index > 6', [organization.id])
  assert.match((await verify(organization)).problems.join(' '), /ends before leaf 7, but a signed head covers \d+/)
  await tamper(database, 'DELETE FROM audit_heads WHERE org_id = $1 AND tree_size > 7', [organization.id])
  const report = await verifyAuditLog({
    organizationId: organization.id,
    environment: 'sandbox',
    store,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: [signingKey.publicKey],
    pinnedHead: pinned!,
  })
  assert.match(report.problems.join(' '), /ends before leaf 7, but a signed head covers \d+/)
})

test('verification finds a head without a valid signature', async () => {
  const organization = await organizationWithLog()
  await tamper(database, 'UPDATE audit_heads SET root_hash = $2 WHERE org_id = $1', [organization.id, 'f'.repeat(64)])
  assert.match((await verify(organization)).problems.join(' '), /has no valid signature/)
})

test('verification names an entry that was removed from the queue before it was sealed', async () => {
  const organization = await organizationWithLog()
  let hidden: { entry_id: string } | undefined
  // Until the deletion is earlier than the sealer of the running service.
  for (let n = 0; !hidden; n++) {
    await organization.post('/v1/entities', { external_id: `hidden-${n}` })
    const deleted = await database.query<{ entry_id: string }>(
      'DELETE FROM audit_pending WHERE org_id = $1 RETURNING entry_id',
      [organization.id],
    )
    hidden = deleted[0]
  }
  assert.deepEqual((await verify(organization)).problems, [
    `Entry ${hidden.entry_id} was never sealed: it was removed from audit_pending.`,
  ])
})

test('an entry that was put into the queue with SQL is refused, counted and named, and later entries are sealed', async () => {
  const organization = await organizationWithLog()
  const [forged] = await database.query<{ id: string }>(
    `INSERT INTO audit_entries (org_id, id, trail_id, seq, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, leaf_hash, mac)
     SELECT org_id, 'aud_' || repeat('0', 26), 'trail of the forger', 1, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, leaf_hash, mac
     FROM audit_entries WHERE id = $1 RETURNING id`,
    [await entryAt(organization, 6)],
  )
  await database.query("INSERT INTO audit_pending VALUES ($1, 'trail of the forger', 1, $2)", [
    organization.id,
    forged!.id,
  ])
  await organization.post('/v1/entities', { external_id: 'after the forged entry' })
  await sealer.sealAll()
  assert.deepEqual(refused, [forged!.id])
  const report = await verify(organization)
  assert.deepEqual(report.problems, [
    `Entry ${forged!.id} was not written by this service, or edited before it was sealed: its MAC is not valid.`,
  ])
  assert.equal(report.leaves, (await entryCount(organization)) - 1)
  const metrics = await (await fetch(`${api.service.urls.console}/metrics`)).text()
  assert.match(metrics, /verdigraph_audit_entries_refused_total\{environment="sandbox"\} \d/)
})

test('a deleted log is not intact if this node knows a head of it, and the sealer does not begin a new one', async () => {
  const organization = await organizationWithLog()
  const { tree_size } = installation.knownHeads.sandbox.newest(organization.id)!
  for (const table of ['audit_entries', 'audit_leaves', 'audit_nodes', 'audit_heads'])
    await tamper(database, `DELETE FROM ${table} WHERE org_id = $1`, [organization.id])
  const report = await verify(organization)
  assert.deepEqual([report.intact, report.leaves, report.known_head?.tree_size], [false, 0, tree_size])
  assert.match(report.problems[0]!, /^The log has 0 leaves, but this node signed a head of \d+ leaves at 2/)
  // Not through the API: the key of a deleted log works for no more than a second.
  const by = { organizationId: organization.id, actor: { type: 'system', id: 'test' } } as const
  const entry = auditEntryRow(recordContext(installation, by), {
    type: 'organization.created',
    trailId: organization.id,
    subject: { type: 'organization', id: organization.id },
    data: { organization_id: organization.id },
  })
  await commitOrThrow(store, { organizationId: organization.id, auditEntries: [entry] })
  const errors: unknown[] = []
  await newSealer((error) => errors.push(error)).sealAll()
  assert.match(String(errors), /has 0 leaves, but this node signed a head of \d+ leaves/)
  assert.equal(await store.auditLog.newestHead(organization.id), undefined)
})

test('the service seals every entry of a trail and proves it against the signed head', async () => {
  const organization = await organizationWithLog()
  const { body: entity } = await organization.post('/v1/entities', { external_id: 'proved' })
  let trail = await organization.get(`/v1/entities/${entity.id}/audit-trail`)
  while (trail.body.data[0].leaf_index === null) trail = await organization.get(`/v1/entities/${entity.id}/audit-trail`)
  const [entry] = trail.body.data
  const { checkpoint } = trail.body
  assert.equal(
    verifyCheckpoint({ environment: 'sandbox', organizationId: organization.id }, checkpoint, signingKey.publicKey),
    true,
  )
  assert.equal(
    verifyCheckpoint({ environment: 'production', organizationId: organization.id }, checkpoint, signingKey.publicKey),
    false,
  )

  const leaf = { leafIndex: entry.leaf_index as number, treeSize: checkpoint.tree_size as number }
  const positions = inclusionProofPositions(leaf)
  const hashes = await store.sealing.nodeHashes(organization.id, positions)
  const nodeAt = ({ level, index }: { level: number; index: number }) =>
    hashes[positions.findIndex((position) => position.level === level && position.index === index)]!
  const {
    leaf_hash: _hash,
    leaf_index: _index,
    object: _object,
    seq: _seq,
    ...content
  } = { ...entry, trail_id: entity.id }
  assert.equal(leafHashOf(organization.id, content), entry.leaf_hash, 'the API returns the content that was hashed')
  assert.equal(
    verifyInclusion({
      ...leaf,
      leafHash: entry.leaf_hash,
      proof: inclusionProof(leaf, nodeAt),
      root: checkpoint.root_hash,
    }),
    true,
  )
})

test('a trail stays readable if the data of an entry was edited so that it is no JSON object', async () => {
  const organization = await organizationWithLog()
  const [newest] = await database.query<{ id: string; trail_id: string }>(
    `SELECT id, trail_id FROM audit_entries WHERE org_id = $1 AND type = 'consent.granted' ORDER BY seq DESC LIMIT 1`,
    [organization.id],
  )
  for (const data of ['{', '[]', '5', 'null']) {
    await tamper(database, 'UPDATE audit_entries SET data = $2 WHERE id = $1', [newest!.id, data])
    const { status, body } = await organization.get(`/v1/entities/${newest!.trail_id}/audit-trail`)
    assert.deepEqual([status, body.data.length, body.data[0].data], [200, 9, { unreadable: data }])
  }
  assert.match((await verify(organization)).problems.join(' '), /was edited: its hash is not the one sealed/)
})

test('verification finds a sealed entry that was put into the queue again, which stops the sealer', async () => {
  const organization = await organizationWithLog()
  const id = await entryAt(organization, 6)
  await database.query('INSERT INTO audit_pending SELECT org_id, trail_id, seq, id FROM audit_entries WHERE id = $1', [
    id,
  ])
  assert.deepEqual((await verify(organization)).problems, [
    `Entry ${id} was put into audit_pending again, although it is sealed.`,
  ])
})

test('verification finds a changed number on a trail', async () => {
  const organization = await organizationWithLog()
  await tamper(database, 'UPDATE audit_entries SET seq = seq + 50 WHERE id = $1', [await entryAt(organization, 10)])
  assert.match(
    (await verify(organization)).problems.join(' '),
    /The sequence numbers on the trail of \w+ are not 1, 2, 3 … in the order of sealing/,
  )
})

test('verification finds two swapped numbers on a trail', async () => {
  const organization = await organizationWithLog()
  const entries = await database.query<{ id: string; seq: number }>(
    `SELECT id, seq FROM audit_entries WHERE org_id = $1 AND trail_id =
       (SELECT trail_id FROM audit_entries WHERE org_id = $1 GROUP BY trail_id ORDER BY count(*) DESC LIMIT 1)
     ORDER BY seq DESC LIMIT 2`,
    [organization.id],
  )
  const [one, two] = entries as [(typeof entries)[0], (typeof entries)[0]]
  const number = (id: string, seq: number) =>
    tamper(database, 'UPDATE audit_entries SET seq = $2 WHERE id = $1', [id, seq])
  await number(one.id, one.seq + 100)
  await number(two.id, one.seq)
  await number(one.id, two.seq)
  assert.match((await verify(organization)).problems.join(' '), /are not 1, 2, 3 … in the order of sealing/)
})

test('verification finds a changed hash of an entry and a changed node of the stored tree', async () => {
  const organization = await organizationWithLog()
  const entryId = await entryAt(organization, 3)
  await tamper(database, 'UPDATE audit_entries SET leaf_hash = $2 WHERE id = $1', [entryId, 'd'.repeat(64)])
  assert.deepEqual((await verify(organization)).problems, [`Entry ${entryId} has another hash than its leaf.`])
  const other = await organizationWithLog()
  await tamper(database, 'UPDATE audit_nodes SET hash = $2 WHERE org_id = $1 AND level = 2 AND index = 1', [
    other.id,
    'c'.repeat(64),
  ])
  assert.deepEqual((await verify(other)).problems, [
    'The stored node over leaves 4 to 7 is not the hash of these leaves.',
  ])
})

test('the sealer adds nothing to a stored tree that was altered', async () => {
  const organization = await organizationWithLog()
  await tamper(database, 'UPDATE audit_nodes SET hash = $2 WHERE org_id = $1', [organization.id, 'e'.repeat(64)])
  const { tree_size: before } = (await store.auditLog.newestHead(organization.id))!
  await organization.post('/v1/entities', { external_id: 'on-top' })
  const errors: unknown[] = []
  await newSealer((error) => errors.push(error)).sealAll()
  assert.match(String(errors), /does not match its last signed head/)
  assert.equal((await store.auditLog.newestHead(organization.id))!.tree_size, before)
})

test('the sealer does not sign over leaves that were inserted with SQL, together with their nodes and a head', async () => {
  const organization = await organizationWithLog()
  const last = (await store.auditLog.newestHead(organization.id))!
  const [forged] = await database.query<{ id: string; leaf_hash: string }>(
    `INSERT INTO audit_entries (org_id, id, trail_id, seq, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, leaf_hash, mac)
     SELECT org_id, 'aud_' || repeat('9', 26), 'trail of the forger', 1, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, repeat('9', 64), mac
     FROM audit_entries WHERE id = $1 RETURNING id, leaf_hash`,
    [await entryAt(organization, 6)],
  )
  const { tree_size: size, ...signed } = last
  const frontier = await store.sealing.nodeHashes(organization.id, frontierPositions(size))
  const grown = appendLeaves({ size, frontier, leaves: [forged!.leaf_hash] })
  const head = { ...signed, tree_size: grown.size, root_hash: grown.root }
  const leaves = [{ leaf_index: size, entry_id: forged!.id, leaf_hash: forged!.leaf_hash }]
  for (const [table, rows] of Object.entries({ audit_leaves: leaves, audit_nodes: grown.nodes, audit_heads: [head] }))
    for (const row of rows) await insertRow(table, { ...row, org_id: organization.id })
  await organization.post('/v1/entities', { external_id: 'on-top' })
  const errors: unknown[] = []
  await newSealer((error) => errors.push(error)).sealAll()
  assert.match(String(errors), /the last head of \w+ has no valid signature/)
  assert.equal((await store.auditLog.newestHead(organization.id))!.tree_size, size + 1)
})

test('sealers that run at once give each entry exactly one leaf', async () => {
  const organization = await api.newOrganization()
  await Promise.all(Array.from({ length: 30 }, (_, n) => organization.post('/v1/entities', { external_id: `s-${n}` })))
  await Promise.all([sealer.sealAll(), newSealer().sealAll(), sealer.sealAll()])
  await sealer.sealAll()
  const report = await verify(organization)
  assert.deepEqual([report.intact, report.leaves, report.problems], [true, await entryCount(organization), []])
})
