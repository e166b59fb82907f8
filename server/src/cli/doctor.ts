import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { verifyAuditLog } from '../audit/verify-audit-log.ts'
import { type Config, ENVIRONMENTS } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import { listOrganizations } from '../store/control/organizations.ts'
import {
  type ClockOffset,
  type CommitDurability,
  commitDurability,
  findHealthProblem,
  type HealthProblem,
  measureClock,
} from '../store/database/health.ts'
import { INSTALLATION_LOG } from '../store/power/power-tables.ts'
import { idAt } from '../store/write-path/entry-list.ts'
import { defineCommand } from './command.ts'

/** The result of one check; `detail` says what was found and, if that is bad, what to do about it. */
export interface Check {
  name: string
  ok: boolean
  detail: string
}

const CLOCK_SKEW_MAX_MS = 1_000
const ANSWER_WITHIN_MS = 5_000
const SEAL_DELAY_MAX_MS = 60_000
const NODE_MAJOR_MIN = 24

/** Checks what needs an open installation: databases, master key, audit logs. `checkMachine` checks the rest. */
export const doctor = defineCommand<Check[]>({
  name: 'doctor',
  summary: 'Check this installation and say what to fix',
  usage: 'doctor',
  run: async (installation) => {
    const databases = await checkDatabases(installation)
    // The other checks would wait for a database that does not answer.
    if (databases.some(({ name, ok }) => !ok && name.startsWith('database'))) return databases
    return [
      ...databases,
      await checkMasterKey(installation),
      await checkOrganizations(installation),
      ...(await checkStatementNumbers(installation)),
      ...(await checkAuditLogs(installation)),
    ]
  },
  render: (checks) => checks.map(({ name, ok, detail }) => `${ok ? 'ok  ' : 'BAD '} ${name}: ${detail}`).join('\n'),
  isBad: (checks) => checks.some(({ ok }) => !ok),
})

/** Checks what needs no database: the version of Node.js, the data folder and who can read its secrets. */
export function checkMachine({ dataDir, databaseUrls, masterKey }: Config): Check[] {
  const major = Number.parseInt(process.versions.node, 10)
  return [
    {
      name: 'node',
      ok: major >= NODE_MAJOR_MIN,
      detail:
        major >= NODE_MAJOR_MIN
          ? process.version
          : `${process.version} is too old: start with npm, which brings Node.js ${NODE_MAJOR_MIN}`,
    },
    checkDataFolder(dataDir, { mayBeNew: databaseUrls !== undefined && masterKey !== undefined }),
    ...(databaseUrls ? [] : [checkOwnerOnly('database folder', join(dataDir, 'database'))]),
    ...(masterKey ? [] : [checkOwnerOnly('master key file', join(dataDir, 'master.key'))]),
    { name: 'storage', ok: true, detail: databaseUrls ? 'PostgreSQL' : `the embedded database in ${dataDir}` },
  ]
}

/** Checks the data folder. A node on PostgreSQL that is given its master key may have none yet: a start creates it. */
function checkDataFolder(dataDir: string, { mayBeNew }: { mayBeNew: boolean }): Check {
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return { name: 'data folder', ok: true, detail: `${dataDir} is writable` }
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (missing && mayBeNew)
      return { name: 'data folder', ok: true, detail: `${dataDir} does not exist yet: npm start creates it` }
    return {
      name: 'data folder',
      ok: false,
      detail: missing
        ? `${dataDir} does not exist yet: run npm start to create it`
        : `this user cannot write to ${dataDir}: change its owner, or set DATA_DIR to another folder`,
    }
  }
}

function checkOwnerOnly(name: string, path: string): Check {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return { name, ok: false, detail: `${path} does not exist yet: run npm start to create it` }
  if ((stat.mode & 0o077) === 0) return { name, ok: true, detail: 'readable by its owner only' }
  const mode = stat.isDirectory() ? 700 : 600
  return {
    name,
    ok: false,
    detail: `others can read ${path}: run chmod ${mode} ${path}, and treat its secrets as leaked`,
  }
}

async function checkDatabases({ storage, clock }: Installation): Promise<Check[]> {
  const databases = { control: storage.control, ...storage.environments }
  const checks = (['control', ...ENVIRONMENTS] as const).map(async (name): Promise<Check[]> => {
    const database = databases[name]
    const limits = { withinMs: ANSWER_WITHIN_MS }
    const problem = await findHealthProblem(database, { node: 'doctor', ...limits })
    if (problem) return [{ name: `database ${name}`, ok: false, detail: HEALTH_ADVICE[problem] }]
    const [row] = await database.query<{ migrations: number }>('SELECT count(*) AS migrations FROM schema_migrations')
    return [
      { name: `database ${name}`, ok: true, detail: `can be read and written; migrations applied: ${row!.migrations}` },
      checkClock(name, await measureClock(database, { clock, ...limits })),
      ...(storage.embedded
        ? []
        : [checkCommits(name, await commitDurability(database, limits), { failsOver: storage.failingOver.has(name) })]),
    ]
  })
  return (await Promise.all(checks)).flat()
}

/** A restore of single tables leaves the sequence behind: the next statements would take numbers that others have. */
async function checkStatementNumbers({ storage }: Installation): Promise<Check[]> {
  const checks = ENVIRONMENTS.map(async (environment): Promise<Check> => {
    const [row] = await storage.environments[environment].query<{ next: number; highest: number }>(
      'SELECT last_value AS next, greatest((SELECT max(flush) FROM audit_flushes), (SELECT max(flush) FROM audit_pending), 0) AS highest FROM flush_numbers',
    )
    const { next, highest } = row!
    const detail =
      next >= highest
        ? `the sequence is at ${next}, the highest stored number is ${highest}`
        : `the sequence flush_numbers is at ${next}, but statement ${highest} is stored: stop the service and run SELECT setval('flush_numbers', ${highest})`
    return { name: `statement numbers ${environment}`, ok: next >= highest, detail }
  })
  return Promise.all(checks)
}

const HEALTH_ADVICE: Record<HealthProblem, string> = {
  database_unreachable: 'it does not answer: check that it runs, and the network between',
  disk_full: 'its disk is full: make room, and the service goes on by itself',
  database_read_only: 'it is read-only: point the settings at the primary server',
}

function checkClock(name: string, { offsetMs, uncertaintyMs }: ClockOffset): Check {
  const skewMs = -offsetMs
  const measured = `${(Math.abs(skewMs) / 1_000).toFixed(3)} s ${skewMs < 0 ? 'behind' : 'ahead of'} it (± ${Math.ceil(uncertaintyMs)} ms)`
  const ok = Math.abs(skewMs) - uncertaintyMs <= CLOCK_SKEW_MAX_MS
  return {
    name: `clock ${name}`,
    ok,
    detail: `this machine is ${measured}${ok ? '' : '; the service uses the time of the database: synchronize both with NTP'}`,
  }
}

/** Only where a standby is meant to take over does it matter that commits do not wait for one. */
function checkCommits(
  name: string,
  { isSynchronous, standbys }: CommitDurability,
  { failsOver }: { failsOver: boolean },
): Check {
  const local =
    'an answer waits for the disk of the primary alone, so a failover loses what the standby that takes over has not received'
  const advice = 'set synchronous_standby_names, or in Patroni synchronous_mode and synchronous_mode_strict'
  return {
    name: `commits ${name}`,
    ok: isSynchronous || !failsOver,
    detail: isSynchronous
      ? `an answer waits until synchronous standbys have the write: ${standbys}`
      : `${local}${failsOver ? `: ${advice}` : ''}`,
  }
}

async function checkMasterKey({ storage, masterKey }: Installation): Promise<Check> {
  const [row] = await storage.control.query<{ master_key_check: string }>('SELECT master_key_check FROM installation')
  if (!row) return { name: 'master key', ok: false, detail: 'this installation was never started: run npm start once' }
  const same = row.master_key_check === masterKey.check
  return {
    name: 'master key',
    ok: same,
    detail: same
      ? 'matches this installation'
      : 'does not match this installation: set MASTER_KEY to the key it was created with',
  }
}

async function checkOrganizations({ storage }: Installation): Promise<Check> {
  const count = (await listOrganizations(storage.control)).length
  return {
    name: 'organizations',
    ok: count > 0,
    detail: count > 0 ? String(count) : 'there is none: create one with orgs create <name>',
  }
}

async function checkAuditLogs(installation: Installation): Promise<Check[]> {
  const { storage, stores, masterKey, knownHeads, nowMs } = installation
  const checks: Check[] = []
  for (const environment of ENVIRONMENTS) {
    const [pending] = await storage.environments[environment].query<{ oldest: string | null }>(
      `SELECT min(entry.occurred_at) AS oldest FROM audit_pending AS pending
       JOIN audit_entries AS entry ON entry.org_id = pending.org_id AND entry.id = ${idAt('pending', '0')}`,
    )
    const late = pending?.oldest ? nowMs() - Date.parse(pending.oldest) > SEAL_DELAY_MAX_MS : false
    checks.push({
      name: `sealer ${environment}`,
      ok: !late,
      detail: late
        ? `the oldest unsealed entry is from ${pending?.oldest}: check that a node with the worker role is running`
        : 'keeps up',
    })
    const organizations = (await listOrganizations(storage.control)).map(({ id }) => id)
    for (const organizationId of [...organizations, ...(environment === 'production' ? [INSTALLATION_LOG] : [])]) {
      const publicKeys = masterKey.auditPublicKeys(environment)
      const { intact, leaves, problems } = await verifyAuditLog({
        organizationId,
        environment,
        store: stores[environment],
        people: stores.production,
        control: storage.control,
        publicKeys,
        knownHeads: knownHeads[environment],
      })
      checks.push({
        name: `audit log ${environment} ${organizationId}`,
        ok: intact,
        detail: intact ? `intact, ${leaves} entries` : problems.join(' '),
      })
    }
  }
  return checks
}
