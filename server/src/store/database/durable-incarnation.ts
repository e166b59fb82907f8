import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseUnavailable } from './database.ts'

/** A connection that can wait until all commits before have reached the standbys. */
export interface ConfirmingConnection {
  /** The incarnation of its server: its start, its last recovery and its timeline. */
  incarnation: string
  /** Resolves once a write that began now has reached a standby; rejects if that will not be known. */
  confirm: () => Promise<void>
  /** Closes the connection; called once at most. */
  close: () => void
}

/**
 * Knows which incarnation of the server shows only rows that have reached its standbys. After a crash, a server shows all that is on
 * its own disk, also what no standby has received and a failover takes away; so does a commit whose fate is unknown.
 *
 * unknown ── first connection ──▶ confirming ── the write reached a standby ──▶ durable
 *    ▲                                │                                          │
 *    └──── the connection broke ──────┴───────── a commit of unknown fate ───────┘
 *
 * One write at a time is waited for, without a limit: the server process of a write that waits for a standby does not notice that its
 * client has gone, so each that was given up would leave a process behind, until the server accepts no more connections.
 */
export class DurableIncarnation {
  #durable: string | undefined
  #unknownCommits = 0
  #abandoned = 0
  #confirming: Confirming | undefined

  /** The incarnation whose rows have all reached the standbys; undefined while none is known. */
  get known(): string | undefined {
    return this.#durable
  }

  /** Notes a commit whose fate is unknown: it may be visible although no standby has it. */
  noteUnknownCommit(): void {
    this.#unknownCommits += 1
    this.#durable = undefined
  }

  /**
   * Resolves once all that the server of a connection showed before has reached its standbys; rejects after a time. The connection
   * that waits for the write stays open for it then, and closes afterwards; any other is closed.
   */
  async require(connection: ConfirmingConnection, withinMs: number): Promise<void> {
    const patience = new AbortController()
    const isLate = sleep(withinMs, undefined, { signal: patience.signal }).then(() => {
      throw new DatabaseUnavailable('no standby has confirmed what the server shows since its start')
    })
    isLate.catch(() => {}) // it is aborted once it is no longer waited for
    const abandoned = this.#abandoned
    try {
      while (connection.incarnation !== this.#durable) {
        // A write on the server that was left could keep those on the next one waiting for ever.
        if (abandoned !== this.#abandoned) throw new DatabaseUnavailable('its server is no longer the primary')
        this.#confirming ??= this.#confirm(connection)
        await Promise.race([this.#confirming.ended, isLate])
      }
    } catch (error) {
      if (this.#confirming?.by === connection) this.#confirming.isLeft = true
      else connection.close()
      throw error
    } finally {
      patience.abort()
    }
  }

  /** Waits no longer for the write, because its server is no longer the primary. */
  abandon(): void {
    this.#abandoned += 1
    const confirming = this.#confirming
    this.#confirming = undefined
    if (confirming?.isLeft) confirming.by.close()
  }

  #confirm(by: ConfirmingConnection): Confirming {
    const unknownCommits = this.#unknownCommits
    const confirming: Confirming = {
      by,
      isLeft: false,
      ended: by.confirm().then(() => {
        // A commit that began to be unknown meanwhile may be later than the write.
        if (this.#confirming === confirming && unknownCommits === this.#unknownCommits) this.#durable = by.incarnation
      }),
    }
    const end = () => {
      if (this.#confirming !== confirming) return
      this.#confirming = undefined
      if (confirming.isLeft) by.close()
    }
    confirming.ended.then(end, end)
    return confirming
  }
}

/** A write that is waited for. */
interface Confirming {
  by: ConfirmingConnection
  ended: Promise<void>
  /** Whether its caller has given up, so that its connection serves nothing else. */
  isLeft: boolean
}
