/** Overload degrades politely (promise 20): the node refuses at once what it cannot answer in time. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { firstRunKey, startServiceProcess } from '../tests/service-process.ts'
import { createTestStorage } from '../tests/test-storage.ts'
import { type Acknowledged, findLost, write } from './load/writing-clients.ts'
import { assertTime, reportFigures, trials } from './proof-run.ts'

const ROUND_MS = 2_000
const PAIRS = trials(2, 2)
/** Other work on this machine disturbs rounds: as many pairs more are tried until some are refused and one reaches the peak rate. */
const PAIRS_MAX = 2 * PAIRS + 4
const GOODPUT_MIN = 0.9
/** Enough clients to saturate a node, and few enough that it admits all of them. */
const CLIENTS_AT_PEAK = 100
/**
 * Clients that come back as soon as they are refused. A node admits what it answers in half a second, at least 128
 * requests: twice as many clients follow for as long as a fast one refuses nothing.
 */
const CLIENTS_OVERLOADING = 400
const CLIENTS_MAX = 3_200

/** Work for the service and none for the clients, which share the processors with it: else it is they who are overloaded. */
const METADATA = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`key_${n}`, 'x'.repeat(100)]))

const storage = await createTestStorage()
const service = await startServiceProcess({ ...storage.env, RATE_LIMIT_PER_SECOND: '1000000' })
after(async () => {
  await service.stop()
  await storage.remove()
})
const origin = `http://127.0.0.1:${service.ports.sandbox}`
const key = firstRunKey(storage.dataDir)
const acknowledged: Acknowledged = new Map()

test('overload is refused with Retry-After, costs little of the peak rate, and loses nothing', async (t) => {
  const round = (name: string, clients: number, pauseMs: number) =>
    write({
      origin,
      key,
      clients,
      name,
      pauseMs,
      metadata: METADATA,
      acknowledged,
      signal: AbortSignal.timeout(ROUND_MS),
    })
  await round('warm-up', CLIENTS_AT_PEAK, 0)
  const ratios: number[] = []
  let refused = 0
  let clients = CLIENTS_OVERLOADING
  const isUnproved = () => refused === 0 || Math.max(...ratios) < GOODPUT_MIN
  // Rounds alternate, so that other work on this machine disturbs both kinds alike.
  for (let pair = 0; pair < PAIRS || (pair < PAIRS_MAX && isUnproved()); pair++) {
    const peak = await round(`peak-${pair}`, CLIENTS_AT_PEAK, 0)
    // A refused client pauses for a moment instead of the second that Retry-After asks for.
    const over = await round(`over-${pair}`, clients, 5)
    assert.deepEqual([...peak.impolite, ...over.impolite].slice(0, 3), [])
    refused += over.refused
    if (over.refused === 0) clients = Math.min(2 * clients, CLIENTS_MAX)
    ratios.push(over.created / over.seconds / (peak.created / peak.seconds))
  }
  assert.ok(refused > 0, 'the clients did not overload the service')
  const best = Math.max(...ratios)
  assertTime(
    t,
    best >= GOODPUT_MIN,
    `goodput under overload as a share of the peak: ${ratios.map((ratio) => ratio.toFixed(2))}`,
  )
  const lost = await findLost({ origin, key, acknowledged })
  assert.deepEqual(lost, [])
  reportFigures(
    t,
    `${acknowledged.size} acknowledged, ${refused} refused, goodput ${(best * 100).toFixed(0)} % of peak, 0 lost`,
  )
})
