import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeHash } from '../core/audit/merkle-tree.ts'
import type { KnownHead } from './known-heads.ts'
import { LogsBehind } from './logs-behind.ts'

const head = { tree_size: 5, root_hash: 'a', signed_at: '2026-03-01T09:30:00.000Z', key_id: 'k', signature: 's' }

const hashOf = (letter: string) => letter.repeat(64)

interface SceneSettings {
  size: number
  flush?: () => Promise<void>
  onError?: (error: unknown) => void
}

function scene({ size, flush = async () => {}, onError = assert.ifError }: SceneSettings) {
  const state = { size, known: { ...head, organization_id: 'org_1', timeline: '00000001' } as KnownHead, reads: 0 }
  const counts: number[] = []
  const logs = new LogsBehind({
    environment: 'sandbox',
    store: {
      sealing: {
        async logEnds(ids) {
          state.reads += 1
          const end = { head: { ...head, org_id: 'org_1', tree_size: state.size }, leaves: state.size }
          return ids.map((org_id) => ({ ...end, org_id, announced_at: null, timeline: '00000002' }))
        },
        // Of five leaves, the hashes of four and of one.
        async nodeHashesOf() {
          return [hashOf('b'), hashOf('c')]
        },
      },
    },
    knownHeads: {
      newest: () => state.known,
      organizationIds: () => ['org_1'],
      reload() {},
      readAppended() {},
      add(heads) {
        state.known = heads[0] ?? state.known
      },
      flush,
    },
    onCompared: (behind) => counts.push(behind),
    onError,
  })
  return { state, counts, logs }
}

test('logs are compared once for each timeline of the database', async () => {
  const { state, counts, logs } = scene({ size: 5 })
  for (const timeline of ['00000001', '00000001', '00000002', '00000002']) await logs.compareOn(timeline)
  assert.deepEqual([state.reads, counts, logs.warnings()], [2, [0, 0], []])
  assert.equal(state.known.timeline, '00000002', 'the known head is one of the new timeline from then on')
})

test('a log that went on with other entries than those of a known head is named, though it is longer', async () => {
  const { state, counts, logs } = scene({ size: 9 })
  await logs.compareOn('00000002')
  assert.deepEqual(
    [counts, logs.warnings()],
    [[1], ['sandbox: the database lost entries after head 4 or earlier, and went on with others: run audit verify']],
  )
  assert.equal(state.known.timeline, '00000001')
  state.known = { ...state.known, root_hash: nodeHash(hashOf('b'), hashOf('c')) }
  await logs.compareOn('00000002')
  assert.deepEqual([counts, logs.warnings()], [[1, 0], []])
})

test('a log that went on with other entries on the same timeline, as of a dump that was restored, is named', async () => {
  const { state, counts, logs } = scene({ size: 9 })
  state.known = { ...state.known, timeline: '00000002' }
  await logs.compareOn('00000002')
  assert.deepEqual(
    [counts, logs.warnings()],
    [
      [1],
      [
        'sandbox: a log has other entries than when this node signed a head of 5 leaves at 2026-03-01T09:30:00.000Z: run audit verify',
      ],
    ],
  )
  state.known = { ...state.known, root_hash: nodeHash(hashOf('b'), hashOf('c')) }
  await logs.compareOn('00000002')
  assert.deepEqual([counts, logs.warnings()], [[1, 0], []])
})

test('a folder that cannot be written keeps no log that is behind from being named', async () => {
  const errors: unknown[] = []
  const { logs, counts } = scene({
    size: 3,
    flush: () => Promise.reject(new Error('ENOSPC')),
    onError: (error) => errors.push(error),
  })
  await logs.compareOn('00000002')
  assert.deepEqual([counts, errors.map(String)], [[1], ['Error: ENOSPC']])
  assert.match(logs.warnings()[0]!, /lost entries after head 3/)
})

/** Many logs, of which some are behind until they are accepted; counts the logs that are read. */
function manyLogs({ logs: count, behind }: { logs: number; behind: number }) {
  const ids = Array.from({ length: count }, (_, n) => `org_${n}`)
  const isBehind = new Set(ids.slice(0, behind))
  const reads: number[] = []
  const seen = { whole: 0, counts: [] as number[], read: new Set<string>() }
  const logs = new LogsBehind({
    environment: 'sandbox',
    store: {
      sealing: {
        async logEnds(wanted) {
          reads.push(wanted.length)
          for (const id of wanted) seen.read.add(id)
          const end = (id: string) => ({ ...head, org_id: id, tree_size: isBehind.has(id) ? 3 : 5 })
          return wanted.map((id) => ({
            org_id: id,
            head: end(id),
            leaves: 5,
            announced_at: null,
            timeline: '00000002',
          }))
        },
        nodeHashesOf: async () => [],
      },
    },
    knownHeads: {
      newest: (organization_id) => ({ ...head, organization_id, timeline: '00000002' }),
      organizationIds: () => ids,
      reload() {
        seen.whole += 1
      },
      readAppended() {},
      add() {},
      async flush() {},
    },
    onCompared: (found) => seen.counts.push(found),
    onError: assert.ifError,
  })
  return { logs, isBehind, seen, look: () => logs.compareOn('00000002'), readSince: () => reads.splice(0) }
}

test('while a log is behind, each look reads that log, and neither the others nor the whole file of known heads', async () => {
  const { look, isBehind, seen, readSince } = manyLogs({ logs: 1_200, behind: 1 })
  await look()
  assert.deepEqual(readSince(), [500, 500, 200])
  for (let n = 0; n < 3; n++) await look()
  assert.deepEqual([readSince(), seen.whole, seen.counts], [[1, 1, 1], 1, [1, 1, 1, 1]])
  isBehind.clear()
  await look()
  await look()
  assert.deepEqual([readSince(), seen.counts.at(-1)], [[1], 0])
})

test('of many logs that are behind, each look reads a bounded number, and all have their turn', async () => {
  const { logs, look, isBehind, seen, readSince } = manyLogs({ logs: 1_300, behind: 1_200 })
  await look()
  readSince()
  seen.read.clear()
  for (let n = 0; n < 3; n++) await look()
  assert.deepEqual([readSince(), seen.read.size], [[500, 500, 200], 1_200])
  assert.match(logs.warnings()[0]!, /and 1199 more logs are behind/)
  for (let n = 0; n < 700; n++) isBehind.delete(`org_${n}`)
  for (let n = 0; n < 3; n++) await look()
  assert.deepEqual(
    [readSince(), seen.counts.slice(-3)],
    [
      [500, 500, 200],
      [700, 500, 500],
    ],
  )
  isBehind.clear()
  await look()
  assert.deepEqual(logs.warnings(), [])
})

test('a log that has lost entries is named without its id, until an operator accepts it', async () => {
  const { state, counts, logs } = scene({ size: 3 })
  await logs.compareOn('00000002')
  assert.deepEqual(logs.warnings(), ['sandbox: the database lost entries after head 3: run audit verify'])
  state.known = { ...state.known, timeline: '00000002' }
  await logs.compareOn('00000002')
  assert.deepEqual(logs.warnings(), [
    'sandbox: a log has 3 leaves, but this node signed a head of 5 leaves at 2026-03-01T09:30:00.000Z: run audit verify',
  ])
  state.known = { ...state.known, tree_size: 3 }
  await logs.compareOn('00000002')
  assert.deepEqual([counts, logs.warnings()], [[1, 1, 0], []])
})
