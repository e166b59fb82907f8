import { createKey } from '../../server/src/admin/manage-keys.ts'
import { createOrganization } from '../../server/src/admin/manage-organizations.ts'
import { readConfig } from '../../server/src/config.ts'
import { lowestIdAt } from '../../server/src/ids/new-id.ts'
import { type Installation, openInstallation } from '../../server/src/installation/installation.ts'
import { SCOPES } from '../../server/src/security/scopes.ts'
import type { Database } from '../../server/src/store/database/database.ts'
import { packSmallSegments } from '../../server/src/store/documents/pack-segments.ts'
import type { Effort, Measured, Series } from '../bench.ts'
import { createApplicants, underwritings } from '../load/applicants.ts'
import { driveClosed, type NextRequest } from '../load/drive.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'
import { untilFollowedUp } from '../load/until-followed-up.ts'

/** One way to ask for decisions. */
interface Load {
  name: string
  connections: number
  organizations: number
  /** Decisions of one round: as many in each, so that a round uses the room that packing has freed in the one before. */
  decisions: number
}

const LOADS: readonly Load[] = [
  { name: '64 connections', connections: 64, organizations: 1, decisions: 2_000 },
  { name: '64 connections, 50 organizations', connections: 64, organizations: 50, decisions: 2_000 },
  { name: 'one at a time', connections: 1, organizations: 1, decisions: 500 },
]

const ROUNDS = 4

const DISK_MAX_KB = 2.5
const LOG_MAX_KB = 3

/** What the decisions of one load added, in bytes. */
interface Added {
  decisions: number
  log: number
  byTable: { table: string; bytes: number }[]
}

/**
 * Measures what one decision adds to the disk and to the write-ahead log of PostgreSQL, once its entries are sealed, its
 * documents packed and its tables vacuumed.
 */
export async function runStorage(effort: Effort): Promise<Measured> {
  const series: Record<string, Series> = { '2.5 KB': kilobytes(DISK_MAX_KB), '3 KB': kilobytes(LOG_MAX_KB) }
  const notes: string[] = []
  for (const load of LOADS) {
    effort.say(`  ${load.name}`)
    const { decisions, log, byTable } = await measureLoad(load, effort)
    const disk = byTable.reduce((sum, { bytes }) => sum + bytes, 0)
    series[`disk, ${load.name}`] = kilobytes(disk / decisions / 1000)
    series[`log, ${load.name}`] = kilobytes(log / decisions / 1000)
    const each = byTable.toSorted((a, b) => b.bytes - a.bytes).filter(({ bytes }) => bytes >= decisions)
    const text = each.map(({ table, bytes }) => `${table} ${(bytes / decisions).toFixed(0)}`).join(', ')
    notes.push(`${load.name}: ${decisions} decisions; bytes of a decision by table, with indexes: ${text}`)
  }
  return { series, notes }
}

/** The first round is not counted: what packing and sealing free in one round, the next one uses. */
async function measureLoad({ connections, organizations, decisions: each }: Load, effort: Effort): Promise<Added> {
  const service = await startMeasuredService('postgres')
  const installation = await openInstallation(readConfig(service.env), { longStatements: true })
  try {
    const sandbox = installation.storage.environments.sandbox
    const count = effort.isQuick ? each / 20 : each
    const rounds = effort.isQuick ? 1 : ROUNDS
    // Every applicant asks once: who asks again and again has an offer already, or goes to a person.
    const next = await requestsOf(service, installation, { organizations, applicants: count * (1 + rounds) })
    const round = async () => {
      const driven = { connections, count, next }
      const { latenciesMs, refused } = await driveClosed(service.port, driven)
      if (Object.keys(refused).length > 0) throw new Error(`the service refused requests: ${JSON.stringify(refused)}`)
      await untilFollowedUp(sandbox)
      while (await packSmallSegments(sandbox, lowestIdAt('dec', Date.now() + 1_000))) {}
      return latenciesMs.length
    }
    await round()
    const before = await measureDatabase(sandbox)
    let decisions = 0
    for (let number = 0; number < rounds; number++) {
      decisions += await round()
      // No ANALYZE: what it writes does not depend on the size of a table, and autovacuum analyzes a large one rarely.
      await sandbox.query('VACUUM')
    }
    const after = await measureDatabase(sandbox)
    const byTable = [...after.bytes].map(([table, bytes]) => ({ table, bytes: bytes - (before.bytes.get(table) ?? 0) }))
    return { decisions, log: after.log - before.log, byTable }
  } finally {
    await installation.close()
    await service.stop()
  }
}

/** Makes requests of the organizations in turn, each about its own entities. */
async function requestsOf(
  service: MeasuredService,
  installation: Installation,
  { organizations, applicants }: { organizations: number; applicants: number },
): Promise<NextRequest> {
  const each: NextRequest[] = []
  for (let index = 0; index < organizations; index++) {
    const key = index === 0 ? service.key : await keyOfNewOrganization(installation, `Bench ${index}`)
    const entityIds = await createApplicants(service.withKey(key), Math.ceil(applicants / organizations))
    each.push(underwritings(key, entityIds, `storage-${index}`))
  }
  let sent = 0
  return () => each[sent++ % each.length]!()
}

async function keyOfNewOrganization(installation: Installation, name: string): Promise<string> {
  const act = { by: { type: 'system', id: 'bench' }, channel: 'service' } as const
  const { id: organizationId } = await createOrganization(installation, act, name)
  const made = await createKey(
    installation,
    { ...act, organizationId, environment: 'sandbox' },
    { name, scopes: SCOPES, expiresAt: null },
  )
  return made.key
}

/** The bytes of each table with its indexes, after a vacuum, and the position in the write-ahead log before it. */
async function measureDatabase(database: Database): Promise<{ bytes: Map<string, number>; log: number }> {
  const [position] = await database.query<{ log: number }>(
    "SELECT (pg_current_wal_lsn() - '0/0')::double precision AS log",
  )
  await database.query('VACUUM ANALYZE')
  const rows = await database.query<{ name: string; bytes: number }>(
    `SELECT relname AS name, pg_total_relation_size(oid)::double precision AS bytes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
  )
  return { bytes: new Map(rows.map(({ name, bytes }) => [name, bytes])), log: position!.log }
}

function kilobytes(value: number): Series {
  return { unit: 'KB', better: 'lower', values: [value] }
}
