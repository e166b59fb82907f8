import type { Database } from './database.ts'
import { TIMELINE } from './find-primary.ts'

/** Why a database cannot serve requests. */
export type HealthProblem = 'database_unreachable' | 'disk_full' | 'database_read_only'

/** Checks with a round trip and a small write that a database can serve requests; undefined if it can. */
export async function findHealthProblem(
  database: Database,
  { node, withinMs }: { node: string; withinMs: number },
): Promise<HealthProblem | undefined> {
  try {
    await database.within(withinMs).query('SELECT check_health($1)', [node])
    return undefined
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === '53100') return 'disk_full'
    if (code === '25006') return 'database_read_only'
    return 'database_unreachable'
  }
}

/** The nodes that have checked this database within the last seconds, and so may be running. */
export async function listRunningNodes(control: Database, withinSeconds: number): Promise<string[]> {
  const rows = await control.query<{ node: string }>(
    `SELECT node FROM node_heartbeats WHERE node <> 'doctor' AND beat_at > now() - make_interval(secs => $1) ORDER BY node`,
    [withinSeconds],
  )
  return rows.map(({ node }) => node)
}

/** Forgets the last health check of a node that ends. */
export async function forgetNode(database: Database, node: string): Promise<void> {
  await database.query('DELETE FROM node_heartbeats WHERE node = $1', [node])
}

/** What a commit waits for before it is answered: synchronous standbys, or the disk of its own server alone. */
export interface CommitDurability {
  isSynchronous: boolean
  /** `synchronous_standby_names`: which standbys, and how many of them. */
  standbys: string
  /** The timeline of the server: each failover and each restore begins another. */
  timeline: string
}

/** Asks what commits wait for. Sessions of this service ask for `synchronous_commit = on`, but a pooler may not pass that on. */
export async function commitDurability(
  database: Database,
  { withinMs }: { withinMs: number },
): Promise<CommitDurability> {
  const [row] = await database.within(withinMs).query<{ standbys: string; waits: string; timeline: string }>(
    `SELECT current_setting('synchronous_standby_names') AS standbys, current_setting('synchronous_commit') AS waits,
         ${TIMELINE} AS timeline`,
  )
  const { standbys, waits, timeline } = row!
  return { isSynchronous: standbys !== '' && (waits === 'on' || waits === 'remote_apply'), standbys, timeline }
}

/** The clock of a database minus the machine's, and how far off the measurement may be: half of its round trip. */
export interface ClockOffset {
  offsetMs: number
  uncertaintyMs: number
}

/** Measures the clock of a database against this machine's, whatever correction this node has made to it. */
export async function measureClock(
  database: Database,
  { clock, withinMs }: { clock: { systemMs(): number }; withinMs: number },
): Promise<ClockOffset> {
  const began = performance.now()
  const [row] = await database
    .within(withinMs)
    .query<{ now_ms: number }>('SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS now_ms')
  const uncertaintyMs = (performance.now() - began) / 2
  return { offsetMs: row!.now_ms + uncertaintyMs - clock.systemMs(), uncertaintyMs }
}
