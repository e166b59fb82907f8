/** What may happen to a cluster. Each fault ends with all machines running and connected again. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { signalAll } from '../faults/signal-tree.ts'
import { until } from '../proof-run.ts'
import type { Cluster, Member } from './patroni-cluster.ts'

/** The lease of a primary and one loop of Patroni, as patroni.yml has them. */
const LEASE_MS = 24_000
/** For how long a frozen primary stays frozen once another one has taken over. */
const STILL_FROZEN_MS = 2_000
/** Answers that were under way have arrived by then. */
const ANSWERS_ARRIVE_MS = 1_000
/** How long a fault lasts that no other machine can make up for. */
const OUTAGE_MS = 8_000

function freeze(pids: readonly number[]): void {
  assert.ok(pids.length > 0)
  signalAll(pids, 'SIGSTOP')
}
const resume = (pids: readonly number[]) => signalAll(pids, 'SIGCONT')

/** Waits until another member has become the primary. */
function untilReplaced(cluster: Cluster, old: Member): Promise<void> {
  return until(async () => (await cluster.primary()) !== old, `${old.name} was replaced`)
}

/** Takes a machine off both networks, and ends all of its processes. */
function breakDown(member: Member): () => void {
  member.cut('cluster')
  member.cut('service')
  member.signal('SIGKILL')
  return () => {
    member.connect('cluster')
    member.connect('service')
    member.start()
  }
}

async function standbysOf(cluster: Cluster): Promise<Member[]> {
  const primary = await cluster.primary()
  return cluster.members.filter((member) => member !== primary)
}

/** Strikes a cluster; `written` counts the writes that were acknowledged so far. */
export type Strike = (cluster: Cluster, written: () => number) => Promise<void>

/** Something that may happen to a cluster. */
export interface Fault {
  what: string
  /** How often the long run has it. */
  usual: number
  strike: Strike
}

/** The faults by the names that `--faults` takes. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'primary-killed': {
    what: 'kill -9 of the primary',
    usual: 20,
    async strike(cluster) {
      const primary = await cluster.primary()
      const killed = primary.postmaster()!
      process.kill(killed, 'SIGKILL')
      // Patroni starts it again in place if its standby does not answer within two seconds, as on a busy machine.
      await until(async () => {
        const now = await cluster.primary()
        return now !== primary || (now.postmaster() ?? killed) !== killed
      }, `${primary.name} was replaced, or started again`)
    },
  },
  'machine-killed': {
    what: 'kill -9 of its whole machine',
    usual: 20,
    async strike(cluster) {
      const primary = await cluster.primary()
      const repair = breakDown(primary)
      await untilReplaced(cluster, primary)
      repair()
    },
  },
  frozen: {
    what: 'primary frozen for longer than its lease',
    usual: 20,
    async strike(cluster) {
      const primary = await cluster.primary()
      const frozen = primary.pids()
      freeze(frozen)
      await untilReplaced(cluster, primary)
      await sleep(STILL_FROZEN_MS)
      resume(frozen)
    },
  },
  'cut-off': {
    what: 'primary cut off from etcd and its standbys, not from its clients',
    usual: 20,
    async strike(cluster) {
      const primary = await cluster.primary()
      primary.cut('cluster')
      await untilReplaced(cluster, primary)
      primary.connect('cluster')
    },
  },
  switchover: {
    what: 'switchover',
    usual: 5,
    strike: (cluster) => cluster.switchOver(),
  },
  'standbys-gone': {
    what: 'standbys gone',
    usual: 5,
    async strike(cluster, written) {
      const frozen = (await standbysOf(cluster)).flatMap((member) => member.pidsOf('postgres', 'patroni'))
      freeze(frozen)
      await sleep(ANSWERS_ARRIVE_MS)
      const before = written()
      await sleep(OUTAGE_MS)
      assert.equal(written(), before, 'a write was acknowledged without a standby')
      resume(frozen)
    },
  },
  'etcd-gone': {
    what: 'etcd gone',
    usual: 5,
    async strike(cluster, written) {
      const primary = await cluster.primary()
      const frozen = cluster.members.flatMap((member) => member.pidsOf('etcd'))
      freeze(frozen)
      await sleep(LEASE_MS)
      const before = written()
      await sleep(ANSWERS_ARRIVE_MS)
      assert.ok(written() > before, 'writes go on without etcd')
      resume(frozen)
      assert.equal(await cluster.primary(), primary)
    },
  },
  // What the primary shows after its crash is on its own disk alone, and is gone with its machine. Its Patroni is frozen as well:
  // without a standby it would note that none may take over.
  crash: {
    what: 'crash and recovery in place, then loss of the machine',
    usual: 5,
    async strike(cluster) {
      const primary = await cluster.primary()
      const frozen = (await standbysOf(cluster)).flatMap((member) => member.pidsOf('postgres', 'patroni'))
      freeze([...frozen, ...primary.pidsOf('patroni')])
      await sleep(ANSWERS_ARRIVE_MS)
      const old = await primary.backends()
      process.kill(old[0]!, 'SIGKILL')
      await until(async () => {
        const now = await primary.backends().catch(() => [])
        return now.length > 0 && !now.some((pid) => old.includes(pid))
      }, 'the primary has recovered, and nodes ask it')
      await sleep(ANSWERS_ARRIVE_MS)
      const repair = breakDown(primary)
      resume(frozen)
      await untilReplaced(cluster, primary)
      repair()
    },
  },
}
