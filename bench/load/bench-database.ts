import pg from 'pg'
import { startPostgres, type ThrowawayPostgres } from '../../scripts/throwaway-postgres.ts'
import { undoable } from './undo.ts'

/** A PostgreSQL database of one bench. */
export interface BenchDatabase {
  url: string
  drop(): Promise<void>
}

/** Files of the write-ahead log, 16 MiB each: as many as PostgreSQL has at most before it uses the first of them again. */
const WAL_FILES = 64

let cluster: Promise<ThrowawayPostgres> | undefined
let created = 0

/**
 * Creates an empty database. All benches of a run share one cluster, which the first of them starts and which stays until
 * the run ends: to make one takes longer than some rows take to measure.
 */
export async function newDatabase(): Promise<BenchDatabase> {
  const name = `bench_${created++}`
  await onCluster((client) => client.query(`CREATE DATABASE ${name}`))
  return {
    url: new URL(`/${name}`, (await theCluster()).url).href,
    // What is left behind would be vacuumed in the time of the next bench.
    drop: () => onCluster((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`)),
  }
}

/** Changes a setting of the cluster while some work is done. */
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
 * Gives a new cluster the write-ahead log of one that has been at work for a while: files to use again. A new cluster has
 * none; it fills 16 MiB with zeros for each, and commits wait for that.
 */
async function ageWal({ url }: ThrowawayPostgres): Promise<void> {
  await onServer(url, async (client) => {
    // No checkpoint meanwhile: it would hand the first files back, and the others would never be made.
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
  await onServer((await theCluster()).url, work)
}

async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url)
  client.on('error', () => {}) // whoever stops the cluster ends its connections; a query under way says so itself
  await client.connect()
  await work(client).finally(() => client.end())
}

function theCluster(): Promise<ThrowawayPostgres> {
  if (!cluster) {
    const starting = startPostgres()
    undoable(async () => (await starting).stop())
    cluster = starting.then(async (started) => {
      await ageWal(started)
      return started
    })
  }
  return cluster
}
