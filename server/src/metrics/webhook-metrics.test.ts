import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { WebhookFigures } from '../store/environment/webhooks.ts'
import { createWebhookMeter } from './webhook-metrics.ts'

type Installation = Parameters<typeof createWebhookMeter>[1]

function installationWith(figures: () => Promise<WebhookFigures>): Installation {
  const store = { webhooks: { figures } }
  return {
    stores: { sandbox: store, production: store },
    nowMs: () => 0,
  } as unknown as Installation
}

test('metrics of this node are served while the database is away', async () => {
  const registry = new Registry()
  const away = installationWith(async () => {
    throw new DatabaseUnavailable('connection refused')
  })
  createWebhookMeter(registry, away)('sandbox').onLeasesLost(3)
  const text = await registry.metrics()
  assert.match(text, /verdigraph_webhook_leases_lost_total\{environment="sandbox"\} 3/)
  assert.doesNotMatch(text, /verdigraph_webhook_deliveries_pending\{/)
})

test('scrapes in quick succession ask the database for the backlog once', async () => {
  const registry = new Registry()
  let queries = 0
  const counting = installationWith(async () => {
    queries += 1
    return { pending: 7, oldest_due_at: null, endpoints: { well: 1, failing: 0, disabled: 0 } }
  })
  createWebhookMeter(registry, counting)
  assert.match(await registry.metrics(), /verdigraph_webhook_deliveries_pending\{environment="sandbox"\} 7/)
  await registry.metrics()
  assert.equal(queries, 2, 'one query for each environment')
})
