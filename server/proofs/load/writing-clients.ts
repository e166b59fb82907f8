/** Clients that write through the API of a service process and remember what it acknowledged. */
import { Pool } from 'undici'

/** Keeps what the service acknowledged: for each external id, the id of its entity. */
export type Acknowledged = Map<string, string>

/** What the clients of one round got. */
export interface Round {
  sent: number
  created: number
  refused: number
  /** Refusals without a Retry-After header, and answers that are neither 201, 429 nor 503. */
  impolite: string[]
  /** Requests whose connection broke before an answer: whether they were written is unknown. */
  broken: number
  seconds: number
}

/** How to write: for how long, with how many clients at a time, and with a pause of each after an answer. */
export interface Writing {
  origin: string
  key: string
  clients: number
  /** Ends the round. */
  signal: AbortSignal
  /** Makes external ids unique between rounds. */
  name: string
  pauseMs?: number
  /** What each entity has besides its id. */
  metadata?: Record<string, string>
  acknowledged: Acknowledged
}

/** Creates entities with this many clients until the signal, and adds every acknowledged one to `acknowledged`. */
export async function write({
  origin,
  key,
  clients,
  signal,
  name,
  pauseMs = 0,
  metadata = {},
  acknowledged,
}: Writing): Promise<Round> {
  const pool = new Pool(origin, { connections: clients })
  const round: Round = { sent: 0, created: 0, refused: 0, impolite: [], broken: 0, seconds: 0 }
  const metadataJson = JSON.stringify(metadata)
  const begun = performance.now()
  const create = async () => {
    const externalId = `${name}-${round.sent++}`
    const answer = await pool.request({
      method: 'POST',
      path: '/v1/entities',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: `{"external_id":${JSON.stringify(externalId)},"metadata":${metadataJson}}`,
    })
    const text = await answer.body.text()
    if (answer.statusCode === 201) {
      acknowledged.set(externalId, (JSON.parse(text) as { id: string }).id)
      round.created++
    } else if ((answer.statusCode === 503 || answer.statusCode === 429) && answer.headers['retry-after'])
      round.refused++
    else round.impolite.push(`${answer.statusCode} ${text}`)
  }
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (!signal.aborted) {
        await create().catch(() => round.broken++)
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }),
  )
  round.seconds = (performance.now() - begun) / 1000
  await pool.destroy()
  return round
}

/** Asks the service for every acknowledged entity, and returns the external ids that it does not know as they were. */
export async function findLost({
  origin,
  key,
  acknowledged,
}: Pick<Writing, 'origin' | 'key' | 'acknowledged'>): Promise<string[]> {
  const pool = new Pool(origin, { connections: 8 })
  const lost: string[] = []
  const left = [...acknowledged]
  const check = async (externalId: string, id: string) => {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: `/v1/entities/${id}`,
      headers: { authorization: `Bearer ${key}` },
    })
    const text = await body.text()
    if (statusCode === 503 || statusCode === 429) left.push([externalId, id])
    else if (statusCode !== 200 || JSON.parse(text).external_id !== externalId) lost.push(externalId)
  }
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = left.pop(); next; next = left.pop()) await check(...next)
    }),
  )
  await pool.destroy()
  return lost
}
