import { setTimeout as sleep } from 'node:timers/promises'
import type { Member } from './patroni-cluster.ts'

const EVERY_MS = 100
/** A message in the log that waits for the standbys as a commit does, and changes nothing. */
const WRITE = "SELECT pg_logical_emit_message(true, 'durable-writes', '')"

/**
 * Durable writes to every server of a cluster, over connections of their own: when PostgreSQL itself accepts them is what the
 * service is compared with.
 */
export class DurableWrites {
  /** When writes succeeded, on any server. */
  readonly times: number[] = []
  readonly #writers: Promise<void>[]
  #isOver = false

  constructor(members: readonly Member[]) {
    this.#writers = members.map((member) => this.#writeTo(member))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#writers)
  }

  async #writeTo(member: Member): Promise<void> {
    while (!this.#isOver) {
      const client = member.client()
      // A wait for a standby that was cancelled is no durable write.
      let isDurable = true
      client.on('notice', () => {
        isDurable = false
      })
      client.on('error', () => {})
      try {
        await client.connect()
        while (!this.#isOver) {
          await client.query(WRITE)
          if (isDurable) this.times.push(performance.now())
          await sleep(EVERY_MS)
        }
      } catch {
        await sleep(EVERY_MS)
      }
      client.end().catch(() => {})
    }
  }
}
