/** Entries under a retired master key: those that were sealed count, and a thief of the key cannot write others. */
import assert from 'node:assert/strict'
import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { operatorEntry } from '../src/admin/entries.ts'
import { recordContext } from '../src/admin/record-context.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import type { Environment } from '../src/config.ts'
import type { AuditData } from '../src/core/audit/audit-data.ts'
import { type Checkpoint, signCheckpoint } from '../src/core/audit/checkpoint.ts'
import type { HmacKeys } from '../src/core/audit/entry-mac.ts'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import { dataOf } from '../src/store/write-path/entry-data.ts'
import { type AuditEntryRow, auditEntryRow, domainEventRows } from '../src/store/write-path/record.ts'
import { signedInOperator } from './console-client.ts'
import { sealWithSql } from './move-lists.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const api = await startTestService()
const { installation } = api.service
const { sandbox } = installation.storage.environments
const ACTOR = { type: 'system', id: 'thief' } as const
const retired = createSecretKey(randomBytes(32))

function storeWith(environment: Environment, auditKeys: HmacKeys) {
  const keys = { ...installation.masterKey.storeKeys(environment), auditKeys }
  return openEnvironmentStore(installation.storage.environments[environment], keys)
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

/** Until the activation counts although the key that wrote it was retired. */
async function untilActivationSealed(organizationId: string): Promise<void> {
  const { current } = withRetired('sandbox')
  const rotated = storeWith('sandbox', [createSecretKey(randomBytes(32)), current])
  await until('the activation is sealed', async () => {
    const active = await rotated.policies.active(organizationId)
    return active?.activated_checksum === active?.checksum
  })
}

/** An activation of the thief, which was not sealed, on a log that has a head. */
async function forgedActivation() {
  const { id: organizationId } = await api.newOrganization()
  await untilActivationSealed(organizationId)
  const { store, write } = withRetired('sandbox')
  const { id, version } = (await store.policies.active(organizationId))!
  const policy = { policy_id: id, policy_version: version, policy_checksum: 'of the thief' }
  const data = { ...policy, evidence_sha256: '', record_sha256: '', reason: 'r' }
  const context = recordContext(installation, { organizationId, actor: ACTOR })
  const subject = { type: 'policy', id } as const
  const entry = auditEntryRow(context, { type: 'policy.activated', trailId: id, subject, data })
  await write(organizationId, entry)
  return {
    organizationId,
    entryId: entry.id,
    activated: async () => (await store.policies.active(organizationId))!.activated_checksum,
  }
}

const insertLeaf = (organizationId: string, firstEntryId: string, firstLeaf: number) =>
  sealWithSql(sandbox, { organizationId, firstEntryId, firstLeaf })

test('an activation under a retired key confirms the active policy if it was sealed', async () => {
  const { id: organizationId } = await api.newOrganization()
  await untilActivationSealed(organizationId)
})

test('a leaf that was inserted beyond the signed tree does not confirm an activation under a retired key', async () => {
  const { organizationId, entryId, activated } = await forgedActivation()
  assert.equal(await activated(), null)
  await insertLeaf(organizationId, entryId, 1_000_000)
  assert.equal(await activated(), null)
})

test('a leaf below the first one does not confirm an activation under a retired key, and verification names it', async () => {
  const { organizationId, entryId, activated } = await forgedActivation()
  await assert.rejects(insertLeaf(organizationId, entryId, -1), /audit_flushes_first_leaf_check/)
  await sandbox.query('ALTER TABLE audit_flushes DROP CONSTRAINT IF EXISTS audit_flushes_first_leaf_check')
  await insertLeaf(organizationId, entryId, -1)
  assert.equal(await activated(), null)
  const { problems } = await verifyAuditLog({
    organizationId,
    environment: 'sandbox',
    store: installation.stores.sandbox,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: installation.masterKey.auditPublicKeys('sandbox'),
  })
  assert.ok(
    problems.includes(`Leaf -1 with entry ${entryId} was inserted: the log begins with leaf 0.`),
    String(problems),
  )
})

for (const [text, sign] of [
  ['without a signature', (head: Checkpoint) => ({ ...head, signature: '' })],
  ['that the thief signed', (head: Checkpoint) => head],
] as const)
  test(`a head ${text} does not confirm an activation under a retired key`, async () => {
    const { organizationId, entryId, activated } = await forgedActivation()
    const tree = { tree_size: 2_000_000, root_hash: '0'.repeat(64), signed_at: new Date().toISOString() }
    const { privateKey } = generateKeyPairSync('ed25519')
    const head = sign(signCheckpoint({ environment: 'sandbox', organizationId }, tree, privateKey))
    await sandbox.query(
      `INSERT INTO audit_heads (org_id, tree_size, root_hash, signed_at, key_id, signature) VALUES ($1, $2, $3, $4, $5, $6)`,
      [organizationId, head.tree_size, head.root_hash, head.signed_at, head.key_id, head.signature],
    )
    await insertLeaf(organizationId, entryId, 1_000_000)
    assert.equal(await activated(), null)
  })

test('an entry of a decision under a retired key is authentic only if it was sealed', async () => {
  const organization = await api.newOrganization()
  const entity = await organization.post('/v1/entities', { external_id: 'retired' }, { 'Idempotency-Key': 'entity' })
  const request = { entity_id: entity.body.id, product: 'personal_loan', requested_amount: 100, currency: 'EUR' }
  const { body: decision } = await organization.post('/v1/underwrite', request, { 'Idempotency-Key': 'decision' })
  const { store, current, write } = withRetired('sandbox')
  const rotated = storeWith('sandbox', [createSecretKey(randomBytes(32)), current])
  await until('the decision is sealed', async () => {
    return (await rotated.decisions.recorded(organization.id, decision.id))!.entry!.is_authentic
  })
  const genuine = (await rotated.decisions.recorded(organization.id, decision.id))!.entry!
  const [entry] = domainEventRows(recordContext(installation, { organizationId: organization.id, actor: ACTOR }), [
    {
      type: 'decision.created',
      trailId: entity.body.id,
      subject: { type: 'decision', id: decision.id },
      data: dataOf(genuine) as AuditData<'decision.created'>,
    },
  ]) as [AuditEntryRow]
  await tamper(sandbox, 'DELETE FROM audit_entries WHERE id = $1', [genuine.id])
  await write(organization.id, entry)
  await insertLeaf(organization.id, entry.id, 1_000_000)
  const recorded = (await store.decisions.recorded(organization.id, decision.id))!.entry!
  assert.deepEqual([recorded.id, recorded.is_authentic], [entry.id, false])
})

test('a removal under a retired key that was not sealed does not make an account look unused', async () => {
  const { id: organizationId } = await api.newOrganization()
  const { operatorId, accountId } = await signedInOperator(api, {
    organizationId,
    email: 'retired@example.com',
    role: 'owner',
  })
  const { store, write } = withRetired('production')
  const data = { role: 'owner', approvals_withdrawn: 0, sessions_ended: 0, reason: 'r' }
  const by = { organizationId, operatorId, actor: ACTOR }
  await write(organizationId, operatorEntry(installation, by, { type: 'operator.removed', data }).entry)
  assert.deepEqual(await store.grants.memberships([accountId]), [{ organizationId, operatorId, isRemoved: false }])
})
