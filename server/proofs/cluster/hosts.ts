/** Machines of a cluster, as network namespaces of this one: they can be cut off from each other for real. */
import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { signalAll } from '../faults/signal-tree.ts'

/** What the machines of a run have in their names, followed by the id of its process. */
const PREFIX = 'vg'

const ip = (...args: string[]) =>
  execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** Why machines cannot be made here; undefined if they can. */
export function whyNoHosts(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root, to make network namespaces'
  const name = `${PREFIX}${process.pid}-try`
  try {
    ip('netns', 'add', name)
    ip('netns', 'del', name)
    ip('link', 'add', `${PREFIX}${process.pid}t`, 'type', 'bridge')
    ip('link', 'del', `${PREFIX}${process.pid}t`)
    return undefined
  } catch {
    return 'needs network namespaces and bridges (ip netns add)'
  }
}

/** The two networks of a machine: the machines of the cluster among themselves, and clients to them. */
export type Network = 'cluster' | 'service'

/** A machine. */
export interface Host {
  name: string
  address: Record<Network, string>
  /** Starts a process on it, whose output is appended to a file. */
  spawn(command: readonly string[], options: { log: string; env?: Record<string, string> }): void
  /** Takes its cable off a network. */
  cut(network: Network): void
  connect(network: Network): void
  /** The processes on it. */
  pids(): number[]
  signal(signal: NodeJS.Signals): void
}

/** The machines of a run, and a network that this process reaches them by. */
export interface Hosts {
  hosts: readonly Host[]
  /** All addresses of both networks. */
  range: string
  remove(): void
}

/** Makes machines with these names; their processes run as a user. */
export function createHosts(names: readonly string[], user: { uid: number; gid: number } | undefined): Hosts {
  removeAbandoned()
  const run = `${PREFIX}${process.pid}`
  // Of the addresses for benchmarks of networks (198.18.0.0/15, RFC 2544), so that they are no machine's.
  const subnet = `198.18.${process.pid % 256}`
  const bridges: Record<Network, string> = { cluster: `${run}c`, service: `${run}s` }
  const last: Record<Network, number> = { cluster: 0, service: 64 }
  for (const bridge of Object.values(bridges)) {
    ip('link', 'add', bridge, 'type', 'bridge')
    ip('link', 'set', bridge, 'up')
  }
  ip('addr', 'add', `${subnet}.126/26`, 'dev', bridges.service)

  const hosts = names.map((name, index): Host => {
    const namespace = `${run}-${name}`
    ip('netns', 'add', namespace)
    const inside = ['-n', namespace]
    ip(...inside, 'link', 'set', 'lo', 'up')
    const cables = Object.entries(bridges).map(([network, bridge]) => {
      const cable = `${bridge}${index}`
      ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', network, 'netns', namespace)
      ip('link', 'set', cable, 'master', bridge, 'up')
      const address = `${subnet}.${last[network as Network] + index + 1}`
      ip(...inside, 'addr', 'add', `${address}/26`, 'dev', network)
      ip(...inside, 'link', 'set', network, 'up')
      return [network, { cable, address }] as const
    })
    const { cluster, service } = Object.fromEntries(cables) as Record<Network, { cable: string; address: string }>
    const cableOf = { cluster: cluster.cable, service: service.cable }
    const identity = user ? [`--setuid=${user.uid}`, `--setgid=${user.gid}`] : []
    const pids = () => (existsSync(`/var/run/netns/${namespace}`) ? ip('netns', 'pids', namespace) : '')
    const allPids = () => pids().split('\n').filter(Boolean).map(Number)
    return {
      name,
      address: { cluster: cluster.address, service: service.address },
      spawn(command, { log, env = {} }) {
        const child = spawn('nsenter', [`--net=/var/run/netns/${namespace}`, ...identity, ...command], {
          cwd: '/',
          env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => appendFileSync(log, data))
      },
      cut: (network) => void ip('link', 'set', cableOf[network], 'down'),
      connect: (network) => void ip('link', 'set', cableOf[network], 'up'),
      pids: allPids,
      signal: (signal) => signalAll(allPids(), signal),
    }
  })
  return { hosts, range: `${subnet}.0/25`, remove: () => removeRun(run) }
}

/** Removes the machines of runs that were killed. */
export function removeAbandoned(): void {
  if (!existsSync('/sys/class/net')) return
  const runs = [
    ...readdirSync('/sys/class/net'),
    ...(existsSync('/var/run/netns') ? readdirSync('/var/run/netns') : []),
  ]
    .map((name) => new RegExp(`^${PREFIX}(\\d+)`).exec(name)?.[1])
    .filter((pid) => pid !== undefined && !isRunning(pid))
  for (const pid of new Set(runs)) removeRun(`${PREFIX}${pid}`)
}

/** Whether a process runs: one that was killed may still wait for its parent to notice. */
function isRunning(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat[stat.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}

function removeRun(run: string): void {
  const namespaces = existsSync('/var/run/netns') ? readdirSync('/var/run/netns') : []
  for (const namespace of namespaces.filter((name) => name.startsWith(`${run}-`))) {
    signalAll(ip('netns', 'pids', namespace).split('\n').filter(Boolean).map(Number), 'SIGKILL')
    ip('netns', 'del', namespace)
  }
  for (const bridge of readdirSync('/sys/class/net').filter((name) => new RegExp(`^${run}[cs]$`).test(name)))
    ip('link', 'del', bridge)
}
