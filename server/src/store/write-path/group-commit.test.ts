import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../database/database.ts'
import type { Change } from './change.ts'
import { GroupCommit } from './group-commit.ts'

const org_id = 'org_1'
const decision = (entity_id: string): Change => ({
  latestDecisions: [
    { org_id, entity_id, decision_id: 'dec_1', request: '{}', verdict: 'approve', announced_verdict: 'approve' },
  ],
})
const ingest = (id: string) => ({ changedEntities: [{ org_id, id }] }) as unknown as Change
const entry = (trail_id: string) => ({ auditEntries: [{ org_id, trail_id }] }) as unknown as Change
const done: Change = { doneConsequences: [{ org_id, kind: 'reevaluation', entity_id: 'ent_1', mark: 'm' }] }

/** How many statements changes that are handed in together are written by. */
async function statementsFor(...changes: Change[]): Promise<number> {
  let statements = 0
  const query = async () => {
    statements += 1
    return []
  }
  const writes = new GroupCommit({ query } as unknown as Database)
  await Promise.all(changes.map((change) => writes.commit(change)))
  return statements
}

test('what can share a statement does', async () => {
  assert.equal(await statementsFor(decision('ent_1'), decision('ent_1'), decision('ent_2'), ingest('ent_3')), 1)
})

test('an entity that is decided on and changed at once is not written twice by one statement', async () => {
  assert.equal(await statementsFor(decision('ent_1'), ingest('ent_1')), 2)
  assert.equal(await statementsFor(ingest('ent_1'), decision('ent_1')), 2)
})

test('consequences that are done are taken away by a statement of their own', async () => {
  assert.equal(await statementsFor(decision('ent_1'), done, decision('ent_2')), 3)
})

/** A database whose statements end when they are told to. */
function heldDatabase() {
  const ends: (() => void)[] = []
  let started = 0
  const query = () => {
    started += 1
    return new Promise<never[]>((resolve) => ends.push(() => resolve([])))
  }
  return {
    database: { query } as unknown as Database,
    started: async () => {
      await settled()
      return started
    },
    endFirst: () => ends.shift()!(),
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Hands changes in, each group in a turn of its own, and says how many statements are under way after each. */
async function underWayAfter(...groups: Change[][]): Promise<number[]> {
  const { database, started } = heldDatabase()
  const writes = new GroupCommit(database)
  const counts: number[] = []
  for (const group of groups) {
    for (const change of group) void writes.commit(change)
    counts.push(await started())
  }
  return counts
}

test('a second statement starts once as many wait as are under way, a third only after one of them', async () => {
  const [one, two, three] = [decision('ent_1'), decision('ent_2'), decision('ent_3')]
  assert.deepEqual(await underWayAfter([one], [two], [three]), [1, 2, 2])
  assert.deepEqual(await underWayAfter([one, two], [three], [decision('ent_4')]), [1, 1, 2])

  const { database, started, endFirst } = heldDatabase()
  const writes = new GroupCommit(database)
  for (const change of [one, two, three]) {
    void writes.commit(change)
    await settled()
  }
  assert.equal(await started(), 2)
  endFirst()
  assert.equal(await started(), 3)
})

test('what a statement under way touches waits for its end', async () => {
  assert.deepEqual(await underWayAfter([decision('ent_1')], [ingest('ent_1')], [decision('ent_2')]), [1, 1, 1])
  assert.deepEqual(await underWayAfter([ingest('ent_1')], [decision('ent_1')]), [1, 1])
  assert.deepEqual(await underWayAfter([decision('ent_1')], [decision('ent_1')]), [1, 1])
  assert.deepEqual(await underWayAfter([entry('trail_1')], [entry('trail_1')]), [1, 1])
  assert.deepEqual(await underWayAfter([entry('trail_1')], [entry('trail_2')]), [1, 2])
})

test('nothing is written beside consequences that are done', async () => {
  assert.deepEqual(await underWayAfter([decision('ent_1')], [done]), [1, 1])
  assert.deepEqual(await underWayAfter([done], [decision('ent_2')]), [1, 1])
})

test('draining waits for what is under way and for what waits behind it', async () => {
  const { database, started, endFirst } = heldDatabase()
  const writes = new GroupCommit(database)
  void writes.commit(decision('ent_1'))
  let isDrained = false
  const drained = writes.drain().then(() => {
    isDrained = true
  })
  assert.equal(await started(), 1)
  void writes.commit(ingest('ent_1'))
  endFirst()
  assert.equal(await started(), 2)
  assert.equal(isDrained, false)
  endFirst()
  await drained
})
