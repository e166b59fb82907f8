import { Skeleton } from '@mantine/core'
import { IconBuildingBank, IconBuildingStore, IconUser, IconX } from '@tabler/icons-react'
import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { PageLink } from '../../components/page-link.tsx'
import classes from './entities.module.css'
import type { GraphLink, GraphNode, Neighbourhood } from './entity.ts'
import { NAMED_MAX, type PlacedNode } from './graph-layout.ts'
import { badPathsOf, nameShown, placeOnLink, widthOf } from './graph-names.ts'
import { useGraphLayout } from './use-graph-layout.ts'

const MARGIN = 30
const SIZE_MIN = { width: 620, height: 340 }
/** A node with more links has none of them named in a dense picture: the names would cover each other. */
const LINKS_NAMED_MAX = 12
/** A picture that is wider than its card is shrunk this far at most, so that names stay legible; then it scrolls. */
const SHRUNK_MIN = 0.8
const ICONS = { person: IconUser, business: IconBuildingStore, institution: IconBuildingBank } as const
/** The corners of an octagon around the middle, the shape of bad nodes. */
const OCTAGON = Array.from({ length: 8 }, (_, corner) => {
  const angle = (Math.PI / 4) * corner + Math.PI / 8
  return `${(19 * Math.cos(angle)).toFixed(1)},${(19 * Math.sin(angle)).toFixed(1)}`
}).join(' ')

/** A neighbourhood as SVG: every node is a link that takes the focus, and bad paths stand out. */
export function GraphPicture({ graph }: { graph: Neighbourhood }) {
  const placed = useGraphLayout(graph)
  const links = useMemo(() => mergeLinks(graph.links), [graph.links])
  const [focused, setFocused] = useState<string>()
  const frame = useRef<HTMLElement>(null)
  useEffect(() => {
    // Where the picture scrolls, the entity in its middle is what people look for.
    if (placed && frame.current) frame.current.scrollLeft = (frame.current.scrollWidth - frame.current.clientWidth) / 2
  }, [placed])
  if (!placed || graph.nodes.some(({ id }) => !placed.has(id))) return <Skeleton height={SIZE_MIN.height} />
  const box = boxAround(graph.nodes, placed)
  const isDense = graph.nodes.length > NAMED_MAX
  const onBadPath = badPathsOf(graph.links)
  const isSmall = ({ id, hops }: GraphNode) => isDense && hops > 0 && !onBadPath.has(id)
  const names = new Map(graph.nodes.map(({ id, name }) => [id, name]))
  const at = (id: string) => ({ ...placed.get(id)!, name: names.get(id)! })
  const ofFocus = links.filter(({ from, to }) => from === focused || to === focused)
  const named = !isDense ? links : links.filter((link) => link.on_bad_path || isFew(ofFocus, link))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
    <section ref={frame} className={classes.graph} aria-label="Picture of the neighbourhood" tabIndex={0}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be an SVG */}
      <svg
        viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
        style={{ minWidth: Math.min(box.width * SHRUNK_MIN, 900) }}
        role="group"
        aria-label={`${graph.nodes.length} entities and ${graph.links.length} links. The table below lists the same links.`}
      >
        {links.map((link) => (
          <Edge
            key={keyOf(link)}
            link={link}
            from={placed.get(link.from)!}
            to={placed.get(link.to)!}
            isThin={isDense && !ofFocus.includes(link)}
          />
        ))}
        {graph.nodes.map((node) => (
          <Node
            key={node.id}
            node={node}
            at={placed.get(node.id)!}
            isOnBadPath={onBadPath.has(node.id)}
            isSmall={isSmall(node)}
            onFocus={setFocused}
          />
        ))}
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group of texts takes no focus; the nodes, which do, say their names */}
        <g aria-hidden="true">
          {named.map((link) => (
            <EdgeName key={keyOf(link)} link={link} from={at(link.from)} to={at(link.to)} />
          ))}
          {graph.nodes
            .filter(({ id, hops }) => !isDense || hops === 0 || onBadPath.has(id) || focused === id)
            .map((node) => (
              <NodeName key={node.id} node={node} at={placed.get(node.id)!} isSmall={isSmall(node)} />
            ))}
        </g>
      </svg>
    </section>
  )
}

/** All links between two entities, drawn as one line: their names would cover each other. */
type MergedLink = GraphLink & { types: string[] }

/**
 * Joins the links of each pair; the first one, which is the strongest or on the way to a bad node, says how it looks. Bad
 * paths are drawn last, over the others.
 */
function mergeLinks(links: readonly GraphLink[]): MergedLink[] {
  const byPair = Map.groupBy(links, ({ from, to }) => [from, to].sort().join(' '))
  return [...byPair.values()]
    .map((ofPair) => ({ ...ofPair[0]!, types: ofPair.map(({ type }) => type) }))
    .sort((one, other) => Number(one.on_bad_path) - Number(other.on_bad_path))
}

const keyOf = ({ from, to }: MergedLink) => `${from} ${to}`
const isFew = (links: readonly MergedLink[], link: MergedLink) =>
  links.length <= LINKS_NAMED_MAX && links.includes(link)

interface EdgeProps {
  link: MergedLink
  from: PlacedNode
  to: PlacedNode
}

// Kept, as nodes are: the pointer over a node draws that node and its links again, not all of 300.
const Edge = memo(function Edge({ link, from, to, isThin }: EdgeProps & { isThin: boolean }) {
  const isDashed = !link.verified || link.type === 'payment'
  const width = link.on_bad_path ? 2.5 : isThin ? 1 : 1 + link.strength * 2
  return (
    <g className={classes.edge} data-bad={link.on_bad_path || undefined} data-dashed={isDashed || undefined}>
      <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} strokeWidth={width} />
    </g>
  )
})

type NamedNode = PlacedNode & { name: string }

/** The name of a link. Names are drawn after all nodes: one of these would cover them. */
function EdgeName({ link, from, to }: { link: MergedLink; from: NamedNode; to: NamedNode }) {
  const name = link.types.join(', ').replaceAll('_', ' ')
  const { x, y } = placeOnLink(name, [from, to])
  return (
    <text className={classes.edgeName} data-bad={link.on_bad_path || undefined} x={x} y={y + 3}>
      {name}
    </text>
  )
}

interface NodeProps {
  node: GraphNode
  at: PlacedNode
  isOnBadPath: boolean
  /** Drawn without its icon, among so many that these would cover each other. */
  isSmall: boolean
  onFocus: (id: string | undefined) => void
}

const Node = memo(function Node({ node, at, isOnBadPath, isSmall, onFocus }: NodeProps) {
  const Icon = node.is_bad ? IconX : (ICONS[node.type as keyof typeof ICONS] ?? IconUser)
  return (
    <g transform={`translate(${at.x} ${at.y})`}>
      <PageLink
        to={`entities/${node.id}`}
        className={classes.node}
        data-self={node.hops === 0 || undefined}
        data-bad={node.is_bad || undefined}
        data-path={isOnBadPath || undefined}
        aria-label={describe(node)}
        aria-current={node.hops === 0 ? 'page' : undefined}
        onFocus={() => onFocus(node.id)}
        onBlur={() => onFocus(undefined)}
        onPointerEnter={() => onFocus(node.id)}
        onPointerLeave={() => onFocus(undefined)}
      >
        <title>{describe(node)}</title>
        {isSmall && <circle r={13} className={classes.reach} />}
        <g transform={isSmall ? 'scale(0.45)' : undefined}>
          <Shape node={node} />
        </g>
        {!isSmall && <Icon x={-9} y={-9} size={18} stroke={1.75} aria-hidden="true" />}
      </PageLink>
    </g>
  )
})

/** The name of a node; screen readers hear it with the link that the node is. */
function NodeName({ node, at, isSmall }: { node: GraphNode; at: PlacedNode; isSmall: boolean }) {
  return (
    <text
      className={classes.nodeName}
      transform={`translate(${at.x} ${at.y})`}
      y={node.hops === 0 ? 40 : isSmall ? 24 : 34}
    >
      {nameShown(node.name)}
      {node.outcome && (
        <tspan x={0} dy={14} className={classes.outcome}>
          {node.outcome.type.replaceAll('_', ' ')}
        </tspan>
      )}
    </text>
  )
}

function Shape({ node: { is_bad, type, hops } }: { node: GraphNode }) {
  if (is_bad) return <polygon points={OCTAGON} />
  if (type === 'person') return <circle r={17} />
  const half = hops === 0 ? 22 : 17
  return <rect x={-half} y={-half} width={half * 2} height={half * 2} rx={6} />
}

function describe({ name, type, is_bad, outcome, hops }: GraphNode): string {
  const what = is_bad ? `, bad outcome${outcome ? `: ${outcome.type.replaceAll('_', ' ')}` : ''}` : ''
  return `${name}, ${type ?? 'entity'}${hops === 0 ? ', this entity' : ''}${what}`
}

/** The frame of the picture: every node with the half of its name that reaches further. */
function boxAround(nodes: readonly GraphNode[], placed: ReadonlyMap<string, PlacedNode>) {
  const boxes = nodes.map(({ id, name }) => ({ ...placed.get(id)!, reach: widthOf(name) / 2 + MARGIN }))
  const left = Math.min(...boxes.map(({ x, reach }) => x - reach))
  const right = Math.max(...boxes.map(({ x, reach }) => x + reach))
  const top = Math.min(...boxes.map(({ y }) => y)) - MARGIN * 1.6
  const bottom = Math.max(...boxes.map(({ y }) => y)) + MARGIN * 2.2
  const width = Math.max(SIZE_MIN.width, right - left)
  const height = Math.max(SIZE_MIN.height, bottom - top)
  return { x: (left + right - width) / 2, y: (top + bottom - height) / 2, width, height }
}
