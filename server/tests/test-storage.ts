/** Databases for tests: copies of a prepared embedded one, or fresh databases on the server of TEST_DATABASE_URL. */
import { hash, randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openStorage } from '../src/store/storage.ts'

/** Where a test's installation keeps its data, as settings; `remove` leaves nothing behind. */
export interface TestStorage {
  env: Record<string, string>
  dataDir: string
  remove(): Promise<void>
}

const SERVER_URL = process.env.TEST_DATABASE_URL

/** Whether this run tests on a real PostgreSQL server. */
export const onPostgres = SERVER_URL !== undefined

/** Makes a migrated, otherwise empty place for one installation. */
export async function createTestStorage(): Promise<TestStorage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-test-'))
  if (SERVER_URL) return onServer(SERVER_URL, dataDir)
  // Copying an embedded database takes a fraction of the time of creating and migrating one.
  cpSync(await embeddedTemplate(), join(dataDir, 'database'), { recursive: true })
  return { env: { DATA_DIR: dataDir }, dataDir, remove: async () => rmSync(dataDir, { recursive: true, force: true }) }
}

async function onServer(serverUrl: string, dataDir: string): Promise<TestStorage> {
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

/** Runs one statement as the administrator of a server. */
async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** A migrated embedded database, made once for each state of the packages and migrations and shared by all test files. */
async function embeddedTemplate(): Promise<string> {
  const template = join(tmpdir(), `verdigraph-template-${templateHash()}`)
  if (existsSync(template)) return template
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-template-'))
  const storage = await openStorage({ dataDir, databaseUrls: undefined })
  await storage.migrate()
  await storage.close()
  try {
    renameSync(join(dataDir, 'database'), template)
  } catch {
    // Another test file was faster; its template is the same.
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
  const texts = [packages, ...files.map((file) => readFileSync(join(folder, file), 'utf8'))]
  return hash('sha256', texts.join('\0')).slice(0, 16)
}
