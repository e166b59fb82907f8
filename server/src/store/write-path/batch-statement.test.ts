import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchStatement } from './batch-statement.ts'
import type { Change } from './change.ts'

/** Rows that two statements under way at once may both write. */
const SHARED: Record<string, [Change, Change]> = {
  'what is counted': [
    { usage: [{ org_id: 'org_a', day: '2026-01-01', node: 'n', counter: 'decisions', count: 1 }] },
    { usage: [{ org_id: 'org_b', day: '2026-01-01', node: 'n', counter: 'decisions', count: 1 }] },
  ],
  'links that are taken back': [
    { removedLinks: [{ org_id: 'org_a', entity_id: 'ent_1', neighbour_id: 'ent_2', type: 'same_as' }] },
    { removedLinks: [{ org_id: 'org_a', entity_id: 'ent_2', neighbour_id: 'ent_1', type: 'same_as' }] },
  ],
}

for (const [what, [one, other]] of Object.entries(SHARED)) {
  test(`${what}: locked in one order whatever comes first, so that no two statements wait for each other`, () => {
    assert.deepEqual(batchStatement([one, other]), batchStatement([other, one]))
  })
}
