import type { Config, Environment } from '../config.ts'
import { type Database, DatabaseUnavailable } from './database/database.ts'
import { prepareDatabaseFolder } from './database/database-folder.ts'
import { lockFolder } from './database/folder-lock.ts'
import { openPglite } from './database/pglite-database.ts'
import { isUpToDate, type MigrationFamily, migrate } from './schema/migrate.ts'

/** The three data sets of an installation. No statement reads more than one of them. */
export interface Storage {
  embedded: boolean
  control: Database
  environments: Record<Environment, Database>
  /** The databases whose setting names several servers: when the primary fails, a standby takes over. */
  failingOver: ReadonlySet<keyof typeof SCHEMAS>
  /** Applies the pending migrations of all three schemas and returns their names. */
  migrate(): Promise<string[]>
  /** Says that clients wait from now on, so that a connection that cannot be made fails sooner. */
  endStart(): void
  close(): Promise<void>
}

const DATABASES = ['control', 'sandbox', 'production'] as const
const SCHEMAS = { control: 'verdigraph_control', sandbox: 'verdigraph_sandbox', production: 'verdigraph_production' }

/**
 * Opens the databases that the settings name: PostgreSQL servers, or the embedded database in the data folder. The
 * embedded database is still opening when this returns; its first statements wait.
 */
export async function openStorage(
  config: Pick<Config, 'databaseUrls' | 'databaseTimeoutMs' | 'dataDir' | 'embeddedFsync'>,
  { longStatements = false }: StorageOptions = {},
): Promise<Storage> {
  return config.databaseUrls ? openServers(config, { longStatements }) : openEmbedded(config)
}

/** How storage is opened: `longStatements` lifts the limit on how long a statement may take. */
export interface StorageOptions {
  longStatements?: boolean
}

async function openEmbedded({ dataDir, embeddedFsync }: Pick<Config, 'dataDir' | 'embeddedFsync'>): Promise<Storage> {
  const unlock = await lockFolder(dataDir)
  try {
    const { folder, markComplete } = prepareDatabaseFolder(dataDir)
    const control = openPglite({
      dataDir: folder,
      syncs: embeddedFsync,
      schema: SCHEMAS.control,
      onOpen: markComplete,
    })
    return assemble({
      embedded: true,
      failingOver: new Set(),
      control,
      sandbox: control.inSchema(SCHEMAS.sandbox),
      production: control.inSchema(SCHEMAS.production),
      endStart() {},
      close: () => control.close().finally(unlock),
    })
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * How long a new connection to PostgreSQL may take. A machine under load can need more than five seconds for one; a start
 * waits for that, because its failure would end the service. A refused connection fails at once.
 */
const CONNECT_WITHIN_MS = { starting: 30_000, serving: 5_000 }

async function openServers(
  { databaseUrls, databaseTimeoutMs }: Pick<Config, 'databaseUrls' | 'databaseTimeoutMs'>,
  { longStatements }: StorageOptions,
): Promise<Storage> {
  // Imported here, because with the embedded database the client would only delay the start.
  const { LONG_STATEMENT_MS, openPostgres } = await import('./database/postgres-database.ts')
  const statementMs = longStatements ? LONG_STATEMENT_MS : databaseTimeoutMs
  let connectWithinMs = CONNECT_WITHIN_MS.starting
  const open = (name: keyof typeof SCHEMAS) =>
    openPostgres({
      urls: databaseUrls![name],
      schema: SCHEMAS[name],
      statementMs,
      connectWithinMs: () => connectWithinMs,
    })
  const [control, sandbox, production] = [open('control'), open('sandbox'), open('production')]
  const close = async () => void (await Promise.all([control.close(), sandbox.close(), production.close()]))
  try {
    for (const [name, database] of [
      ['DATABASE_URL', control],
      ['SANDBOX_DATABASE_URL', sandbox],
      ['PRODUCTION_DATABASE_URL', production],
    ] as const) {
      await requireServer(database, name)
    }
  } catch (error) {
    await close()
    throw error
  }
  const endStart = () => {
    connectWithinMs = CONNECT_WITHIN_MS.serving
  }
  const failingOver = new Set(DATABASES.filter((name) => databaseUrls![name].length > 1))
  return assemble({ embedded: false, failingOver, control, sandbox, production, endStart, close })
}

/** PostgreSQL 15 is the oldest release that the tests run on. */
const SERVER_VERSION_MIN = 150_000

async function requireServer(database: Database, setting: string): Promise<void> {
  const [row] = await database
    .query<{ version: string }>("SELECT current_setting('server_version_num') AS version")
    .catch((error: Error) => {
      throw new DatabaseUnavailable(`the database of ${setting} cannot be reached: ${error.message || 'no answer'}`, {
        cause: error,
      })
    })
  if (Number(row?.version) < SERVER_VERSION_MIN)
    throw new DatabaseUnavailable(`the database of ${setting} is older than PostgreSQL 15: upgrade the server`)
}

function assemble({
  embedded,
  failingOver,
  control,
  sandbox,
  production,
  endStart,
  close,
}: Pick<Storage, 'embedded' | 'failingOver' | 'control' | 'endStart' | 'close'> &
  Record<Environment, Database>): Storage {
  return {
    embedded,
    failingOver,
    control,
    environments: { sandbox, production },
    async migrate() {
      const families: [Database, MigrationFamily][] = [
        [control, 'control'],
        [sandbox, 'environment'],
        [production, 'environment'],
      ]
      // All at once, because most starts wait for nothing else; and none is migrated if this release must not start on another.
      const upToDate = await Promise.all(families.map(([database, family]) => isUpToDate(database, family)))
      const applied: string[] = []
      for (const [database, family] of families.filter((_, index) => !upToDate[index])) {
        const steps = await migrate(database, family)
        applied.push(...steps.map((step) => step.replace('environment', database.schema)))
      }
      return applied
    },
    endStart,
    close,
  }
}
