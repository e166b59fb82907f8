import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptRestore } from '../src/audit/accept-restore.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { leafHashOf } from '../src/core/audit/audit-entry.ts'
import { startAuditLogScene, WITH_LEAF } from './audit-log-scene.ts'
import { tamper } from './tamper.ts'

const {
  commitEntry,
  database,
  entryAt,
  entryCount,
  installation,
  newSealer,
  organizationWithLog,
  organizationWithNode,
  signingKey,
  store,
  verify,
} = await startAuditLogScene()

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
    await tamper(database, 'UPDATE audit_entries SET data = $2 WHERE id = $1', [entryId, '{"forged":true}'])
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

/** SQL: a list of three ids with the last two swapped. */
const SWAPPED = 'left(entry_ids, 26) || substr(entry_ids, 53) || substr(entry_ids, 27, 26)'

/** Leaves 1 to 3 are those of one statement. */
const ALTERED_LISTS = {
  'two ids swapped': `entry_ids = ${SWAPPED}`,
  'two hashes swapped': `leaf_hashes = substring(leaf_hashes FOR 32) || substring(leaf_hashes FROM 65) || substring(leaf_hashes FROM 33 FOR 32)`,
  'two ids and their hashes swapped': `entry_ids = ${SWAPPED},
    leaf_hashes = substring(leaf_hashes FOR 32) || substring(leaf_hashes FROM 65) || substring(leaf_hashes FROM 33 FOR 32)`,
  'one hash altered': `leaf_hashes = overlay(leaf_hashes PLACING decode(repeat('ab', 32), 'hex') FROM 65)`,
  'one hash cut off': 'leaf_hashes = substring(leaf_hashes FOR 90)',
  'one hash more': 'leaf_hashes = leaf_hashes || substring(leaf_hashes FOR 32)',
  'an id altered': `entry_ids = overlay(entry_ids PLACING repeat('0', 26) FROM 53)`,
  'an id removed': 'entry_ids = left(entry_ids, 52)',
  'an id with a digit less': 'entry_ids = left(entry_ids, 77)',
  'another MAC': `mac = decode(repeat('00', 16), 'hex')`,
  'a MAC cut off': 'mac = substring(mac FOR 8)',
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
    const own = 'org_id = $1 AND entry_ids = substr($2, 5)'
    await tamper(database, `DELETE FROM audit_pending WHERE ${own}`, [organization.id, id])
    const left = await database.query(`SELECT 1 FROM audit_flushes WHERE ${own}`, [organization.id, id])
    if (left.length === 0) hidden = id
  }
  const { problems } = await verify(organization)
  assert.deepEqual(problems, [`Entry ${hidden} was never sealed: the list of its statement does not name it.`])
})

test('a deleted log is not intact if this node knows a head of it, and the sealer does not begin a new one', async () => {
  const organization = await organizationWithLog()
  const { tree_size } = installation.knownHeads.sandbox.newest(organization.id)!
  for (const table of ['audit_entries', 'audit_pending', 'audit_flushes', 'audit_nodes', 'audit_heads'])
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

test('a log that ends before a head of another timeline has lost entries, and goes on once that is accepted', async () => {
  const organization = await organizationWithLog()
  const knownHeads = installation.knownHeads.sandbox
  const { tree_size, ...head } = knownHeads.newest(organization.id)!
  assert.match(head.timeline!, /^[0-9A-F]{8}$/)
  // As the data folder is after a failover: this head was committed, but only on the server that is gone.
  knownHeads.add([{ ...head, tree_size: tree_size + 3, root_hash: 'f'.repeat(64), timeline: '00000000' }])
  const lost = await verify(organization)
  assert.deepEqual([lost.intact, lost.lost_after, lost.problems.length], [false, tree_size, 1])
  assert.match(
    lost.problems[0]!,
    /^The database lost entries after head \d+: .* written to timeline 00000000, and the database is on timeline .*audit accept-restore/,
  )
  const errors: unknown[] = []
  await commitEntry(organization, organization.id)
  await newSealer((error) => errors.push(error)).sealAll()
  assert.match(String(errors), /the database lost entries after head .*nothing was sealed, run audit accept-restore/)

  await tamper(database, `UPDATE audit_heads SET signature = 'x' WHERE org_id = $1 AND tree_size = $2`, [
    organization.id,
    tree_size,
  ])
  const altered = await verify(organization)
  assert.deepEqual([altered.intact, altered.lost_after], [false, null], 'a loss explains no altered row')
  await tamper(database, 'UPDATE audit_heads SET signature = $3 WHERE org_id = $1 AND tree_size = $2', [
    organization.id,
    tree_size,
    head.signature,
  ])
  const { nowMs, newId } = installation
  const context = {
    actor: { type: 'system', id: 'test' } as const,
    now: new Date(nowMs()).toISOString(),
    requestId: null,
    newId,
  }
  const accepted = await acceptRestore({ environment: 'sandbox', store, knownHeads, context, reason: 'a failover' })
  const own = accepted.find(({ organization_id }) => organization_id === organization.id)
  assert.deepEqual([own?.tree_size, own?.lost_tree_size], [tree_size, tree_size + 3])
  await newSealer().sealAll()
  const after = await verify(organization)
  assert.deepEqual([after.intact, after.lost_after, after.problems], [true, null, []])
})

test('a log that went on with others has lost the entries of a known head, and is not extended', async () => {
  const organization = await organizationWithLog()
  const knownHeads = installation.knownHeads.sandbox
  const { tree_size, ...head } = knownHeads.newest(organization.id)!
  // As another node leaves it that did not know this head: the log is longer, and has other entries in its place.
  await knownHeads.accept({ ...head, tree_size: tree_size - 1, root_hash: 'f'.repeat(64), timeline: '00000000' })
  const lost = await verify(organization)
  assert.deepEqual([lost.intact, lost.lost_after, lost.problems.length], [false, tree_size - 2, 1])
  assert.match(
    lost.problems[0]!,
    /^The database lost entries after head \d+ or earlier, and went on with others: .*audit accept-restore/,
  )
  const errors: unknown[] = []
  await commitEntry(organization, organization.id)
  await newSealer((error) => errors.push(error)).sealAll()
  assert.match(String(errors), /went on with others.*nothing was sealed, run audit accept-restore/)
  await knownHeads.accept({ ...head, tree_size })
  await newSealer().sealAll()
  assert.equal((await verify(organization)).intact, true)
})

test('a log that went on with others on the same timeline, as of a dump that was restored, is not extended', async () => {
  const organization = await organizationWithLog()
  const knownHeads = installation.knownHeads.sandbox
  const { tree_size, ...head } = knownHeads.newest(organization.id)!
  await knownHeads.accept({ ...head, tree_size: tree_size - 1, root_hash: 'f'.repeat(64) })
  const altered = await verify(organization)
  assert.deepEqual([altered.intact, altered.lost_after], [false, null])
  await commitEntry(organization, organization.id)
  const errors: unknown[] = []
  await newSealer((error) => errors.push(error)).sealAll()
  assert.match(String(errors), /has other entries than when this node signed a head of \d+ leaves .*nothing was sealed/)
  await knownHeads.accept({ ...head, tree_size })
  await newSealer().sealAll()
  assert.equal((await verify(organization)).intact, true)
})

test('an entry that was edited after it was sealed is shown with the hash that was sealed', async () => {
  const organization = await organizationWithLog()
  const entryId = await entryAt(organization, 6)
  const [row] = await database.query<{ trail_id: string }>('SELECT trail_id FROM audit_entries WHERE id = $1', [
    entryId,
  ])
  const hashShown = async (): Promise<string> => {
    const { body } = await organization.get(`/v1/entities/${row!.trail_id}/audit-trail`)
    return body.data.find(({ id }: { id: string }) => id === entryId).leaf_hash
  }
  const sealed = await hashShown()
  await tamper(database, "UPDATE audit_entries SET occurred_at = '2020-01-01' WHERE id = $1", [entryId])
  assert.equal(await hashShown(), sealed)
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

test('verification finds a changed MAC of an entry and a changed node of the stored tree', async () => {
  const organization = await organizationWithLog()
  const entryId = await entryAt(organization, 3)
  await tamper(database, 'UPDATE audit_entries SET mac = substring(mac FOR 15) WHERE id = $1', [entryId])
  assert.deepEqual((await verify(organization)).problems, [`The MAC of entry ${entryId} at leaf 3 was changed.`])
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
