/** Three machines with PostgreSQL under Patroni and etcd, and HAProxy before them, by the files of docs/high-availability/. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { binFolder, freePort, serverUser } from '../../../scripts/throwaway-postgres.ts'
import { signalAll } from '../faults/signal-tree.ts'
import { until } from '../proof-run.ts'
import { filledIn, type Values } from './cluster-files.ts'
import { createHosts, type Host, whyNoHosts } from './hosts.ts'

const PROGRAMS = ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy', '/usr/bin/nsenter']
const [PATRONI, ETCD, HAPROXY] = PROGRAMS as [string, string, string, string]
const NAMES = ['a', 'b', 'c'] as const
const PASSWORD = 'not-a-secret'
const DATABASE = 'verdigraph'

/** Why a cluster cannot run here; undefined if it can. */
export function whyNoCluster(): string | undefined {
  const missing = PROGRAMS.filter((program) => !existsSync(program))
  if (missing.length > 0) return `needs ${missing.join(', ')}`
  return whyNoHosts()
}

/** A machine with its part of the cluster. */
export interface Member extends Host {
  /** Starts etcd and Patroni, which starts PostgreSQL. */
  start(): void
  /** The process that PostgreSQL was started as; undefined if it does not run. */
  postmaster(): number | undefined
  /** The processes that serve the connections of clients. */
  backends(): Promise<number[]>
  /** The processes of these programs. */
  pidsOf(...programs: ('postgres' | 'patroni' | 'etcd')[]): number[]
  /** A connection of a superuser to its PostgreSQL, which gives up after a second. */
  client(database?: string): pg.Client
}

/** What Patroni says about a member. */
interface MemberState {
  name: string
  role: string
}

/** What the Patroni of a member says about its PostgreSQL, by a query. */
interface ServerState {
  replication?: { application_name: string; state: string; sync_state: string }[]
}

/** A running cluster. */
export interface Cluster {
  members: readonly Member[]
  /** Values of `DATABASE_URL`: all servers, and HAProxy alone. */
  databaseUrls: { all: string; proxied: string }
  /** The member that holds the lease. */
  primary(): Promise<Member>
  switchOver(): Promise<void>
  /** Waits until both others replicate the primary, and Patroni may promote the one that has all acknowledged writes. */
  untilWhole(): Promise<void>
  /** How many old primaries pg_rewind has brought back. */
  rewinds(): number
  /** What Patroni and etcd of each member wrote last. */
  logs(): string
  stop(): void
}

/** Starts a cluster with an empty database. */
export async function startCluster(): Promise<Cluster> {
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-cluster-'))
  chmodSync(folder, 0o755)
  const { hosts, range, remove } = createHosts(NAMES, user)
  const addresses = Object.fromEntries(hosts.map(({ name, address }) => [`ADDRESS_${name.toUpperCase()}`, address]))
  const addressesOn = (network: 'cluster' | 'service'): Values =>
    Object.fromEntries(Object.entries(addresses).map(([placeholder, address]) => [placeholder, address[network]]))
  const members = hosts.map((host) =>
    memberOn(host, { folder, user, values: { ...addressesOn('cluster'), NETWORK: range } }),
  )

  const proxyPort = await freePort()
  const proxyFile = join(folder, 'haproxy.cfg')
  writeFileSync(proxyFile, filledIn('haproxy.cfg', { ...addressesOn('service'), LISTEN: `127.0.0.1:${proxyPort}` }))
  let proxy: ChildProcess | undefined
  const stop = () => {
    process.off('exit', stop)
    proxy?.kill('SIGKILL')
    for (const member of members) stopDatabase(member)
    execFileSync('sleep', ['0.5'])
    remove()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', stop)
  try {
    for (const member of members) member.start()
    const cluster = clusterOf(members, { proxyPort, folder, stop })
    await cluster.untilWhole()
    await createDatabase(await cluster.primary())
    proxy = spawn(HAPROXY, ['-db', '-f', proxyFile], { stdio: 'ignore' })
    return cluster
  } catch (error) {
    console.error(newestLogs(members, folder))
    stop()
    throw error
  }
}

function newestLogs(members: readonly Host[], folder: string): string {
  return members.map(({ name }) => readFileSync(join(folder, `${name}.log`), 'utf8').slice(-3_000)).join('\n')
}

function memberOn(
  host: Host,
  { folder, user, values }: { folder: string; user: ReturnType<typeof serverUser>; values: Values },
): Member {
  const home = join(folder, host.name)
  const data = join(home, 'postgres')
  const log = join(folder, `${host.name}.log`)
  mkdirSync(home)
  writeFileSync(log, '')
  const filled = {
    ...values,
    NAME: host.name,
    ADDRESS: host.address.cluster,
    ETCD_DATA: join(home, 'etcd'),
    POSTGRES_BIN: binFolder(),
    POSTGRES_DATA: data,
    PATRONI_STATE: home,
    SUPERUSER_PASSWORD: PASSWORD,
    REPLICATION_PASSWORD: PASSWORD,
    REWIND_PASSWORD: PASSWORD,
    REST_PASSWORD: PASSWORD,
    ARCHIVE_COMMAND: '/bin/true',
  }
  for (const file of ['etcd.yml', 'patroni.yml']) writeFileSync(join(home, file), filledIn(file, filled))
  if (user)
    for (const path of [home, join(home, 'etcd.yml'), join(home, 'patroni.yml')]) chownSync(path, user.uid, user.gid)
  const client = (database = DATABASE) =>
    new pg.Client({
      host: host.address.service,
      user: 'postgres',
      password: PASSWORD,
      database,
      connectionTimeoutMillis: 1_000,
      query_timeout: 1_000,
    })
  return {
    ...host,
    client,
    async backends() {
      const session = client()
      session.on('error', () => {}) // of a server that ends while it is asked; the query fails by itself
      await session.connect()
      const { rows } = await session.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'verdigraph'",
      )
      await session.end()
      return rows.map(({ pid }) => pid)
    },
    start() {
      const env: Record<string, string> = arch() === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {}
      host.spawn([ETCD, '--config-file', join(home, 'etcd.yml')], { log, env })
      host.spawn([PATRONI, join(home, 'patroni.yml')], { log, env: { HOME: home } })
    },
    postmaster() {
      const file = join(data, 'postmaster.pid')
      const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0
      return pid > 0 && nameOf(pid) === 'postgres' ? pid : undefined
    },
    pidsOf: (...programs) => host.pids().filter((pid) => programs.some((program) => program === nameOf(pid))),
  }
}

/** Lets PostgreSQL release its shared memory, which it leaves behind when it is killed. */
function stopDatabase(member: Member): void {
  signalAll(member.pidsOf('patroni'), 'SIGKILL')
  signalAll(member.pids(), 'SIGCONT')
  const postmaster = member.postmaster()
  if (postmaster) signalAll([postmaster], 'SIGQUIT')
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return '' // it has ended
  }
}

function clusterOf(
  members: readonly Member[],
  { proxyPort, folder, stop }: { proxyPort: number; folder: string; stop: () => void },
): Cluster {
  const ask = async <T>({ address }: Member, path: string): Promise<T> => {
    const answer = await fetch(`http://${address.service}:8008/${path}`, { signal: AbortSignal.timeout(2_000) })
    return (await answer.json()) as T
  }
  /** Asks the members until one answers. */
  const states = async (): Promise<MemberState[]> => {
    for (const member of members)
      try {
        return (await ask<{ members: MemberState[] }>(member, 'cluster')).members
      } catch {
        // Another member may know.
      }
    return []
  }
  /** The member that answers to be the primary: what another one says of it may be old. */
  const leaders = async () => {
    const answers = await Promise.all(
      members.map(async (member) => {
        const url = `http://${member.address.service}:8008/primary`
        const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
        return answer?.status === 200
      }),
    )
    return members.filter((_, index) => answers[index])
  }
  const inRole = async (role: string) => {
    let found: Member | undefined
    await until(async () => {
      const state = (await states()).find((each) => each.role === role)
      found = members.find(({ name }) => name === state?.name)
      return found !== undefined
    }, `a member is ${role}`)
    return found!
  }
  const primary = async () => {
    let found: Member[] = []
    await until(async () => {
      found = await leaders()
      return found.length === 1
    }, 'one member is the primary')
    return found[0]!
  }
  /** Asks the primary, because what etcd says of a machine that was just cut off is as old as that. */
  const isWhole = async () => {
    const [leader, ...others] = await leaders()
    if (!leader || others.length > 0) return false
    const { replication = [] } = await ask<ServerState>(leader, 'patroni')
    const streaming = replication.filter(({ state }) => state === 'streaming')
    const synchronous = streaming.filter(({ sync_state }) => sync_state === 'sync')
    const { members: known } = await ask<{ members: MemberState[] }>(leader, 'cluster')
    const promotable = known.filter(({ role }) => role === 'sync_standby')
    return (
      streaming.length === members.length - 1 &&
      synchronous.length === 1 &&
      promotable.length === 1 &&
      promotable[0]!.name === synchronous[0]!.application_name
    )
  }
  const user = `${DATABASE}:${PASSWORD}`
  return {
    members,
    databaseUrls: {
      all: `postgresql://${user}@${members.map(({ address }) => `${address.service}:5432`).join(',')}/${DATABASE}`,
      proxied: `postgresql://${user}@127.0.0.1:${proxyPort}/${DATABASE}`,
    },
    primary,
    async switchOver() {
      const [leader, candidate] = [await primary(), await inRole('sync_standby')]
      const answer = await fetch(`http://${leader.address.service}:8008/switchover`, {
        method: 'POST',
        headers: { Authorization: `Basic ${Buffer.from(`patroni:${PASSWORD}`).toString('base64')}` },
        body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
      })
      if (answer.status !== 200) throw new Error(`the switchover was refused: ${await answer.text()}`)
    },
    untilWhole: () => until(() => isWhole().catch(() => false), 'the cluster is whole'),
    rewinds: () =>
      members.reduce((sum, { name }) => {
        const log = readFileSync(join(folder, `${name}.log`), 'utf8')
        return sum + (log.match(/running pg_rewind/g)?.length ?? 0)
      }, 0),
    logs: () => newestLogs(members, folder),
    stop,
  }
}

/** Creates the database and its user: Verdigraph needs no superuser. */
async function createDatabase(primary: Member): Promise<void> {
  const client = primary.client('postgres')
  await client.connect()
  await client.query(`CREATE ROLE ${DATABASE} LOGIN PASSWORD '${PASSWORD}'`)
  await client.query(`CREATE DATABASE ${DATABASE} OWNER ${DATABASE}`)
  await client.end()
}
