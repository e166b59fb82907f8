import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { Pool } from 'undici'
import { createOrganization } from '../../server/src/admin/manage-organizations.ts'
import { addEndpoint } from '../../server/src/admin/manage-webhooks.ts'
import { readConfig } from '../../server/src/config.ts'
import { startService } from '../../server/src/service/start-service.ts'
import type { Effort, Measured } from '../bench.ts'
import { newDatabase } from '../load/bench-database.ts'
import type { Storage } from '../load/measured-service.ts'
import { undoable } from '../load/undo.ts'

const ACTOR = { type: 'system', id: 'bench' } as const
/** As many as the dispatcher sends to one endpoint at once. */
const CONNECTIONS = 32
const BODY_BYTES = 420

/** A receiver on this machine that answers at once and counts what it got. */
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
    /** Resolves once that many more have come. */
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

/** Deliveries in a pass: about as many as take a second. */
const DELIVERIES = { postgres: 12_000, embedded: 4_000 }
const QUICK_DELIVERIES = 1_500

/** Measures how many webhooks a node delivers per second, leased, signed and recorded, against bare POSTs. */
export async function runWebhooks(effort: Effort, storage: Storage): Promise<Measured> {
  const deliveries = effort.isQuick ? QUICK_DELIVERIES : DELIVERIES[storage]
  const passes = Math.min(effort.passes, 9)
  const receiver = await startReceiver()
  const database = storage === 'postgres' ? await newDatabase() : undefined
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-bench-'))
  const env = { DATA_DIR: dataDir, WEBHOOKS_ALLOW_LOOPBACK: 'true', ...(database && { DATABASE_URL: database.url }) }
  const service = await startService(readConfig(env), { logger: pino({ level: 'error' }), roles: ['worker'] })
  const stop = undoable(async () => {
    await service.close()
    receiver.close()
    rmSync(dataDir, { recursive: true, force: true })
    await database?.drop()
  })
  try {
    const { installation } = service
    const { id: organizationId } = await createOrganization(installation, { name: 'Bench', actor: ACTOR })
    const act = { organizationId, environment: 'sandbox' as const, actor: ACTOR }
    const added = await addEndpoint(installation, act, {
      url: `${receiver.url}/`,
      description: '',
      eventTypes: ['webhook.test'],
    })
    if ('problem' in added) throw new Error(added.problem)

    const event = () => ({
      org_id: organizationId,
      id: installation.newId('evt'),
      type: 'webhook.test',
      created_at: new Date().toISOString(),
      data: JSON.stringify({ filler: 'x'.repeat(BODY_BYTES - 160) }),
    })
    const ours = async () => {
      const arrived = receiver.more(deliveries)
      const started = performance.now()
      for (let sent = 0; sent < deliveries; sent += 500) {
        const events = Array.from({ length: Math.min(500, deliveries - sent) }, event)
        void installation.stores.sandbox.commit({ rows: { events } })
      }
      await arrived
      return deliveries / ((performance.now() - started) / 1000)
    }
    const pool = new Pool(receiver.url, { connections: CONNECTIONS })
    const bare = async () => {
      const started = performance.now()
      let left = deliveries
      const body = 'x'.repeat(BODY_BYTES)
      const loop = async () => {
        while (left-- > 0)
          await (
            await pool.request({ method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body })
          ).body.dump()
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, loop))
      return deliveries / ((performance.now() - started) / 1000)
    }

    await bare()
    await ours()
    const series = { ours: [] as number[], bare: [] as number[] }
    for (let pass = 0; pass < passes; pass++) {
      effort.say(`  pass ${pass + 1} of ${passes}: ${deliveries} deliveries each`)
      series.bare.push(await bare())
      series.ours.push(await ours())
    }
    await pool.close()
    const rate = (values: number[]) => ({ unit: 'per second', better: 'higher' as const, values })
    return {
      series: { ours: rate(series.ours), 'bare undici loop': rate(series.bare) },
      notes: [
        'ours includes writing the events, leasing, signing and recording every attempt; sender, receiver and database share this machine',
      ],
    }
  } finally {
    await stop()
  }
}
