import { IconCheck } from '@tabler/icons-react'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { writeFixed } from '../../components/write-number.ts'
import type { GraphLink, GraphNode, Neighbourhood } from './entity.ts'

interface Row extends GraphLink {
  near: GraphNode
  far: GraphNode
}

const COLUMNS: readonly Column<Row>[] = [
  { id: 'type', header: 'Link', cell: ({ type }) => <code>{type}</code> },
  {
    id: 'far',
    header: 'Far end',
    cell: ({ near, far }) => (
      <>
        <PageLink to={`entities/${far.id}`} className="strong">
          {far.name}
        </PageLink>
        {near.hops > 0 && <span className="dim"> over {near.name}</span>}
      </>
    ),
  },
  {
    id: 'carries',
    header: 'Carries',
    end: true,
    cell: ({ strength }) => writeFixed(strength, 2),
    sortBy: (row) => row.strength,
  },
  {
    id: 'verified',
    header: 'Verified',
    cell: ({ verified, type }) =>
      verified ? (
        <span className="text-ok nowrap">
          <IconCheck size={13} aria-hidden="true" style={{ verticalAlign: '-2px' }} /> yes
        </span>
      ) : (
        <span className="dim">{type === 'payment' ? 'seen' : 'no'}</span>
      ),
    hideOnPhone: true,
  },
  {
    id: 'evidence',
    header: 'Evidence there',
    cell: ({ far }) =>
      far.is_bad ? (
        <span className="text-decline strong">{far.outcome?.type.replaceAll('_', ' ') ?? 'bad outcome'}</span>
      ) : (
        <span className="dim">nothing bad</span>
      ),
  },
]

/** The links of a neighbourhood as rows: the equal of the picture. */
export function LinksTable({ graph: { nodes, links } }: { graph: Neighbourhood }) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const rows = links.map((link) => {
    const [one, other] = [byId.get(link.from)!, byId.get(link.to)!]
    // The end that is nearer to the entity comes first.
    return one.hops <= other.hops ? { ...link, near: one, far: other } : { ...link, near: other, far: one }
  })
  return (
    <DataTable
      label="Links of the neighbourhood"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ from, to, type }) => `${from} ${to} ${type}`}
      isSelected={() => false}
    />
  )
}
