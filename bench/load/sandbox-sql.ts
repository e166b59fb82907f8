import { join } from 'node:path'
import pg from 'pg'
import { openPglite } from '../../server/src/store/database/pglite-database.ts'
import type { MeasuredService } from './measured-service.ts'

/** Runs one statement in the schema of the sandbox. */
export type Sql = <R extends Record<string, unknown>>(text: string, params?: readonly unknown[]) => Promise<R[]>

const SCHEMA = 'verdigraph_sandbox'
/** As many statements in parallel as two cores can use. */
const CONNECTIONS = 3

/**
 * Gives `work` direct access to the sandbox's tables. Only one process can open the embedded database, so the service is
 * paused meanwhile there, and listens on another port afterwards.
 */
export async function withSandboxSql<T>(service: MeasuredService, work: (sql: Sql) => Promise<T>): Promise<T> {
  const { DATABASE_URL, DATA_DIR } = service.env
  return DATABASE_URL ? onServer(DATABASE_URL, work) : onFolder(service, DATA_DIR!, work)
}

async function onServer<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  // The inserted rows need not survive a power cut, so no commit waits for the disk.
  const options = `-c search_path=${SCHEMA} -c synchronous_commit=off -c timezone=UTC`
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS, options })
  try {
    return await work(async (text, params = []) => (await pool.query(text, [...params])).rows)
  } finally {
    await pool.end()
  }
}

async function onFolder<T>(service: MeasuredService, dataDir: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  await service.pause()
  try {
    const database = openPglite({
      dataDir: join(dataDir, 'database'),
      syncs: false, // the inserted rows need not survive a power failure
      schema: SCHEMA,
      onOpen: () => {},
    })
    try {
      return await work((text, params = []) => database.query(text, params))
    } finally {
      await database.close()
    }
  } finally {
    await service.resume()
  }
}
