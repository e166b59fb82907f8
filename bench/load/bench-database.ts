import pg from 'pg'
import { startPostgres, type ThrowawayPostgres } from '../../scripts/throwaway-postgres.ts'
import { undoable } from './undo.ts'

/** A PostgreSQL database for one bench. */
export interface BenchDatabase {
  url: string
  drop(): Promise<void>
}

/** Files of the write-ahead log, 16 MiB each: PostgreSQL recycles the first once it has this many. */
const WAL_FILES = 64

let cluster: Promise<ThrowawayPostgres> | undefined
let created = 0

/**
 * Creates an empty database. All benches of a run share one cluster, which the first of them starts and which runs until
 * the end, because creating a cluster takes longer than measuring some rows.
 */
export async function newDatabase(): Promise<BenchDatabase> {
  const name = `bench_${created++}`
  await onCluster((client) => client.query(`CREATE DATABASE ${name}`))
  return {
    url: new URL(`/${name}`, (await sharedCluster()).url).href,
    // Otherwise autovacuum would clean it up while the next bench is measured.
    drop: () => onCluster((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`)),
  }
}

/** Changes a setting of the cluster for the duration of `work`. */
export async function withClusterSetting<T>(setting: string, value: string, work: () => Promise<T>): Promise<T> {
  const set = (change: string) => onCluster((client) => configure(client, change))
  await set(`SET ${setting} = '${value}'`)
  return work().finally(() => set(`RESET ${setting}`))
}

async function configure(client: pg.Client, change: string): Promise<void> {
  await client.query(`ALTER SYSTEM ${change}`)
  await client.query('SELECT pg_reload_conf()')
}

/**
 * Gives a new cluster the recyclable write-ahead log files of a cluster that has run for a while. Without them,
 * PostgreSQL fills each new file of 16 MiB with zeros while commits wait.
 */
async function createWalFiles({ url }: ThrowawayPostgres): Promise<void> {
  await onServer(url, async (client) => {
    // A checkpoint meanwhile would recycle the first files, and the others would never be created.
    await configure(client, "SET max_wal_size = '4GB'")
    await client.query(
      `SELECT pg_logical_emit_message(false, 'bench', ''), pg_switch_wal() FROM generate_series(1, ${WAL_FILES})`,
    )
    await configure(client, 'RESET max_wal_size')
    await configure(client, "SET min_wal_size = '1GB'")
    await client.query('CHECKPOINT')
  })
}

async function onCluster(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  await onServer((await sharedCluster()).url, work)
}

async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url)
  // Stopping the cluster closes its connections; a query in flight reports that itself.
  client.on('error', () => {})
  await client.connect()
  await work(client).finally(() => client.end())
}

function sharedCluster(): Promise<ThrowawayPostgres> {
  if (!cluster) {
    const starting = startPostgres()
    undoable(async () => (await starting).stop())
    cluster = starting.then(async (started) => {
      await createWalFiles(started)
      return started
    })
  }
  return cluster
}
