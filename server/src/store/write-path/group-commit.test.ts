import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { decisionRow } from '../../../tests/decision-row.ts'
import { type Database, DatabaseError, DatabaseUnavailable } from '../database/database.ts'
import { packSegment } from '../documents/segment.ts'
import type { AuthenticatedChange } from './change.ts'
import { CommitUnknown, GroupCommit } from './group-commit.ts'

/** No list of entries is sealed here. */
const NO_MAC = () => new Uint8Array()

const organizationId = 'org_1'
const decision = (entity_id: string) => ({
  ...entry(entity_id),
  decisions: [decisionRow({ id: 'dec_1', entity_id })],
})
const ingest = (id: string) => ({ organizationId, changedEntities: [{ id }] }) as unknown as AuthenticatedChange
const long = (id: string) =>
  ({ organizationId, changedEntities: [{ id, state: 'x'.repeat(2_000_000) }] }) as unknown as AuthenticatedChange
const entry = (trail_id: string) =>
  ({ organizationId, auditEntries: [{ id: `aud_${'0'.repeat(26)}`, trail_id }] }) as unknown as AuthenticatedChange

/** How many statements it takes to write changes that are committed in the same turn. */
async function statementsFor(...changes: AuthenticatedChange[]): Promise<number> {
  let statements = 0
  const query = async () => {
    statements += 1
    return []
  }
  const writes = new GroupCommit({ query } as unknown as Database, NO_MAC)
  await Promise.all(changes.map((change) => writes.commit(change)))
  return statements
}

test('changes that do not conflict share one statement', async () => {
  assert.equal(await statementsFor(decision('ent_1'), decision('ent_1'), decision('ent_2'), ingest('ent_1')), 1)
})

test('a failed precondition that PostgreSQL does not name is lost, never written', async () => {
  for (const constraint of [undefined, '', 'entity_version']) {
    const query = async () => {
      throw new DatabaseError('0 of 1 rows written', { code: 'VG001', constraint })
    }
    const writes = new GroupCommit({ query } as unknown as Database, NO_MAC)
    assert.deepEqual(await writes.commit(ingest('ent_1')), { lost: constraint || 'unnamed' })
    const both = [writes.commit(ingest('ent_1')), writes.commit(ingest('ent_2'))]
    for (const { lost } of await Promise.all(both)) assert.ok(lost, 'a batch is split, and each change is lost')
  }
})

test('a row that exists already is lost, and so is a conflict that PostgreSQL does not name', async () => {
  for (const [constraint, lost] of [
    ['idempotency_keys_pkey', 'idempotency_key'],
    ['open_offers_pkey', 'open_offers'],
    [undefined, 'unnamed'],
  ] as const) {
    const query = async () => {
      throw new DatabaseError('duplicate key', { code: '23505', constraint })
    }
    const writes = new GroupCommit({ query } as unknown as Database, NO_MAC)
    assert.deepEqual(await writes.commit(ingest('ent_1')), { lost })
  }
  const broken = { query: () => Promise.reject(new DatabaseError('duplicate key', { code: '23505', constraint: 'x' })) }
  const writes = new GroupCommit(broken as unknown as Database, NO_MAC)
  await assert.rejects(writes.commit(ingest('ent_1')), DatabaseError)
})

/** A database that loses the answer to a commit; its rows and its sessions are what the test says they are. */
function losingDatabase({
  isStored,
  isSessionOver,
  isReplicated = true,
}: {
  isStored: boolean
  isSessionOver: boolean
  isReplicated?: boolean
}): Database {
  const query = async () => {
    throw new DatabaseUnavailable('no answer', { endSession: async () => isSessionOver })
  }
  const durably = async <T>(read: () => Promise<T>) => {
    const found = await read()
    if (found !== undefined && !isReplicated) throw new DatabaseUnavailable('no standby')
    return found
  }
  return { query, within: () => ({ query: async () => (isStored ? [{}] : []) }), durably } as unknown as Database
}

test('a commit without an answer is written or lost only once its session is over, and else unknown', async () => {
  const commit = (parts: Parameters<typeof losingDatabase>[0]) =>
    new GroupCommit(losingDatabase(parts), NO_MAC).commit(entry('trail_1'))
  assert.deepEqual(await commit({ isStored: true, isSessionOver: true }), {})
  assert.deepEqual(await commit({ isStored: false, isSessionOver: true }), { lost: 'no_answer' })
  await assert.rejects(commit({ isStored: false, isSessionOver: false }), CommitUnknown)
  await assert.rejects(commit({ isStored: true, isSessionOver: true, isReplicated: false }), CommitUnknown)
  const withoutOwnRow = new GroupCommit(losingDatabase({ isStored: false, isSessionOver: true }), NO_MAC)
  await assert.rejects(withoutOwnRow.commit(ingest('ent_1')), CommitUnknown)
})

/** A database whose statements stay in flight until the test ends them. */
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

/** Resolves once what was committed has been packed, and its statement begun: documents are packed in their order. */
async function settled(): Promise<void> {
  await setImmediate()
  await packSegment([])
  await setImmediate()
}

/** Commits each group of changes in its own turn, and returns how many statements are in flight after each. */
async function inFlightAfter(...groups: AuthenticatedChange[][]): Promise<number[]> {
  const { database, started } = heldDatabase()
  const writes = new GroupCommit(database, NO_MAC)
  const counts: number[] = []
  for (const group of groups) {
    for (const change of group) void writes.commit(change)
    counts.push(await started())
  }
  return counts
}

test('a second statement starts once as many changes wait as are in flight, a third only after one has ended', async () => {
  const [one, two, three] = [decision('ent_1'), decision('ent_2'), decision('ent_3')]
  assert.deepEqual(await inFlightAfter([one], [two], [three]), [1, 2, 2])
  assert.deepEqual(await inFlightAfter([one, two], [three], [decision('ent_4')]), [1, 1, 2])

  const { database, started, endFirst } = heldDatabase()
  const writes = new GroupCommit(database, NO_MAC)
  for (const change of [one, two, three]) {
    void writes.commit(change)
    await settled()
  }
  assert.equal(await started(), 2)
  endFirst()
  assert.equal(await started(), 3)
})

test('a change of the same entity or trail waits for the statement in flight', async () => {
  assert.deepEqual(await inFlightAfter([decision('ent_1')], [ingest('ent_1')], [decision('ent_2')]), [1, 1, 1])
  assert.deepEqual(await inFlightAfter([ingest('ent_1')], [decision('ent_1')]), [1, 1])
  assert.deepEqual(await inFlightAfter([decision('ent_1')], [decision('ent_1')]), [1, 1])
  assert.deepEqual(await inFlightAfter([entry('trail_1')], [entry('trail_1')]), [1, 1])
  assert.deepEqual(await inFlightAfter([entry('trail_1')], [entry('trail_2')]), [1, 2])
})

test('drain waits for the statement in flight and for the changes queued behind it', async () => {
  const { database, started, endFirst } = heldDatabase()
  const writes = new GroupCommit(database, NO_MAC)
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

test('a short change of one organization is written with the first long change of another, not after them all', async () => {
  const writes = new GroupCommit({ query: async () => [] } as unknown as Database, NO_MAC)
  const written: string[] = []
  const commit = (name: string, change: AuthenticatedChange) => writes.commit(change).then(() => written.push(name))
  await Promise.all([
    ...[1, 2, 3, 4].map((number) => commit(`long ${number}`, long(`ent_${number}`))),
    commit('short', { ...entry('trail_1'), organizationId: 'org_2' }),
  ])
  assert.deepEqual(written, ['long 1', 'short', 'long 2', 'long 3', 'long 4'])
})

test('a change of one organization is in the next statement, however many changes of another wait', async () => {
  const writes = new GroupCommit({ query: async () => [] } as unknown as Database, NO_MAC)
  const written: string[] = []
  const commit = (change: AuthenticatedChange) => writes.commit(change).then(() => written.push(change.organizationId))
  await Promise.all([
    ...Array.from({ length: 300 }, (_, index) => commit(entry(`trail_${index}`))),
    commit({ ...entry('trail'), organizationId: 'org_2' }),
  ])
  assert.equal(written.indexOf('org_2'), 1)
})

test('one long change fills a statement, and a hundred decisions share one', async () => {
  assert.equal(await statementsFor(long('ent_1'), long('ent_2')), 2)
  assert.equal(await statementsFor(...Array.from({ length: 100 }, (_, index) => decision(`ent_${index}`))), 1)
})
