import { join } from 'node:path'
import pg from 'pg'
import { openPglite } from '../../server/src/store/database/pglite-database.ts'
import type { MeasuredService } from './measured-service.ts'

/** Runs one statement in the schema of the sandbox. */
export type Sql = <R extends Record<string, unknown>>(text: string, params?: readonly unknown[]) => Promise<R[]>

const SCHEMA = 'verdigraph_sandbox'
/** As many statements at once as two cores can do something with. */
const CONNECTIONS = 3

/**
 * Lends the sandbox's tables to `work`, behind the service's back. The embedded database belongs to one process at a
 * time, so there the service is paused meanwhile, and has another port afterwards.
 */
export async function withSandboxSql<T>(service: MeasuredService, work: (sql: Sql) => Promise<T>): Promise<T> {
  const { DATABASE_URL, DATA_DIR } = service.env
  return DATABASE_URL ? onServer(DATABASE_URL, work) : onFolder(service, DATA_DIR!, work)
}

async function onServer<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  // What is filled in need not survive a power cut, so nothing waits for the disk.
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
    const database = openPglite({ dataDir: join(dataDir, 'database'), schema: SCHEMA, onOpen: () => {} })
    try {
      return await work((text, params = []) => database.query(text, params))
    } finally {
      await database.close()
    }
  } finally {
    await service.resume()
  }
}
