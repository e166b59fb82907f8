import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeasedDelivery } from '../store/environment/webhook-dispatch.ts'
import { HeldDeliveries, type HeldDelivery } from './held-deliveries.ts'

function deliveryTo(org_id: string, endpoint_id: string, event_id: string): LeasedDelivery {
  return {
    org_id,
    endpoint_id,
    event_id,
    cycle: 0,
    attempts: 0,
    schedule_step: 0,
    type: 'webhook.test',
    created_at: '2026-11-15T09:30:00.000Z',
    data: '{}',
  }
}

const due = (count: number, org_id = 'org') =>
  Array.from({ length: count }, (_, index) => ({ org_id, endpoint_id: `${org_id}-${index}`, failing: false }))

/** Leases everything that is planned, and starts as many attempts as the limits allow. */
function leaseAndStart(deliveries: HeldDeliveries, endpoints: ReturnType<typeof due>): HeldDelivery[] {
  const planned = deliveries.plan(endpoints)
  const leased = planned.flatMap(({ org_id, endpoint_id, count }) =>
    Array.from({ length: count }, (_, index) => deliveryTo(org_id, endpoint_id, `evt_${index}`)),
  )
  deliveries.add(planned, leased, Number.POSITIVE_INFINITY)
  const started: HeldDelivery[] = []
  deliveries.start(
    () => true,
    (delivery) => started.push(delivery),
  )
  return started
}

test('every webhook endpoint gets its first lease and attempt before any gets its second', () => {
  const started = leaseAndStart(new HeldDeliveries(), due(20))
  assert.equal(new Set(started.slice(0, 20).map(({ endpoint_id }) => endpoint_id)).size, 20)
})

test('a webhook endpoint that answers fast gets a reserve of leases, an unknown one does not', () => {
  const deliveries = new HeldDeliveries()
  const [first] = leaseAndStart(deliveries, due(1))
  assert.equal(deliveries.held, 8)
  deliveries.end(first!)
  deliveries.remove(first!)
  const planned = deliveries.plan(due(1))
  assert.ok(planned[0]!.count > 500, `${planned[0]!.count}`)
  deliveries.add(planned, [], 0)
  assert.equal(deliveries.held, 7, 'permits of leases that were not granted are released')
})

test('a delivery that is too late for its lease is removed and counted, not sent', () => {
  const deliveries = new HeldDeliveries()
  const planned = deliveries.plan(due(1))
  const late = [deliveryTo('org', 'org-0', 'evt_1'), deliveryTo('org', 'org-0', 'evt_2')]
  deliveries.add(planned, late, performance.now() - 1)
  const count = deliveries.start(
    () => true,
    () => assert.fail('too late'),
  )
  assert.deepEqual([count, deliveries.held, deliveries.endpoints().length], [2, 0, 0])
})

test('no permit leaks when deliveries are started, put back or removed', () => {
  const deliveries = new HeldDeliveries()
  const started = leaseAndStart(deliveries, [...due(5, 'a'), ...due(5, 'b')])
  assert.equal(deliveries.inFlight, started.length)
  const [withdrawn, ...others] = started
  deliveries.end(withdrawn!)
  deliveries.putBack(withdrawn!)
  const removed = deliveries.removeWaiting(({ org_id }) => org_id === withdrawn!.org_id)
  assert.ok(removed.includes(withdrawn!))
  for (const delivery of others) {
    deliveries.end(delivery)
    deliveries.remove(delivery)
  }
  deliveries.removeWaiting(() => true)
  assert.deepEqual([deliveries.held, deliveries.inFlight, deliveries.endpoints()], [0, 0, []])
})
