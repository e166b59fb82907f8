import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from 'd3-force'

/** Up to so many nodes, every name and every link is written; beyond, those of the middle, the bad paths and the focus. */
export const NAMED_MAX = 40

/** What a layout is made from: nodes by their distance from the middle, and the links between them. */
export interface LayoutInput {
  nodes: readonly { id: string; hops: number; nameWidth: number }[]
  links: readonly { from: string; to: string }[]
}

/** Where a node is drawn. */
export interface PlacedNode {
  id: string
  x: number
  y: number
}

interface LayoutNode extends SimulationNodeDatum {
  id: string
  x: number
  y: number
  /** How wide its name is; 0 for a node that is drawn small and without one. */
  nameWidth: number
}

const TICKS = 260
/** The golden angle spreads nodes evenly around the middle, so that the same input gives the same picture. */
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5))
/** How far a small node of a crowded picture reaches. */
const SMALL_RADIUS = 8
/** A node with its name and its outcome below it: from so far above its middle to so far below. */
const NAMED_TOP = 22
const NAMED_BOTTOM = 56

/** Places the nodes of a graph by forces: links pull, nodes push, and the first node stays in the middle. */
export function layoutGraph({ nodes, links }: LayoutInput): PlacedNode[] {
  const isCrowded = nodes.length > NAMED_MAX
  const radius = isCrowded ? 70 : 120
  const placed: LayoutNode[] = nodes.map(({ id, hops, nameWidth }, index) => ({
    id,
    nameWidth,
    x: hops * radius * Math.cos(index * GOLDEN_ANGLE),
    y: hops * radius * 0.6 * Math.sin(index * GOLDEN_ANGLE),
    ...(hops === 0 && { fx: 0, fy: 0 }),
  }))
  const simulation = forceSimulation(placed)
    .force('charge', forceManyBody().strength(isCrowded ? -60 : -420))
    .force(
      'link',
      forceLink<LayoutNode, SimulationLinkDatum<LayoutNode>>(
        links.map(({ from, to }) => ({ source: from, target: to })),
      )
        .id(({ id }) => id)
        .distance((link) => (!isCrowded ? 150 : isBetweenNamed(link) ? 135 : 46))
        .strength(0.6),
    )
    .force('collide', forceCollide(isCrowded ? 14 : 46))
    .force('x', forceX(0).strength(0.03))
    // The picture is wider than it is high.
    .force('y', forceY(0).strength(0.11))
    .stop()
  if (!isCrowded) simulation.tick(TICKS)
  else
    for (let tick = 0; tick < TICKS; tick++) {
      simulation.tick()
      clearNames(placed)
    }
  return placed.map(({ id, x, y }) => ({ id, x, y }))
}

/** A named node as it is drawn, widened by what a small node takes: the middle of a small node must stay outside. */
interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

/** Parts nodes whose names cover each other, then moves small nodes off the names by the shortest way. */
function clearNames(nodes: readonly LayoutNode[]): void {
  const named = nodes.filter(({ nameWidth }) => nameWidth > 0)
  for (const node of named) for (const other of named) if (node !== other) part(node, other)
  const boxes = named.map(({ x, y, nameWidth }) => ({
    left: x - nameWidth / 2 - SMALL_RADIUS,
    right: x + nameWidth / 2 + SMALL_RADIUS,
    top: y - NAMED_TOP - SMALL_RADIUS,
    bottom: y + NAMED_BOTTOM + SMALL_RADIUS,
  }))
  for (const node of nodes) if (node.nameWidth === 0) Object.assign(node, nearestFree(node, boxes))
}

/** Moves a named node away from another one, sideways or up and down, whichever is less; the fixed one stays. */
function part(node: LayoutNode, other: LayoutNode): void {
  const [x, y] = [other.x - node.x, other.y - node.y]
  const overX = (node.nameWidth + other.nameWidth) / 2 - Math.abs(x)
  const overY = NAMED_TOP + NAMED_BOTTOM - Math.abs(y)
  if (overX <= 0 || overY <= 0) return
  const [moved, sign] = other.fx === undefined ? [other, 1] : [node, -1]
  if (overX < overY) moved.x += sign * (x < 0 ? -overX : overX)
  else moved.y += sign * (y < 0 ? -overY : overY)
}

/** The nearest place that no box covers: where the point is, or at the edge of a box. */
function nearestFree({ x, y }: LayoutNode, boxes: readonly Box[]): { x: number; y: number } {
  const isFree = (at: { x: number; y: number }) =>
    !boxes.some(({ left, right, top, bottom }) => at.x > left && at.x < right && at.y > top && at.y < bottom)
  if (isFree({ x, y })) return { x, y }
  const [nearest] = boxes
    .flatMap(({ left, right, top, bottom }) =>
      [left, right].map((to) => ({ x: to, y })).concat([top, bottom].map((to) => ({ x, y: to }))),
    )
    .filter(isFree)
    .sort((one, other) => Math.hypot(one.x - x, one.y - y) - Math.hypot(other.x - x, other.y - y))
  return nearest ?? { x, y }
}

/** Whether a link is of a path to a bad node: the names of its two ends, and its own, need the room. */
function isBetweenNamed({ source, target }: SimulationLinkDatum<LayoutNode>): boolean {
  return [source, target].every((end) => typeof end === 'object' && end.nameWidth > 0)
}
