import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decisionRow } from '../../../tests/decision-row.ts'
import { batchStatement, footprintOf } from './batch-statement.ts'
import type { AuthenticatedChange } from './change.ts'

const parts = { macOf: () => new Uint8Array(), packed: [] }

/** Rows that two statements in flight at once may both lock. */
const SHARED: Record<string, [AuthenticatedChange, AuthenticatedChange]> = {
  'usage counters': [
    { organizationId: 'org_a', usage: [{ day: '2026-01-01', node: 'n', counter: 'decisions', count: 1 }] },
    { organizationId: 'org_b', usage: [{ day: '2026-01-01', node: 'n', counter: 'decisions', count: 1 }] },
  ],
  'removed links': [
    {
      organizationId: 'org_a',
      removedLinks: [{ entity_id: 'ent_1', neighbour_id: 'ent_2', type: 'same_as', claim: '' }],
    },
    {
      organizationId: 'org_a',
      removedLinks: [{ entity_id: 'ent_2', neighbour_id: 'ent_1', type: 'same_as', claim: '' }],
    },
  ],
}

for (const [what, [one, other]] of Object.entries(SHARED)) {
  test(`${what} are locked in one order, whatever the order of the changes, so that no two statements deadlock`, () => {
    assert.deepEqual(batchStatement([one, other], parts), batchStatement([other, one], parts))
  })
}

test('the documents of a decision count as text that it writes', () => {
  const decision = (body: string): AuthenticatedChange => {
    const documents = { body, facts: '{}', trace: '{}', graph: '{}' }
    return { organizationId: 'org_a', decisions: [decisionRow({ id: 'dec_1', entity_id: 'ent_1', documents })] }
  }
  const [short, long] = [footprintOf(decision('{}')), footprintOf(decision('x'.repeat(50_002)))]
  assert.equal(Math.round(long.weight - short.weight), 50)
})

test('a batch of changes that write nothing has no steps', () => {
  assert.equal(batchStatement([{ organizationId: 'org_a' }], parts).steps, 0)
})
