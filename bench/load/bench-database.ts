import pg from 'pg'
import { startPostgres, type ThrowawayPostgres } from '../../scripts/throwaway-postgres.ts'
import { undoable } from './undo.ts'

/** A PostgreSQL database of one bench. */
export interface BenchDatabase {
  url: string
  drop(): Promise<void>
}

/** As much as fits under `max_wal_size`, after which PostgreSQL uses files again. */
const LOG_FILES = 64

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
  const set = (sql: string) =>
    onCluster(async (client) => {
      await client.query(sql)
      await client.query('SELECT pg_reload_conf()')
    })
  await set(`ALTER SYSTEM SET ${setting} = '${value}'`)
  return work().finally(() => set(`ALTER SYSTEM RESET ${setting}`))
}

/**
 * Has a new cluster write as much of its log as one that has been at work for a while. From then on PostgreSQL takes files
 * for its log that it has used before; a new one fills 16 MiB with zeros for each, and commits wait for that.
 */
async function ageLog({ url }: ThrowawayPostgres): Promise<void> {
  await onServer(url, async (client) => {
    await client.query(
      `SELECT pg_logical_emit_message(false, 'bench', ''), pg_switch_wal() FROM generate_series(1, ${LOG_FILES})`,
    )
    await client.query('CHECKPOINT')
  })
}

async function onCluster(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  await onServer((await theCluster()).url, work)
}

async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await work(client).finally(() => client.end())
}

function theCluster(): Promise<ThrowawayPostgres> {
  if (!cluster) {
    const starting = startPostgres()
    undoable(async () => (await starting).stop())
    cluster = starting.then(async (started) => {
      await ageLog(started)
      return started
    })
  }
  return cluster
}
