import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { DatabaseUnavailable } from './database.ts'

/**
 * How long the other servers may still answer once one has said that it is the primary. A primary that was cut off says so
 * too, until it notices; the one that took over from it is on a later timeline.
 */
const OTHERS_WITHIN_MS = 250

/** How soon a server that is read-only is asked again, as long as others have not answered: it may be about to take over. */
const ASK_AGAIN_MS = 250

/** SQLSTATE of a server that is read-only, as a standby is. */
export const READ_ONLY = '25006'

/** SQL: the timeline of a server that accepts writes, as eight hexadecimal digits; NULL on one that is read-only, as a standby is. */
export const TIMELINE = `CASE WHEN pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END`

/** A server that accepts writes, and the timeline of its history: each failover begins a later one. */
export interface Primary {
  url: string
  timeline: string
}

/**
 * Asks all servers of a cluster at once, and returns the one that accepts writes. One on an earlier timeline than `since` has
 * been replaced, and does not know yet.
 */
export async function findPrimary(
  urls: readonly string[],
  { withinMs, since = '' }: { withinMs: number; since?: string | undefined },
): Promise<Primary> {
  const primaries: Primary[] = []
  const faults = urls.map(() => 'no answer')
  let readOnly = 0
  const unanswered = new Set(urls)
  const sockets: Socket[] = []
  let isOver = false
  const asked = urls.map(async (url, index) => {
    for (;;) {
      let timeline: string | null
      try {
        timeline = await timelineOf(url, { withinMs, sockets })
      } catch (error) {
        faults[index] = error instanceof Error && error.message ? error.message : 'no answer'
        break
      } finally {
        unanswered.delete(url)
      }
      if (timeline !== null && timeline >= since) return primaries.push({ url, timeline })
      if (timeline === null && unanswered.size > 0) {
        await sleep(ASK_AGAIN_MS)
        if (isOver) break
        continue
      }
      if (timeline === null) readOnly += 1
      faults[index] = timeline === null ? 'it is read-only' : `its timeline ${timeline} ended before ${since} began`
      break
    }
    throw new Error('not the primary')
  })
  const all = Promise.allSettled(asked)
  await Promise.any(asked).catch(() => {})
  if (primaries.length > 0) await Promise.race([all, sleep(OTHERS_WITHIN_MS)])
  isOver = true
  // A server that has not answered by now has a connection that would keep the process alive.
  for (const socket of sockets) socket.destroy()
  if (primaries.length === 0) {
    const each = urls.map((url, index) => `${new URL(url).host}: ${faults[index]}`)
    throw new DatabaseUnavailable(`no server accepts writes (${each.join('; ')})`, {
      code: readOnly === urls.length ? READ_ONLY : undefined,
    })
  }
  return primaries.reduce((newest, each) => (each.timeline > newest.timeline ? each : newest))
}

/** The timeline of a server that accepts writes; null for one that is read-only. */
async function timelineOf(
  url: string,
  { withinMs, sockets }: { withinMs: number; sockets: Socket[] },
): Promise<string | null> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
    application_name: 'verdigraph',
    stream: () => {
      const socket = new Socket()
      sockets.push(socket)
      return socket
    },
  })
  // Without a listener, a connection that breaks later would end the process; the query in flight fails by itself.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<{ timeline: string | null }>(`SELECT ${TIMELINE} AS timeline`)).rows[0]!.timeline
  } finally {
    client.end().catch(() => {}) // its socket is destroyed with the others
  }
}
