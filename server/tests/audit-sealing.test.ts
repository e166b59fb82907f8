import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leafHashOf } from '../src/core/audit/audit-entry.ts'
import { verifyCheckpoint } from '../src/core/audit/checkpoint.ts'
import { inclusionProof, inclusionProofPositions, verifyInclusion } from '../src/core/audit/merkle-proofs.ts'
import { appendLeaves, frontierPositions } from '../src/core/audit/merkle-tree.ts'
import { idsIn, storeIds } from '../src/store/write-path/entry-list.ts'
import { FORGED_FLUSH, startAuditLogScene, WITH_LEAF } from './audit-log-scene.ts'
import { sealWithSql, unseal } from './move-lists.ts'
import { tamper } from './tamper.ts'

const {
  api,
  commitEntry,
  database,
  entryAt,
  entryCount,
  forgeEntry,
  insertRow,
  newSealer,
  organizationWithLog,
  organizationWithNode,
  refused,
  sealer,
  signingKey,
  store,
  verify,
} = await startAuditLogScene()

test('an entry that was inserted with a list of its own is refused, counted and named, and later entries are sealed', async () => {
  const organization = await organizationWithLog()
  const forged = await forgeEntry(organization, '0')
  await database.query(
    `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac)
     SELECT org_id, ${FORGED_FLUSH}, substr($3, 5), leaf_hashes, mac FROM audit_flushes WHERE ${WITH_LEAF}`,
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
    `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac)
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

test('a sealed list that is put back to those that wait is refused and named, and later entries are sealed', async () => {
  const organization = await organizationWithLog()
  const copied = await Promise.all([1, 2, 3].map((leaf) => entryAt(organization, leaf)))
  const [list] = await database.query<{ flush: number }>(
    `INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac)
     SELECT org_id, flush, entry_ids, leaf_hashes, mac FROM audit_flushes WHERE ${WITH_LEAF} RETURNING flush`,
    [organization.id, 2],
  )
  await organization.post('/v1/entities', { external_id: 'after the copy' })
  await sealer.sealAll()
  assert.deepEqual(refused.splice(0), copied)
  const report = await verify(organization)
  assert.equal(report.leaves, await entryCount(organization))
  assert.deepEqual(report.problems, [
    `The list of statement ${list!.flush}, which begins with entry ${copied[0]}, waits to be sealed, but was sealed before.`,
  ])
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

test('a list whose leaves were taken away is not sealed again, is named, and is intact once they are put back', async () => {
  for (const leaf of [0, 2, 9]) {
    const organization = await organizationWithNode()
    const [list] = await database.query<{ flush: number; entry_ids: string; first_leaf: number }>(
      `SELECT flush, entry_ids, first_leaf FROM audit_flushes WHERE ${WITH_LEAF}`,
      [organization.id, leaf],
    )
    const { flush, first_leaf } = list!
    const entry_ids = idsIn(list!.entry_ids)
    await unseal(database, 'org_id = $1 AND flush = $2', [organization.id, flush])
    await organization.post('/v1/entities', { external_id: 'after the list' })
    refused.splice(0)
    await sealer.sealAll()
    assert.deepEqual(refused, entry_ids)
    const { problems, unsealed } = await verify(organization)
    assert.match(problems[0]!, new RegExp(`^Lea(f|ves) ${first_leaf} `))
    const named = `The list of statement ${flush}, which begins with entry ${entry_ids[0]}, waits to be sealed, but was sealed before.`
    assert.ok(problems.includes(named), problems.join(' '))
    assert.equal(unsealed, entry_ids.length)
    await sealWithSql(database, { organizationId: organization.id, firstEntryId: entry_ids[0]!, firstLeaf: first_leaf })
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
  await tamper(database, 'UPDATE audit_pending SET flush = 1 WHERE org_id = $1 AND entry_ids = substr($2, 5)', params)
  refused.splice(0)
  await sealer.sealAll()
  assert.ok(!refused.includes(id))
  const report = await verify(organization)
  assert.deepEqual([report.problems, report.leaves], [[], await entryCount(organization)])
})

test('nothing is sealed on a log whose last leaves were taken away, or to which leaves were added', async () => {
  const last = 'org_id = $1 AND first_leaf >= $2'
  for (const change of [
    (params: unknown[]) => unseal(database, last, params),
    (params: unknown[]) =>
      tamper(database, `UPDATE audit_flushes SET first_leaf = first_leaf + 5 WHERE ${last}`, params),
  ]) {
    const organization = await organizationWithLog()
    const size = await entryCount(organization)
    await change([organization.id, size - 2])
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

test('of a log that must not be extended, the sealer reads a part of what waits, and says once a round why', async () => {
  const organization = await organizationWithNode()
  await tamper(database, "UPDATE audit_nodes SET hash = decode(repeat('ee', 32), 'hex') WHERE org_id = $1", [
    organization.id,
  ])
  const readAtOnce = 500
  for (let n = 0; n <= readAtOnce; n++) await commitEntry(organization, organization.id)
  const errors: string[] = []
  await newSealer((error) => errors.push(String(error))).sealAll()
  assert.equal(errors.filter((error) => error.includes(organization.id)).length, 1)
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
  const list = {
    flush: FORGED_FLUSH,
    entry_ids: storeIds([forged.id]),
    leaf_hashes,
    mac: Buffer.from('forged'),
    first_leaf: size,
  }
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
