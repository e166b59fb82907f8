import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/database.ts'

/** The job that a lease is for, the node that wants it, and its TTL. */
export interface LeaseTerms {
  name: string
  holder: string
  seconds: number
}

/** The pauses of a node that waits for a lease double from the first to the last. */
const PAUSE_MS = 25
const PAUSE_MS_MAX = 1_000

const RENEWALS_PER_TTL = 3

/** A lease on a job that one node at a time does. The lease of a node that dies expires after its TTL. */
export class Lease {
  readonly #database: Database
  readonly #terms: LeaseTerms
  #renewAtMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #renewal: Promise<unknown> = Promise.resolve()

  constructor(database: Database, terms: LeaseTerms) {
    this.#database = database
    this.#terms = terms
  }

  /** Whether this node holds the lease; acquires or renews it if half of the TTL has passed since the last renewal. */
  async isHeld(): Promise<boolean> {
    const nowMs = performance.now()
    if (nowMs < this.#renewAtMs) return true
    const isAcquired = await acquireLease(this.#database, this.#terms)
    this.#renewAtMs = isAcquired ? nowMs + this.#terms.seconds * 500 : Number.NEGATIVE_INFINITY
    return isAcquired
  }

  /** Waits until the lease is free and acquires it; false if another node holds it for all that time. */
  async acquireWithin(ms: number, pause: (ms: number) => Promise<unknown> = sleep): Promise<boolean> {
    const deadline = performance.now() + ms
    for (let pauseMs = PAUSE_MS; !(await this.isHeld()); pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      if (performance.now() >= deadline) return false
      // Jitter, so that nodes that wait for one lease do not ask at the same moments.
      await pause(pauseMs * (0.5 + Math.random() / 2))
    }
    return true
  }

  /** Renews the lease by a timer until it is released, for work that cannot ask between its steps. */
  keepRenewed(): void {
    const renew = () => {
      // A renewal that fails is repeated by the next one, before the lease ends.
      this.#renewal = acquireLease(this.#database, this.#terms).catch(() => {})
    }
    this.#timer = setInterval(renew, (this.#terms.seconds * 1_000) / RENEWALS_PER_TTL).unref()
  }

  /** Releases the lease, so that the next node need not wait until it expires. */
  async release(): Promise<void> {
    clearInterval(this.#timer)
    // A renewal that is under way would acquire the lease again after its end.
    await this.#renewal
    this.#renewAtMs = Number.NEGATIVE_INFINITY
    await this.#database.query('DELETE FROM leases WHERE name = $1 AND holder = $2', [
      this.#terms.name,
      this.#terms.holder,
    ])
  }
}

/** Deletes leases that expired a day ago: leases on single requests, whose node died. */
export async function deleteExpiredLeases(database: Database): Promise<void> {
  await database.query("DELETE FROM leases WHERE leased_until < now() - interval '1 day'")
}

/** Whether another node than this one holds a lease. */
export async function isLeasedElsewhere(
  database: Database,
  { name, holder }: Omit<LeaseTerms, 'seconds'>,
): Promise<boolean> {
  const rows = await database.query('SELECT 1 FROM leases WHERE name = $1 AND holder <> $2 AND leased_until > now()', [
    name,
    holder,
  ])
  return rows.length > 0
}

async function acquireLease(database: Database, { name, holder, seconds }: LeaseTerms): Promise<boolean> {
  const rows = await database.query(
    `INSERT INTO leases (name, holder, leased_until) VALUES ($1, $2, now() + make_interval(secs => $3))
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until
       WHERE leases.holder = excluded.holder OR leases.leased_until <= now()
     RETURNING 1`,
    [name, holder, seconds],
  )
  return rows.length > 0
}
