import type { Database } from '../database/database.ts'

/** What a lease is on, who wants it, and how long it holds. */
export interface LeaseTerms {
  name: string
  holder: string
  seconds: number
}

/** A job that one node at a time does. A node that dies loses it when its time runs out. */
export class Lease {
  readonly #database: Database
  readonly #terms: LeaseTerms
  #renewAtMs = Number.NEGATIVE_INFINITY

  constructor(database: Database, terms: LeaseTerms) {
    this.#database = database
    this.#terms = terms
  }

  /** Whether this node has the job now. The database is asked only when half of the time has passed. */
  async isHeld(): Promise<boolean> {
    const nowMs = performance.now()
    if (nowMs < this.#renewAtMs) return true
    const isTaken = await takeLease(this.#database, this.#terms)
    this.#renewAtMs = isTaken ? nowMs + this.#terms.seconds * 500 : Number.NEGATIVE_INFINITY
    return isTaken
  }

  /** Gives the job back, so that the next node need not wait for the time to run out. */
  async release(): Promise<void> {
    this.#renewAtMs = Number.NEGATIVE_INFINITY
    await this.#database.query('DELETE FROM leases WHERE name = $1 AND holder = $2', [
      this.#terms.name,
      this.#terms.holder,
    ])
  }
}

async function takeLease(database: Database, { name, holder, seconds }: LeaseTerms): Promise<boolean> {
  const rows = await database.query(
    `INSERT INTO leases (name, holder, leased_until) VALUES ($1, $2, now() + make_interval(secs => $3))
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until
       WHERE leases.holder = excluded.holder OR leases.leased_until <= now()
     RETURNING 1`,
    [name, holder, seconds],
  )
  return rows.length > 0
}
