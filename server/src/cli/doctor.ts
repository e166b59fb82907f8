import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { verifyAuditLog } from '../audit/verify-audit-log.ts'
import { type Config, ENVIRONMENTS } from '../config.ts'
import type { Installation } from '../service/installation.ts'
import { listOrganizations } from '../store/queries/organizations.ts'
import { defineCommand } from './command.ts'

/** One thing that was looked at, and what to do when it is not as it should be. */
export interface Check {
  name: string
  ok: boolean
  detail: string
}

const CLOCK_SKEW_MAX_MS = 5_000
const SEAL_DELAY_MAX_MS = 60_000
const NODE_MAJOR_MIN = 24

/** Looks at an installation from the inside: its databases, its master key, its audit logs. */
export const doctor = defineCommand<Check[]>({
  name: 'doctor',
  summary: 'Say what is wrong with this installation',
  usage: 'doctor',
  run: async (installation) => [
    ...(await checkDatabases(installation)),
    await checkMasterKey(installation),
    await checkOrganizations(installation),
    ...(await checkAuditLogs(installation)),
  ],
  render: (checks) => checks.map(({ name, ok, detail }) => `${ok ? 'ok  ' : 'BAD '} ${name}: ${detail}`).join('\n'),
  isBad: (checks) => checks.some(({ ok }) => !ok),
})

/** Looks at what can be seen without the databases. */
export function checkSurroundings({ dataDir, databaseUrls, masterKey }: Config): Check[] {
  const major = Number.parseInt(process.versions.node, 10)
  return [
    {
      name: 'node',
      ok: major >= NODE_MAJOR_MIN,
      detail:
        major >= NODE_MAJOR_MIN
          ? process.version
          : `${process.version} is too old; run through npm, which brings its own`,
    },
    checkFolder(dataDir),
    ...(databaseUrls ? [] : [checkOwnerOnly('database folder', join(dataDir, 'database'))]),
    ...(masterKey ? [] : [checkOwnerOnly('master key file', join(dataDir, 'master.key'))]),
    { name: 'storage', ok: true, detail: databaseUrls ? 'PostgreSQL' : `the embedded database in ${dataDir}` },
  ]
}

function checkFolder(dataDir: string): Check {
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return { name: 'data folder', ok: true, detail: `${dataDir} can be written` }
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return {
      name: 'data folder',
      ok: false,
      detail: missing
        ? `${dataDir} does not exist yet; npm start makes it`
        : `${dataDir} cannot be written by this user`,
    }
  }
}

function checkOwnerOnly(name: string, path: string): Check {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return { name, ok: false, detail: `${path} does not exist yet; npm start makes it` }
  if ((stat.mode & 0o077) === 0) return { name, ok: true, detail: 'readable by its owner only' }
  return {
    name,
    ok: false,
    detail: `others can read ${path}: chmod ${stat.isDirectory() ? 700 : 600} it, and consider its secrets known`,
  }
}

async function checkDatabases({ storage, nowMs }: Installation): Promise<Check[]> {
  const databases = { control: storage.control, ...storage.environments }
  const checks = Object.entries(databases).map(async ([name, database]): Promise<Check> => {
    const started = nowMs()
    const [row] = await database.query<{ now: string; migrations: number }>(
      'SELECT clock_timestamp() AS now, (SELECT count(*) FROM schema_migrations) AS migrations',
    )
    const skewMs = Math.abs(Date.parse(row!.now) - (started + nowMs()) / 2)
    if (skewMs > CLOCK_SKEW_MAX_MS)
      return {
        name: `database ${name}`,
        ok: false,
        detail: `its clock is ${Math.round(skewMs / 1000)} s away from this machine’s; set both by NTP`,
      }
    return { name: `database ${name}`, ok: true, detail: `answers; ${row!.migrations} migration(s) applied` }
  })
  return Promise.all(checks)
}

async function checkMasterKey({ storage, masterKey }: Installation): Promise<Check> {
  const [row] = await storage.control.query<{ master_key_check: string }>('SELECT master_key_check FROM installation')
  if (!row) return { name: 'master key', ok: false, detail: 'the installation was never started; run npm start once' }
  const same = row.master_key_check === masterKey.check
  return {
    name: 'master key',
    ok: same,
    detail: same
      ? 'is the one this installation was made with'
      : 'is not the one this installation was made with; set MASTER_KEY to that one',
  }
}

async function checkOrganizations({ storage }: Installation): Promise<Check> {
  const count = (await listOrganizations(storage.control)).length
  return {
    name: 'organizations',
    ok: count > 0,
    detail: count > 0 ? String(count) : 'none; create one with orgs create <name>',
  }
}

async function checkAuditLogs(installation: Installation): Promise<Check[]> {
  const { storage, stores, masterKey, nowMs } = installation
  const checks: Check[] = []
  for (const environment of ENVIRONMENTS) {
    const [waiting] = await storage.environments[environment].query<{ oldest: string | null }>(
      `SELECT min(entry.occurred_at) AS oldest FROM audit_pending JOIN audit_entries AS entry USING (org_id, trail_id, seq)`,
    )
    const late = waiting?.oldest ? nowMs() - Date.parse(waiting.oldest) > SEAL_DELAY_MAX_MS : false
    checks.push({
      name: `sealer ${environment}`,
      ok: !late,
      detail: late ? `entries wait since ${waiting?.oldest}; is a node with the worker role running?` : 'keeps up',
    })
    for (const { id: organizationId } of await listOrganizations(storage.control)) {
      const publicKeys = [masterKey.auditSigningKey(environment).publicKey]
      const { intact, leaves, problems } = await verifyAuditLog({
        organizationId,
        environment,
        store: stores[environment],
        publicKeys,
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
