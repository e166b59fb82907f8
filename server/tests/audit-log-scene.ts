/** A service with a sealer that tests run themselves, logs that it has sealed, and what a forger does to them. */
import { recordContext } from '../src/admin/record-context.ts'
import { Sealer } from '../src/audit/sealer.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { hashOfStored } from '../src/store/environment/stored-entry.ts'
import type { RowOf } from '../src/store/schema/tables.ts'
import { commitOrThrow } from '../src/store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../src/store/write-path/record.ts'
import { startTestService, type TestOrganization } from './test-service.ts'

/** SQL: the list of entries with the leaf `$2` of the organization `$1`. */
export const WITH_LEAF = 'org_id = $1 AND first_leaf <= $2 AND first_leaf + length(entry_ids) / 26 > $2'

export const FORGED_FLUSH = 900_000_000

/** Starts the service. Test files that share a process share this module, so each starts its own and ends it. */
export async function startAuditLogScene(options: Parameters<typeof startTestService>[0] = {}) {
  const api = await startTestService(options)
  const { installation } = api.service
  const database = installation.storage.environments.sandbox
  const store = installation.stores.sandbox
  const signingKey = installation.masterKey.auditSigningKey('sandbox')
  const refused: string[] = []
  const sealer = newSealer()
  return {
    api,
    installation,
    database,
    store,
    signingKey,
    refused,
    sealer,
    newSealer,
    organizationWithLog,
    verify,
    organizationWithNode,
    entryCount,
    entryAt,
    commitEntry,
    forgeEntry,
    insertRow,
  }

  function newSealer(onError: (error: unknown) => void = () => {}): Sealer {
    const knownHeads = installation.knownHeads.sandbox
    return new Sealer({
      ...installation,
      environment: 'sandbox',
      database,
      store,
      keys: installation.masterKey.sealingKeys('sandbox'),
      knownHeads,
      knownErasures: installation.knownErasures.sandbox,
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

  /** A log of 19 leaves under one head: a block of 16, which has a stored node, and three leaves of the next one. */
  async function organizationWithNode(): Promise<TestOrganization> {
    for (let tries = 0; tries < 20; tries++) {
      const organization = await organizationWithLog({ consents: 13 })
      // Unless the sealer of the running service has sealed the first of them meanwhile, and signed a head of fewer leaves.
      const heads = await database.query('SELECT 1 FROM audit_heads WHERE org_id = $1', [organization.id])
      if (heads.length === 1) return organization
    }
    throw new Error('the sealer of the service came first, twenty times')
  }

  async function entryCount({ id }: TestOrganization): Promise<number> {
    const [row] = await database.query<{ n: number }>('SELECT count(*) AS n FROM audit_entries WHERE org_id = $1', [id])
    return row!.n
  }

  async function entryAt({ id }: TestOrganization, leafIndex: number): Promise<string> {
    const [row] = await database.query<{ entry_id: string }>(
      `SELECT 'aud_' || substr(entry_ids, ($2 - first_leaf)::integer * 26 + 1, 26) AS entry_id FROM audit_flushes WHERE ${WITH_LEAF}`,
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
    const [forged] = await database.query<RowOf<'audit_entries'>>(
      `INSERT INTO audit_entries (org_id, id, trail_id, seq, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, mac, flush, place)
       SELECT org_id, 'aud_' || repeat($2, 26), 'trail of the forger', 1, type, occurred_at, actor_type, actor_id, request_id, subject_type, subject_id, data, mac, ${FORGED_FLUSH}, 0
       FROM audit_entries WHERE id = $1 RETURNING *`,
      [await entryAt(organization, 6), digit],
    )
    return { id: forged!.id, leaf_hash: hashOfStored(forged!)! }
  }

  async function insertRow(table: string, row: Record<string, unknown>): Promise<void> {
    const values = Object.keys(row).map((_, n) => `$${n + 1}`)
    await database.query(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${values})`, Object.values(row))
  }
}
