import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LayoutInput, layoutGraph, type PlacedNode } from './graph-layout.ts'

/** A hub with 80 neighbours and 219 behind them; three paths of named nodes lead to bad ones. */
function crowd(): LayoutInput {
  const near = Array.from({ length: 80 }, (_, index) => ({
    id: `near-${index}`,
    hops: 1,
    nameWidth: [3, 4, 30].includes(index) ? 100 : 0,
  }))
  const far = Array.from({ length: 219 }, (_, index) => ({
    id: `far-${index}`,
    hops: 2,
    nameWidth: [3, 4, 30].includes(index) ? 140 : 0,
  }))
  return {
    nodes: [{ id: 'hub', hops: 0, nameWidth: 110 }, ...near, ...far],
    links: [
      ...near.map(({ id }) => ({ from: 'hub', to: id })),
      ...far.map(({ id }, index) => ({ from: `near-${index % 80}`, to: id })),
      ...far.flatMap(({ id }, index) => (index % 17 === 0 ? [{ from: `near-${(index * 7) % 80}`, to: id }] : [])),
    ],
  }
}

/** What is drawn of a node: its shape, and the name below it. */
function boxOf({ x, y }: PlacedNode, nameWidth: number) {
  if (nameWidth === 0) return { left: x - 7, right: x + 7, top: y - 7, bottom: y + 7 }
  return { left: x - nameWidth / 2, right: x + nameWidth / 2, top: y - 20, bottom: y + 52 }
}

test('in a picture of 300 nodes, no node and no name lies on the name of another', () => {
  const input = crowd()
  const placed = layoutGraph(input)
  assert.equal(placed.length, 300)
  const boxes = placed.map((node, index) => ({ node, box: boxOf(node, input.nodes[index]!.nameWidth) }))
  const named = boxes.filter((_, index) => input.nodes[index]!.nameWidth > 0)
  const covered = named.flatMap(({ node, box }) =>
    boxes
      .filter(({ node: other, box: { left, right, top, bottom } }) => {
        const isApart = right <= box.left || left >= box.right || bottom <= box.top || top >= box.bottom
        return other !== node && !isApart
      })
      .map(({ node: other }) => `${other.id} covers ${node.id}`),
  )
  assert.deepEqual(covered, [])
})

test('the same graph gives the same picture, with its first node in the middle', () => {
  const first = layoutGraph(crowd())
  assert.deepEqual(layoutGraph(crowd()), first)
  assert.deepEqual(first[0], { id: 'hub', x: 0, y: 0 })
})
