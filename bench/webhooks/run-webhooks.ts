import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { Pool } from 'undici'
import { createOrganization } from '../../server/src/admin/manage-organizations.ts'
import { addEndpoint } from '../../server/src/admin/manage-webhooks.ts'
import { readConfig } from '../../server/src/config.ts'
import { type Service, startService } from '../../server/src/service/start-service.ts'
import type { Effort, Measured } from '../bench.ts'
import { newDatabase } from '../load/bench-database.ts'
import type { Storage } from '../load/measured-service.ts'
import { undoable } from '../load/undo.ts'

const ACTOR = { type: 'system', id: 'bench' } as const
/** The dispatcher's own limit of deliveries in flight to one webhook endpoint. */
const CONNECTIONS = 32
const BODY_BYTES = 420

/** Starts a receiver on this machine that answers at once and counts its requests. */
async function startReceiver() {
  let received = 0
  let whenReached: (() => void) | undefined
  let goal = Number.POSITIVE_INFINITY
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(204).end()
      received += 1
      if (received >= goal) whenReached?.()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    /** Resolves once that many more requests have arrived. */
    more: (count: number) =>
      new Promise<void>((resolve) => {
        goal = received + count
        whenReached = resolve
      }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Deliveries in a pass: about a second's worth. */
const DELIVERIES = { postgres: 12_000, embedded: 4_000 }
const QUICK_DELIVERIES = 1_500
const EVENTS_PER_COMMIT = 500

type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Measures how many webhooks a node delivers per second, leased, signed and recorded, against bare POSTs. */
export async function runWebhooks(effort: Effort, storage: Storage): Promise<Measured> {
  const deliveries = effort.isQuick ? QUICK_DELIVERIES : DELIVERIES[storage]
  const passes = Math.min(effort.passes, 9)
  const receiver = await startReceiver()
  const database = storage === 'postgres' ? await newDatabase() : undefined
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-bench-'))
  const env = { DATA_DIR: dataDir, WEBHOOKS_ALLOW_LOOPBACK: 'true', ...(database && { DATABASE_URL: database.url }) }
  const service = await startService(readConfig(env), { logger: pino({ level: 'error' }), roles: ['worker'] })
  const pool = new Pool(receiver.url, { connections: CONNECTIONS })
  const stop = undoable(async () => {
    await pool.close()
    await service.close()
    receiver.close()
    rmSync(dataDir, { recursive: true, force: true })
    await database?.drop()
  })
  try {
    const organizationId = await subscribe(service.installation, receiver)
    const ours = () =>
      perSecond(deliveries, () => deliver(service.installation, { organizationId, receiver, deliveries }))
    const bare = () => perSecond(deliveries, () => postBare(pool, deliveries))
    await bare()
    await ours()
    const measured = { ours: [] as number[], bare: [] as number[] }
    for (let pass = 1; pass <= passes; pass++) {
      effort.say(`  pass ${pass} of ${passes}: ${deliveries} deliveries each`)
      measured.bare.push(await bare())
      measured.ours.push(await ours())
    }
    const rate = (values: number[]) => ({ unit: 'per second', better: 'higher' as const, values })
    return {
      series: { ours: rate(measured.ours), 'bare undici loop': rate(measured.bare) },
      notes: [
        'ours includes writing the events, leasing, signing and recording every attempt; sender, receiver and database share this machine',
      ],
    }
  } finally {
    await stop()
  }
}

/** Creates an organization whose test events go to the receiver, and returns its id. */
async function subscribe(installation: Service['installation'], { url }: Receiver): Promise<string> {
  const service = { by: ACTOR, channel: 'service' } as const
  const { id: organizationId } = await createOrganization(installation, service, `Bench ${url}`)
  const act = { ...service, organizationId, environment: 'sandbox' } as const
  await addEndpoint(installation, act, { url: `${url}/`, description: '', eventTypes: ['webhook.test'] })
  return organizationId
}

/** Writes events and waits until the receiver has got all of them. */
async function deliver(
  { stores, newId }: Service['installation'],
  { organizationId, receiver, deliveries }: { organizationId: string; receiver: Receiver; deliveries: number },
): Promise<void> {
  const event = () => ({
    id: newId('evt'),
    type: 'webhook.test' as const,
    created_at: new Date().toISOString(),
    data: JSON.stringify({ filler: 'x'.repeat(BODY_BYTES - 160) }),
  })
  const arrived = receiver.more(deliveries)
  for (let sent = 0; sent < deliveries; sent += EVENTS_PER_COMMIT) {
    const events = Array.from({ length: Math.min(EVENTS_PER_COMMIT, deliveries - sent) }, event)
    void stores.sandbox.commit({ organizationId, rows: { events } })
  }
  await arrived
}

/** Sends as many requests of the same size without a service. */
async function postBare(pool: Pool, count: number): Promise<void> {
  const body = 'x'.repeat(BODY_BYTES)
  const headers = { 'content-type': 'application/json' }
  let left = count
  const loop = async () => {
    while (left-- > 0) {
      const response = await pool.request({ method: 'POST', path: '/', headers, body })
      await response.body.dump()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, loop))
}

async function perSecond(count: number, run: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await run()
  return (count * 1000) / (performance.now() - startedMs)
}
