import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Pace, Room } from './room.ts'

const BOUNDS = { inAll: 256, unproven: 192, slow: 128, perEndpoint: { quick: 32, unknown: 8, slow: 32 } }

/** Has endpoints take all they get, one each in turn, and returns what each has. */
function fill(room: Room, endpoints: readonly { org_id: string; pace: Pace }[]): number[] {
  const taken = endpoints.map(() => 0)
  let open = endpoints.map((_, index) => index)
  while (open.length > 0) {
    open = open.filter((index) => {
      if (!room.hasPlace(endpoints[index]!, taken[index]!)) return false
      room.take(endpoints[index]!)
      taken[index]! += 1
      return true
    })
  }
  return taken
}

function endpointsOf(organizations: number, each: number, pace: Pace) {
  return Array.from({ length: organizations * each }, (_, index) => ({ org_id: `org_${index % organizations}`, pace }))
}

test('however many endpoints are slow, there is room for a new one and for quick ones', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 50 }), (organizations, each) => {
      const room = new Room(BOUNDS)
      fill(room, endpointsOf(organizations, each, 'slow'))
      assert.ok(room.taken <= BOUNDS.slow)
      assert.ok(room.hasPlace({ org_id: 'another', pace: 'unknown' }, 0))
      fill(room, endpointsOf(organizations, each, 'unknown'))
      assert.ok(room.taken <= BOUNDS.unproven)
      assert.ok(room.hasPlace({ org_id: 'another', pace: 'quick' }, 0))
    }),
  )
})

test('a hundred organizations that want everything leave room for the next, whatever their endpoints are like', () => {
  for (const pace of ['slow', 'unknown', 'quick'] as const) {
    const room = new Room(BOUNDS)
    fill(room, endpointsOf(100, 50, pace))
    assert.ok(room.hasPlace({ org_id: 'another', pace }, 0), pace)
  }
})

test('one endpoint alone is bounded, and so is one organization', () => {
  assert.deepEqual(fill(new Room(BOUNDS), [{ org_id: 'a', pace: 'quick' }]), [32])
  assert.deepEqual(fill(new Room(BOUNDS), [{ org_id: 'a', pace: 'unknown' }]), [8])
  const room = new Room(BOUNDS)
  fill(room, endpointsOf(1, 50, 'quick'))
  assert.equal(room.taken, 128)
})

test('what is given back is free again', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          org_id: fc.constantFrom('a', 'b'),
          pace: fc.constantFrom<Pace[]>('quick', 'unknown', 'slow'),
        }),
      ),
      (guests) => {
        const room = new Room(BOUNDS)
        for (const guest of guests) room.take(guest)
        assert.equal(room.taken, guests.length)
        for (const guest of guests) room.giveBack(guest)
        assert.equal(room.taken, 0)
        assert.ok(room.hasPlace({ org_id: 'a', pace: 'slow' }, 0))
      },
    ),
  )
})
