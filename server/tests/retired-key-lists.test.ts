/** A thief of a retired master key who can write with SQL gives a forged entry a leaf that a genuine one has. */
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { recordContext } from '../src/admin/record-context.ts'
import { Sealer } from '../src/audit/sealer.ts'
import type { HmacKeys } from '../src/core/audit/entry-mac.ts'
import { BLOCK_LEAVES, rootOf } from '../src/core/audit/merkle-tree.ts'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import { commitOrThrow } from '../src/store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../src/store/write-path/record.ts'
import { sealWithSql } from './move-lists.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const api = await startTestService()
const { installation } = api.service
const { sandbox } = installation.storage.environments
const stolen = createSecretKey(randomBytes(32))
const [current] = installation.masterKey.auditMacKeys('sandbox')

function storeWith(...auditKeys: HmacKeys) {
  return openEnvironmentStore(sandbox, { ...installation.masterKey.storeKeys('sandbox'), auditKeys })
}

const store = installation.stores.sandbox
const sealer = new Sealer({
  ...installation,
  environment: 'sandbox',
  database: sandbox,
  store,
  keys: installation.masterKey.sealingKeys('sandbox'),
  knownHeads: installation.knownHeads.sandbox,
  knownErasures: installation.knownErasures.sandbox,
  onError: (error) => assert.fail(String(error)),
  onRefused: () => {},
})

/** Waits until a log has so many leaves; the sealer of the running service may be earlier than that of the test. */
async function untilSealed(organizationId: string, size: number): Promise<void> {
  await until(`${size} leaves are sealed`, async () => {
    await sealer.sealAll()
    return (await store.auditLog.newestHead(organizationId))?.tree_size === size
  })
}

function activation(
  organizationId: string,
  { id, version, checksum }: { id: string; version: string; checksum: string },
) {
  const data = {
    policy_id: id,
    policy_version: version,
    policy_checksum: checksum,
    evidence_sha256: '',
    record_sha256: '',
  }
  const context = recordContext(installation, { organizationId, actor: { type: 'system', id: 'test' } })
  const subject = { type: 'policy', id } as const
  return auditEntryRow(context, { type: 'policy.activated', trailId: id, subject, data: { ...data, reason: 'r' } })
}

for (const { size, leaf, where } of [
  { size: 7, leaf: 2, where: 'the only block, in the middle of another list' },
  { size: 7, leaf: 3, where: 'the only block, at the end of another list' },
  { size: 7, leaf: 6, where: 'the only block, at its last leaf' },
  { size: 17, leaf: 2, where: 'a block with a node' },
  { size: 17, leaf: 14, where: 'a block with a node, close to its end' },
  { size: 17, leaf: 16, where: 'the last block, at its only leaf' },
  { size: 23, leaf: 18, where: 'the last block, in the middle of another list' },
  { size: 33, leaf: 16, where: 'the second block with a node' },
])
  test(`a list that begins at leaf ${leaf} of ${size}, in ${where}, confirms no activation under a retired key`, async () => {
    const { id: organizationId } = await api.newOrganization()
    const rotated = storeWith(current, stolen)
    const policy = (await rotated.policies.active(organizationId))!
    // Of seven leaves, 1 to 3 are on one list, and 5 and 6 on another; so on in pairs.
    for (let leaves = 5; leaves < size; leaves += 2)
      await commitOrThrow(store, {
        organizationId,
        auditEntries: [activation(organizationId, policy), activation(organizationId, policy)],
      })
    await untilSealed(organizationId, size)

    const ofThief = { ...policy, checksum: 'of the thief' }
    const [other, forged] = [activation(organizationId, ofThief), activation(organizationId, ofThief)]
    await commitOrThrow(storeWith(stolen), { organizationId, auditEntries: [forged, other] })
    await tamper(sandbox, 'DELETE FROM audit_entries WHERE id = $1', [other.id])
    const activated = async () => (await rotated.policies.active(organizationId))!.activated_checksum
    assert.equal(await activated(), null)
    await sealWithSql(sandbox, { organizationId, firstEntryId: forged.id, firstLeaf: leaf })
    assert.equal(await activated(), null)
    // The last block has no node yet, so the thief can insert one that fits.
    const start = leaf - (leaf % BLOCK_LEAVES)
    if (start + BLOCK_LEAVES <= size) return
    const leaves = await store.sealing.nodeHashes(
      organizationId,
      Array.from({ length: size - start }, (_, n) => ({ level: 0, index: start + n })),
    )
    await sandbox.query('INSERT INTO audit_nodes (org_id, level, index, hash) VALUES ($1, 4, $2, $3)', [
      organizationId,
      start / BLOCK_LEAVES,
      Buffer.from(rootOf(leaves.with(leaf - start, forged.leaf_hash)), 'hex'),
    ])
    assert.equal(await activated(), null)
  })

for (const size of [7, 17])
  test(`a list that repeats leaf 3 of ${size} and goes on where another list begins confirms no activation under a retired key`, async () => {
    const { id: organizationId } = await api.newOrganization()
    const rotated = storeWith(current, stolen)
    const policy = (await rotated.policies.active(organizationId))!
    for (let leaves = 5; leaves < size; leaves++)
      await commitOrThrow(store, { organizationId, auditEntries: [activation(organizationId, policy)] })
    await untilSealed(organizationId, size)
    const ofThief = { ...policy, checksum: 'of the thief' }
    const [other, forged] = [activation(organizationId, ofThief), activation(organizationId, ofThief)]
    await commitOrThrow(storeWith(stolen), { organizationId, auditEntries: [other, forged] })
    const [genuine] = await store.sealing.nodeHashes(organizationId, [{ level: 0, index: 3 }])
    // As if the thief had inserted the list so: all leaves of the lists are genuine, except the one that list 4 has.
    await sealWithSql(sandbox, { organizationId, firstEntryId: other.id, firstLeaf: 3 })
    await tamper(
      sandbox,
      'UPDATE audit_flushes SET leaf_hashes = $3 WHERE org_id = $1 AND left(entry_ids, 26) = substr($2, 5)',
      [organizationId, other.id, Buffer.from(`${genuine}${forged.leaf_hash}`, 'hex')],
    )
    assert.equal((await rotated.policies.active(organizationId))!.activated_checksum, null)
  })

test('an activation under a retired key confirms nothing if the node over its block, or a leaf there, was altered', async () => {
  // The newest activation is in a block with a node, and in the last block, whose root is made with that node.
  for (const alteration of [
    'DELETE FROM audit_nodes WHERE org_id = $1',
    "UPDATE audit_nodes SET hash = decode(repeat('00', 32), 'hex') WHERE org_id = $1",
    'DELETE FROM audit_flushes WHERE org_id = $1 AND first_leaf = 0',
  ])
    for (const size of [16, 20]) {
      const { id: organizationId } = await api.newOrganization()
      const rotated = storeWith(createSecretKey(randomBytes(32)), current)
      const policy = (await rotated.policies.active(organizationId))!
      for (let leaves = 5; leaves < size; leaves++)
        await commitOrThrow(store, { organizationId, auditEntries: [activation(organizationId, policy)] })
      await untilSealed(organizationId, size)
      const activated = async () => (await rotated.policies.active(organizationId))!.activated_checksum
      assert.equal(await activated(), policy.checksum)
      await tamper(sandbox, alteration, [organizationId])
      // The leaves of another block do not matter: they are below a node.
      const isUntouched = size === 20 && alteration.includes('audit_flushes')
      assert.equal(await activated(), isUntouched ? policy.checksum : null, `${alteration}, ${size} leaves`)
    }
})

test('an activation under a retired key confirms the active policy wherever its leaf is', async () => {
  const { id: organizationId } = await api.newOrganization()
  const rotated = storeWith(createSecretKey(randomBytes(32)), current)
  const policy = (await rotated.policies.active(organizationId))!
  // The last leaf of trees of many sizes, in a block with a node and in the last block.
  for (let size = 6; size <= 34; size++) {
    await commitOrThrow(store, { organizationId, auditEntries: [activation(organizationId, policy)] })
    await untilSealed(organizationId, size)
    assert.equal((await rotated.policies.active(organizationId))!.activated_checksum, policy.checksum, `${size} leaves`)
  }
})
