/** Databases for tests: copies of a prepared embedded one, or fresh databases on the server of TEST_DATABASE_URL. */
import { hash, randomBytes } from 'node:crypto'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { openStorage } from '../src/store/storage.ts'

/** The settings that name the database and data folder of one test; `remove` deletes both. */
export interface TestStorage {
  env: Record<string, string>
  dataDir: string
  remove(): Promise<void>
}

/** PGlite clears all shared buffers when it opens; of the default 128 MB, tests use a few. */
const EMBEDDED_SETTINGS = 'shared_buffers = 16MB\n'

const SERVER_URL = process.env.TEST_DATABASE_URL

/** Where prepared databases outlive a run. */
const TEMPLATES = process.env.TEST_TEMPLATES ?? tmpdir()

/** Whether this run tests on a PostgreSQL server instead of the embedded database. */
export const onPostgres = SERVER_URL !== undefined

/** Creates storage without data. An embedded database is migrated already; one on a server has no schema yet. */
export async function createTestStorage(): Promise<TestStorage> {
  const storage = await createEmptyTestStorage()
  // Copying an embedded database takes a fraction of the time of creating and migrating one.
  if (!onPostgres) cpSync(await embeddedTemplate(), join(storage.dataDir, 'database'), { recursive: true })
  return storage
}

/** Creates storage without data and without a schema. */
export async function createEmptyTestStorage(): Promise<TestStorage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-test-'))
  if (SERVER_URL) return createOnServer(SERVER_URL, dataDir)
  // No test but server/proofs/power-failure.proof.ts is about the disk: without syncs, most runs took a tenth less time.
  const env = { DATA_DIR: dataDir, EMBEDDED_FSYNC: 'false' }
  return { env, dataDir, remove: async () => rmSync(dataDir, { recursive: true, force: true }) }
}

async function createOnServer(serverUrl: string, dataDir: string): Promise<TestStorage> {
  const name = `verdigraph_test_${randomBytes(6).toString('hex')}`
  await administer(serverUrl, `CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    env: { DATA_DIR: dataDir, DATABASE_URL: url.href },
    dataDir,
    async remove() {
      await administer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Runs one statement on the server, outside the databases of tests. */
async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** A migrated embedded database, created once per version of the packages and migrations and copied by all test files. */
async function embeddedTemplate(): Promise<string> {
  const template = join(TEMPLATES, `verdigraph-template-${templateHash()}`)
  if (existsSync(template)) return template
  const dataDir = mkdtempSync(join(TEMPLATES, 'verdigraph-template-'))
  const storage = await openStorage(readConfig({ DATA_DIR: dataDir }))
  await storage.migrate()
  await storage.close()
  appendFileSync(join(dataDir, 'database', 'postgresql.conf'), EMBEDDED_SETTINGS)
  try {
    renameSync(join(dataDir, 'database'), template)
  } catch {
    // Another test file created the same template first.
  }
  rmSync(dataDir, { recursive: true, force: true })
  return template
}

function templateHash(): string {
  const folder = join(import.meta.dirname, '../src/store/schema/migrations')
  const files = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.sql'))
    .sort()
  const packages = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
  const texts = [packages, EMBEDDED_SETTINGS, ...files.map((file) => readFileSync(join(folder, file), 'utf8'))]
  return hash('sha256', texts.join('\0')).slice(0, 16)
}
