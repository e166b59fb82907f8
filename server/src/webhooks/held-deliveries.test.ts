import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeasedDelivery } from '../store/queries/webhook-dispatch.ts'
import { HeldDeliveries, type HeldDelivery } from './held-deliveries.ts'

function deliveryTo(org_id: string, endpoint_id: string, event_id: string): LeasedDelivery {
  return {
    ...{ org_id, endpoint_id, event_id, round: 0, attempts: 0, schedule_step: 0 },
    ...{ type: 'webhook.test', created_at: '2026-11-15T09:30:00.000Z', data: '{}' },
  }
}

const due = (count: number, org_id = 'org') =>
  Array.from({ length: count }, (_, index) => ({ org_id, endpoint_id: `${org_id}-${index}`, failing: false }))

/** Leases all that is planned, and begins what there is room for. */
function leaseAndBegin(deliveries: HeldDeliveries, endpoints: ReturnType<typeof due>): HeldDelivery[] {
  const wanted = deliveries.plan(endpoints)
  const leased = wanted.flatMap(({ org_id, endpoint_id, count }) =>
    Array.from({ length: count }, (_, index) => deliveryTo(org_id, endpoint_id, `evt_${index}`)),
  )
  deliveries.add(wanted, leased, Number.POSITIVE_INFINITY)
  const begun: HeldDelivery[] = []
  deliveries.begin(
    () => true,
    (delivery) => begun.push(delivery),
  )
  return begun
}

test('one of each endpoint is leased and begun before the second of any', () => {
  const begun = leaseAndBegin(new HeldDeliveries(), due(20))
  assert.equal(new Set(begun.slice(0, 20).map(({ endpoint_id }) => endpoint_id)).size, 20)
})

test('an endpoint that answers quickly gets a reserve, one that nothing is known of does not', () => {
  const deliveries = new HeldDeliveries()
  const [first] = leaseAndBegin(deliveries, due(1))
  assert.equal(deliveries.held, 8)
  deliveries.end(first!)
  deliveries.letGo(first!)
  const wanted = deliveries.plan(due(1))
  assert.ok(wanted[0]!.count > 500, `${wanted[0]!.count}`)
  deliveries.add(wanted, [], 0)
  assert.equal(deliveries.held, 7, 'room that was set aside is given back')
})

test('what comes too late for its lease is let go, and counted', () => {
  const deliveries = new HeldDeliveries()
  const wanted = deliveries.plan(due(1))
  const late = [deliveryTo('org', 'org-0', 'evt_1'), deliveryTo('org', 'org-0', 'evt_2')]
  deliveries.add(wanted, late, performance.now() - 1)
  const count = deliveries.begin(
    () => true,
    () => assert.fail('too late'),
  )
  assert.deepEqual([count, deliveries.held, deliveries.endpoints().length], [2, 0, 0])
})

test('everything that is begun, put back, dismissed or let go is accounted for', () => {
  const deliveries = new HeldDeliveries()
  const begun = leaseAndBegin(deliveries, [...due(5, 'a'), ...due(5, 'b')])
  assert.equal(deliveries.inFlight, begun.length)
  const [withdrawn, ...others] = begun
  deliveries.end(withdrawn!)
  deliveries.putBack(withdrawn!)
  const dismissed = deliveries.dismiss(({ org_id }) => org_id === withdrawn!.org_id)
  assert.ok(dismissed.includes(withdrawn!))
  for (const delivery of others) {
    deliveries.end(delivery)
    deliveries.letGo(delivery)
  }
  deliveries.dismiss(() => true)
  assert.deepEqual([deliveries.held, deliveries.inFlight, deliveries.endpoints()], [0, 0, []])
})
