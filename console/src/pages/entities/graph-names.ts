import type { GraphLink } from './entity.ts'
import type { PlacedNode } from './graph-layout.ts'

const NAME_MAX = 28
/** How wide a character of a name is on average, a little too wide rather than too narrow. */
const CHARACTER_WIDTH = 7

/** The entities on the way to a bad one; their names are written in every picture. */
export function badPathsOf(links: readonly GraphLink[]): ReadonlySet<string> {
  return new Set(links.filter((link) => link.on_bad_path).flatMap(({ from, to }) => [from, to]))
}

/** A name as the picture writes it: a long one is cut, and whole in the description of its node. */
export function nameShown(name: string): string {
  return name.length > NAME_MAX ? `${name.slice(0, NAME_MAX - 1).trimEnd()}…` : name
}

/** How much room the name of a node needs. */
export function widthOf(name: string): number {
  return Math.max(50, nameShown(name).length * CHARACTER_WIDTH)
}

/** Where along a link its name may stand: in the middle, or else beside it. */
const PLACES = [0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26]
/** A name below its node: from so far below the middle of the node to so far. */
const NAME_TOP = 20
const NAME_BOTTOM = 42

/** Where the name of a link stands: on the link, off the names of the nodes that it joins. */
export function placeOnLink(
  name: string,
  ends: readonly [from: PlacedNode & { name: string }, to: PlacedNode & { name: string }],
): { x: number; y: number } {
  const [from, to] = ends
  const places = PLACES.map((share) => ({ x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }))
  const isFree = ({ x, y }: { x: number; y: number }) =>
    ends.every((end) => {
      const isAside = Math.abs(x - end.x) > (widthOf(name) + widthOf(end.name)) / 2
      return isAside || y < end.y + NAME_TOP - 6 || y > end.y + NAME_BOTTOM + 6
    })
  return places.find(isFree) ?? places[0]!
}
