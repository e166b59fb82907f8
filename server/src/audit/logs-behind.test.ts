import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeHash } from '../core/audit/merkle-tree.ts'
import type { KnownHead } from './known-heads.ts'
import { LogsBehind } from './logs-behind.ts'

const head = { tree_size: 5, root_hash: 'a', signed_at: '2026-03-01T09:30:00.000Z', key_id: 'k', signature: 's' }

const hashOf = (letter: string) => letter.repeat(64)

function scene({ size }: { size: number }) {
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
      add(heads) {
        state.known = heads[0] ?? state.known
      },
      async flush() {},
    },
    onCompared: (behind) => counts.push(behind),
    onError: assert.ifError,
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

test('a log that has lost entries is named without its id, until an operator accepts it', async () => {
  const { state, counts, logs } = scene({ size: 3 })
  await logs.compareOn('00000002')
  assert.deepEqual(logs.warnings(), ['sandbox: the database lost entries after head 3: run audit verify'])
  state.known = { ...state.known, timeline: '00000002' }
  await logs.compareOn('00000002')
  assert.deepEqual(logs.warnings(), [
    'sandbox: a log ends at 3 entries, before a head that this node knows: run audit verify',
  ])
  state.known = { ...state.known, tree_size: 3 }
  await logs.compareOn('00000002')
  assert.deepEqual([counts, logs.warnings()], [[1, 1, 0], []])
})
