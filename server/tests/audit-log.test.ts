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
    onRefused: ({ entry_ids }) => refused.push(...entry_ids),
  })
}

/** An organization with a log of sealed entries: five, then one about an entity, and its consents. */
async function organizationWithLog({ consents = 8 } = {}): Promise<TestOrganization> {
  const organization = await api.newOrganization()
  const { body: entity } = await organization.post('/v1/entities', { external_id: 'subject' })
  for (let n = 0; n < consents; n++)
    await organization.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' })
  // The sealer of the running service may be sealing some of them meanwhile.
  do await sealer.sealAll()
  while ((await store.sealing.organizations()).includes(organization.id))
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

/** A log of 19 leaves: a block of 16, which has a stored node, and three leaves of the next one. */
const organizationWithNode = () => organizationWithLog({ consents: 13 })

async function entryCount({ id }: TestOrganization): Promise<number> {
  const [row] = await database.query<{ n: number }>('SELECT count(*) AS n FROM audit_entries WHERE org_id = $1', [id])
  return row!.n
}

/** SQL: the list of entries with the leaf `$2` of the organization `$1`. */
const WITH_LEAF = 'org_id = $1 AND first_leaf <= $2 AND first_leaf + cardinality(entry_ids) > $2'

async function entryAt({ id }: TestOrganization, leafIndex: number): Promise<string> {
  const [row] = await database.query<{ entry_id: string }>(
    `SELECT entry_ids[$2 - first_leaf + 1] AS entry_id FROM audit_flushes WHERE ${WITH_LEAF}`,
    [id, leafIndex],
  )
  return row!.entry_id
}

/** Writes an entry without any entity, as a change of its own. */
async function commitEntry({ id: organizationId }: TestOrganization, trailId: string): Promise<string> {
  const by = { organizationId, actor: { type: 'system', id: 'test' } } as const
  const entry = auditEntryRow(recordContext(installation, by), {
    type: 'organization.created',
    trailId,
    subject: { type: 'organization', id: organizationId },
    data: { organization_id: organizationId },
  })
  await commitOrThrow(store, { organizationId, auditEntries: [entry] })
  return entry.id
}

/** Copies the entry at leaf 6 under another id, and says that a statement of the forger wrote it. */
async function forgeEntry(organization: TestOrganization, digit: string): Promise<{ id: string; leaf_hash: string }> {
  const [forged] = await database.query<{ id: string; leaf_hash: string }>(
    `INSERT INTO audit_entries (org_id, id, trail_id, seq, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, leaf_hash, mac, flush, place)
     SELECT org_id, 'aud_' || repeat($2, 26), 'trail of the forger', 1, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, leaf_hash, mac, ${FORGED_FLUSH}, 0
     FROM audit_entries WHERE id = $1 RETURNING id, leaf_hash`,
    [await entryAt(organization, 6), digit],
  )
  return forged!
}

const FORGED_FLUSH = 900_000_000

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

for (const [where, newLog, named] of [
  [
    'the last block',
    organizationWithLog,
    /^Leaves \d+ to \d+ are altered: the signed head of \d+ leaves has another root/,
  ],
  [
    'a block with a node',
    organizationWithNode,
    /^Leaves \d to 15 are altered: the signed head of 19 leaves has another root/,
  ],
] as const)
  test(`verification names an edited entry in ${where} even if its hashes were recomputed`, async () => {
    const organization = await newLog()
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
    await tamper(database, `UPDATE audit_flushes SET leaf_hashes = decode($3, 'hex') WHERE ${WITH_LEAF}`, [
      organization.id,
      4,
      hash,
    ])
    const report = await verify(organization)
    assert.equal(report.intact, false)
    // The signed heads name the block, the MACs the leaf.
    assert.match(report.problems[0]!, named)
    const [list, entry] = [
      'The list of the entries from leaf 4 on was not written by this service: its MAC is not valid.',
      `The MAC of entry ${entryId} at leaf 4 was changed.`,
    ]
    assert.ok(report.problems.includes(list) && report.problems.includes(entry), report.problems.join(' '))
  })

test('verification names a deleted entry', async () => {
  const organization = await organizationWithLog()
  const entryId = await entryAt(organization, 7)
  await tamper(database, 'DELETE FROM audit_entries WHERE id = $1', [entryId])
  assert.equal((await verify(organization)).problems[0], `Entry ${entryId}, sealed as leaf 7, was removed.`)
})

test('verification names a deleted leaf, and all leaves of a deleted statement', async () => {
  for (const [leaf, named] of [
    [5, 'Leaf 5 is missing.'],
    [2, 'Leaves 1 to 3 are missing.'],
  ] as const) {
    const organization = await organizationWithLog()
    await tamper(database, `DELETE FROM audit_flushes WHERE ${WITH_LEAF}`, [organization.id, leaf])
    assert.equal((await verify(organization)).problems[0], named)
  }
})

for (const [where, newLog] of [
  ['the last block', organizationWithLog],
  ['a block with a node', organizationWithNode],
] as const)
  test(`verification finds two leaves that were swapped between statements in ${where}`, async () => {
    const organization = await newLog()
    const move = (from: number, to: number) =>
      tamper(database, 'UPDATE audit_flushes SET first_leaf = $3 WHERE org_id = $1 AND first_leaf = $2', [
        organization.id,
        from,
        to,
      ])
    await move(6, 999_999)
    await move(8, 6)
    await move(999_999, 8)
    const report = await verify(organization)
    assert.equal(report.intact, false)
    assert.match(report.problems.join(' '), /moved to leaf 6: it was sealed as leaf 8/)
  })

/** Leaves 1 to 3 are those of one statement. */
const ALTERED_LISTS = {
  'two ids swapped': 'entry_ids = ARRAY[entry_ids[1], entry_ids[3], entry_ids[2]]',
  'two hashes swapped': `leaf_hashes = substring(leaf_hashes FOR 32) || substring(leaf_hashes FROM 65) || substring(leaf_hashes FROM 33 FOR 32)`,
  'two ids and their hashes swapped': `entry_ids = ARRAY[entry_ids[1], entry_ids[3], entry_ids[2]],
    leaf_hashes = substring(leaf_hashes FOR 32) || substring(leaf_hashes FROM 65) || substring(leaf_hashes FROM 33 FOR 32)`,
  'one hash altered': `leaf_hashes = overlay(leaf_hashes PLACING decode(repeat('ab', 32), 'hex') FROM 65)`,
  'one hash cut off': 'leaf_hashes = substring(leaf_hashes FOR 90)',
  'one hash more': 'leaf_hashes = leaf_hashes || substring(leaf_hashes FOR 32)',
  'an id altered': `entry_ids[3] = 'aud_none'`,
  'an id removed': 'entry_ids = entry_ids[1:2]',
  'two ids in one': `entry_ids = ARRAY[entry_ids[1], entry_ids[2] || ' ' || entry_ids[3]]`,
  'another MAC': `mac = repeat('0', 64)`,
}

for (const [what, change] of Object.entries(ALTERED_LISTS)) {
  test(`verification finds a sealed list of entries with ${what}`, async () => {
    const organization = await organizationWithNode()
    await tamper(database, `UPDATE audit_flushes SET ${change} WHERE ${WITH_LEAF}`, [organization.id, 2])
    const { intact, problems } = await verify(organization)
    assert.equal(intact, false)
    assert.ok(
      problems.includes(
        'The list of the entries from leaf 1 on was not written by this service: its MAC is not valid.',
      ),
      problems.join(' '),
    )
    if (!what.includes('MAC')) assert.match(problems.join(' '), /[Ll]eaf [23]\b|The stored node over leaves 0 to 15/)
  })
}

for (const column of ['flush', 'place']) {
  test(`verification names an entry whose ${column} was altered`, async () => {
    const organization = await organizationWithLog()
    const entryId = await entryAt(organization, 7)
    await tamper(database, `UPDATE audit_entries SET ${column} = ${column} + 1 WHERE id = $1`, [entryId])
    const { problems } = await verify(organization)
    assert.ok(problems.includes(`Entry ${entryId} names another place on the log than its leaf.`), problems.join(' '))
    assert.ok(
      problems.includes(`Entry ${entryId} was never sealed: the list of its statement does not name it.`),
      problems.join(' '),
    )
  })
}

test('verification finds a truncated log by its newest head, or by a head kept elsewhere if the heads were deleted too', async () => {
  const organization = await organizationWithLog()
  const pinned = await store.auditLog.newestHead(organization.id)
  await tamper(database, 'DELETE FROM audit_flushes WHERE org_id = $1 AND first_leaf > 6', [organization.id])
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

test('verification names an entry whose list was deleted before it was sealed', async () => {
  const organization = await organizationWithLog()
  let hidden: string | undefined
  // Until the deletion is earlier than the sealer of the running service.
  for (let n = 0; !hidden; n++) {
    const id = await commitEntry(organization, `hidden ${n}`)
    const own = 'org_id = $1 AND entry_ids = ARRAY[$2]'
    await tamper(database, `DELETE FROM audit_flushes WHERE ${own} AND first_leaf IS NULL`, [organization.id, id])
    const left = await database.query(`SELECT 1 FROM audit_flushes WHERE ${own}`, [organization.id, id])
    if (left.length === 0) hidden = id
  }
  const { problems } = await verify(organization)
  assert.deepEqual(problems, [`Entry ${hidden} was never sealed: the list of its statement does not name it.`])
})

test('an entry that was inserted with a list of its own is refused, counted and named, and later entries are sealed', async () => {
  const organization = await organizationWithLog()
  const forged = await forgeEntry(organization, '0')
  await database.query(
    `INSERT INTO audit_flushes (org_id, flush, entry_ids, leaf_hashes, mac)
     SELECT org_id, ${FORGED_FLUSH}, ARRAY[$3], leaf_hashes, mac FROM audit_flushes WHERE ${WITH_LEAF}`,
    [organization.id, 6, forged.id],
  )
  await organization.post('/v1/entities', { external_id: 'after the forged entry' })
  await sealer.sealAll()
  assert.deepEqual(refused.splice(0), [forged.id])
  const report = await verify(organization)
  assert.deepEqual(report.problems, [
    `Entry ${forged.id} was not written by this service, or edited before it was sealed: its MAC is not valid.`,
    `The list of statement ${FORGED_FLUSH}, which begins with entry ${forged.id}, waits to be sealed, but was not written by this service: its MAC is not valid.`,
  ])
  assert.equal(report.leaves, (await entryCount(organization)) - 1)
  const metrics = await (await fetch(`${api.service.urls.console}/metrics`)).text()
  assert.match(metrics, /verdigraph_audit_entries_refused_total\{environment="sandbox"\} \d/)
})

test('a copy of a sealed list under another number is refused and named, and later entries are sealed', async () => {
  const organization = await organizationWithLog()
  await database.query(
    `INSERT INTO audit_flushes (org_id, flush, entry_ids, leaf_hashes, mac)
     SELECT org_id, ${FORGED_FLUSH}, entry_ids, leaf_hashes, mac FROM audit_flushes WHERE ${WITH_LEAF}`,
    [organization.id, 2],
  )
  await organization.post('/v1/entities', { external_id: 'after the copy' })
  await sealer.sealAll()
  const copied = await Promise.all([1, 2, 3].map((leaf) => entryAt(organization, leaf)))
  assert.deepEqual(refused.splice(0), copied)
  const report = await verify(organization)
  assert.equal(report.leaves, await entryCount(organization))
  assert.deepEqual(report.problems, [
    `The list of statement ${FORGED_FLUSH}, which begins with entry ${copied[0]}, waits to be sealed, but no entry names that statement.`,
  ])
})

test('a deleted log is not intact if this node knows a head of it, and the sealer does not begin a new one', async () => {
  const organization = await organizationWithLog()
  const { tree_size } = installation.knownHeads.sandbox.newest(organization.id)!
  for (const table of ['audit_entries', 'audit_flushes', 'audit_nodes', 'audit_heads'])
    await tamper(database, `DELETE FROM ${table} WHERE org_id = $1`, [organization.id])
  const report = await verify(organization)
  assert.deepEqual([report.intact, report.leaves, report.known_head?.tree_size], [false, 0, tree_size])
  assert.match(report.problems[0]!, /^The log has 0 leaves, but this node signed a head of \d+ leaves at 2/)
  // Not through the API: the key of a deleted log works for no more than a second.
  await commitEntry(organization, organization.id)
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

test('a list whose leaves were taken away is not sealed again, is named, and is intact once they are put back', async () => {
  for (const leaf of [0, 2, 9]) {
    const organization = await organizationWithNode()
    const [list] = await database.query<{ flush: number; entry_ids: string[]; first_leaf: number }>(
      `SELECT flush, entry_ids, first_leaf FROM audit_flushes WHERE ${WITH_LEAF}`,
      [organization.id, leaf],
    )
    const { flush, entry_ids, first_leaf } = list!
    const setLeaf = (to: number | null) =>
      tamper(database, 'UPDATE audit_flushes SET first_leaf = $3 WHERE org_id = $1 AND flush = $2', [
        organization.id,
        flush,
        to,
      ])
    await setLeaf(null)
    await organization.post('/v1/entities', { external_id: 'after the list' })
    refused.splice(0)
    await sealer.sealAll()
    assert.deepEqual(refused, entry_ids)
    const { problems, unsealed } = await verify(organization)
    assert.match(problems[0]!, new RegExp(`^Lea(f|ves) ${first_leaf} `))
    const named = `The list of statement ${flush}, which begins with entry ${entry_ids[0]}, waits to be sealed, but was sealed before: its leaves are missing.`
    assert.ok(problems.includes(named), problems.join(' '))
    assert.equal(unsealed, entry_ids.length)
    await setLeaf(first_leaf)
    const report = await verify(organization)
    assert.deepEqual([report.problems, report.leaves], [[], await entryCount(organization)])
  }
})

test('nothing is sealed while a leaf of the last block is missing, and everything once it is put back', async () => {
  const organization = await organizationWithNode()
  const { tree_size: size } = (await store.auditLog.newestHead(organization.id))!
  // Out of sight, and not at the end of the log.
  await tamper(database, 'UPDATE audit_flushes SET org_id = $2 WHERE org_id = $1 AND first_leaf = 17', [
    organization.id,
    `hidden ${organization.id}`,
  ])
  await organization.post('/v1/entities', { external_id: 'after the list' })
  const errors: unknown[] = []
  await newSealer((error) => errors.push(error)).sealAll()
  assert.match(String(errors), new RegExp(`the stored tree of ${organization.id} does not match its last signed head`))
  assert.equal((await store.auditLog.newestHead(organization.id))!.tree_size, size)
  assert.equal((await verify(organization)).problems[0], 'Leaf 17 is missing.')
  await tamper(database, 'UPDATE audit_flushes SET org_id = $1 WHERE org_id = $2', [
    organization.id,
    `hidden ${organization.id}`,
  ])
  await sealer.sealAll()
  const report = await verify(organization)
  assert.deepEqual([report.problems, report.leaves], [[], await entryCount(organization)])
})

test('a statement that commits when later ones are sealed already gets its leaves', async () => {
  const organization = await organizationWithLog()
  const id = await commitEntry(organization, 'late')
  const params = [organization.id, id]
  await tamper(database, 'UPDATE audit_entries SET flush = 1 WHERE org_id = $1 AND id = $2', params)
  await tamper(database, 'UPDATE audit_flushes SET flush = 1 WHERE org_id = $1 AND entry_ids = ARRAY[$2]', params)
  refused.splice(0)
  await sealer.sealAll()
  assert.ok(!refused.includes(id))
  const report = await verify(organization)
  assert.deepEqual([report.problems, report.leaves], [[], await entryCount(organization)])
})

test('nothing is sealed on a log whose last leaves were taken away, or to which leaves were added', async () => {
  for (const change of [
    'UPDATE audit_flushes SET first_leaf = NULL WHERE org_id = $1 AND first_leaf >= $2',
    'UPDATE audit_flushes SET first_leaf = first_leaf + 5 WHERE org_id = $1 AND first_leaf >= $2',
  ]) {
    const organization = await organizationWithLog()
    const size = await entryCount(organization)
    await tamper(database, change, [organization.id, size - 2])
    await organization.post('/v1/entities', { external_id: 'after the list' })
    const errors: unknown[] = []
    await newSealer((error) => errors.push(error)).sealAll()
    assert.match(
      String(errors),
      new RegExp(`the leaves of ${organization.id} end at \\d+, but its last signed head covers`),
    )
    assert.equal((await store.auditLog.newestHead(organization.id))!.tree_size, size)
  }
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
  for (const change of [
    "UPDATE audit_nodes SET hash = decode(repeat('cc', 32), 'hex')",
    "UPDATE audit_nodes SET hash = hash || '\\x00'",
    'DELETE FROM audit_nodes',
  ]) {
    const other = await organizationWithNode()
    await tamper(database, `${change} WHERE org_id = $1 AND level = 4 AND index = 0`, [other.id])
    assert.deepEqual((await verify(other)).problems, [
      'The stored node over leaves 0 to 15 is not the hash of these leaves.',
    ])
  }
})

test('the sealer adds nothing to a stored tree that was altered', async () => {
  const organization = await organizationWithNode()
  await tamper(database, "UPDATE audit_nodes SET hash = decode(repeat('ee', 32), 'hex') WHERE org_id = $1", [
    organization.id,
  ])
  const { tree_size: before } = (await store.auditLog.newestHead(organization.id))!
  await organization.post('/v1/entities', { external_id: 'on-top' })
  const errors: unknown[] = []
  await newSealer((error) => errors.push(error)).sealAll()
  assert.match(String(errors), /does not match its last signed head/)
  assert.equal((await store.auditLog.newestHead(organization.id))!.tree_size, before)
})

test('the sealer does not sign over leaves that were inserted with SQL, together with their nodes and a head', async () => {
  // The inserted leaf completes a block, so that a node comes with it.
  const organization = await organizationWithLog({ consents: 9 })
  const last = (await store.auditLog.newestHead(organization.id))!
  const forged = await forgeEntry(organization, '9')
  const { tree_size: size, ...signed } = last
  const frontier = await store.sealing.nodeHashes(organization.id, frontierPositions(size))
  const grown = appendLeaves({ size, frontier, leaves: [forged.leaf_hash] })
  const head = { ...signed, tree_size: grown.size, root_hash: grown.root }
  const leaf_hashes = Buffer.from(forged.leaf_hash, 'hex')
  const list = { flush: FORGED_FLUSH, entry_ids: [forged.id], leaf_hashes, mac: 'forged', first_leaf: size }
  const nodes = grown.nodes.map((node) => ({ ...node, hash: Buffer.from(node.hash, 'hex') }))
  assert.equal(nodes.length, 1)
  for (const [table, rows] of Object.entries({ audit_flushes: [list], audit_nodes: nodes, audit_heads: [head] }))
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
