/** Entries under a retired master key: those that were sealed count, and a thief of the key cannot write others. */
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { operatorEntry } from '../src/admin/entries.ts'
import { recordContext } from '../src/admin/record-context.ts'
import type { Environment } from '../src/config.ts'
import type { HmacKeys } from '../src/core/audit/entry-mac.ts'
import { openEnvironmentStore } from '../src/store/environment-store.ts'
import { type AuditEntryRow, auditEntryRow } from '../src/store/write-path/record.ts'
import { signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const api = await startTestService()
const { installation } = api.service
const ACTOR = { type: 'system', id: 'thief' } as const
const retired = createSecretKey(randomBytes(32))

function storeWith(environment: Environment, auditKeys: HmacKeys) {
  const rowKey = installation.masterKey.rowMacKey(environment)
  return openEnvironmentStore(installation.storage.environments[environment], { auditKeys, rowKey })
}

/** The store after a rotation that retired the stolen key, and what the thief writes with it. */
function withRetired(environment: Environment) {
  const [current] = installation.masterKey.auditMacKeys(environment)
  const thief = storeWith(environment, [retired])
  return {
    store: storeWith(environment, [current, retired]),
    current,
    write: (organizationId: string, entry: AuditEntryRow) => thief.commit({ organizationId, auditEntries: [entry] }),
  }
}

test('an activation under a retired key confirms the active policy only if it was sealed', async () => {
  const { id: organizationId } = await api.newOrganization()
  const { store, current, write } = withRetired('sandbox')
  const { id, version, checksum } = (await store.activePolicy(organizationId))!
  const rotated = storeWith('sandbox', [createSecretKey(randomBytes(32)), current])
  await until('the activation is sealed', async () => {
    return (await rotated.activePolicy(organizationId))?.activated_checksum === checksum
  })
  const policy = { policy_id: id, policy_version: version, policy_checksum: 'of the thief' }
  const hashes = { evidence_sha256: '', record_sha256: '', reason: 'r' }
  await write(
    organizationId,
    auditEntryRow(recordContext(installation, { organizationId, actor: ACTOR }), {
      ...{ type: 'policy.activated', trailId: id, subject: { type: 'policy', id }, data: { ...policy, ...hashes } },
    }),
  )
  assert.equal((await store.activePolicy(organizationId))!.activated_checksum, null)
  // A leaf beyond the signed tree does not seal it.
  await installation.storage.environments.sandbox.query(
    `INSERT INTO audit_leaves (org_id, leaf_index, entry_id, leaf_hash)
     SELECT org_id, 1000000, id, leaf_hash FROM audit_entries WHERE org_id = $1 AND data LIKE '%of the thief%'`,
    [organizationId],
  )
  assert.equal((await store.activePolicy(organizationId))!.activated_checksum, null)
})

test('a removal under a retired key that was not sealed does not make an account look unused', async () => {
  const { id: organizationId } = await api.newOrganization()
  const { operatorId, accountId } = await signedInOperator(api, {
    ...{ organizationId, email: 'retired@example.com', role: 'owner' },
  })
  const { store, write } = withRetired('production')
  const data = { role: 'owner', approvals_withdrawn: 0, sessions_ended: 0, reason: 'r' }
  const by = { organizationId, operatorId, actor: ACTOR }
  await write(organizationId, operatorEntry(installation, by, { type: 'operator.removed', data }).entry)
  assert.deepEqual(await store.membershipsOf([accountId]), [{ organizationId, operatorId, isRemoved: false }])
})
