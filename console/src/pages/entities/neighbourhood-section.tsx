import { SegmentedControl, Skeleton } from '@mantine/core'
import { useOperation } from '../../api/use-operation.ts'
import { Failed } from '../../components/failed.tsx'
import { Section } from '../../components/section.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { writeCount } from '../../components/write-number.ts'
import classes from './entities.module.css'
import type { Neighbourhood } from './entity.ts'
import { GraphPicture } from './graph-picture.tsx'
import { LinksTable } from './links-table.tsx'

/** The neighbourhood of an entity as a picture, and the same links as a table. */
export function NeighbourhoodSection({ entityId }: { entityId: string }) {
  const [search, setSearch] = usePageSearch('entities/$entityId')
  const hops = search.hops === '1' ? 1 : 2
  const query = useOperation('entities.show-neighbourhood', { id: entityId, hops })
  const graph = query.data?.nodes[0]?.id === entityId ? query.data : undefined
  return (
    <>
      <Section
        title="Neighbourhood"
        sub={
          graph &&
          `showing ${writeCount(graph.nodes.length - 1)} of ${writeCount(Math.max(graph.known, graph.nodes.length - 1))}`
        }
        flush
        end={
          <SegmentedControl
            aria-label="How far"
            value={String(hops)}
            onChange={(value) => setSearch({ hops: value === '1' ? '1' : undefined })}
            data={[
              { value: '1', label: '1 hop' },
              { value: '2', label: '2 hops' },
            ]}
          />
        }
        footer={graph && graph.links.length > 0 && <Legend />}
      >
        {query.error && !graph && <Failed error={query.error} onRetry={() => void query.refetch()} />}
        {!query.error && !graph && <Skeleton height={320} />}
        {graph && <Picture graph={graph} />}
      </Section>
      {graph && graph.links.length > 0 && (
        <Section title="The same links as a table" sub="paths to bad outcomes first, then the strongest" flush>
          <LinksTable graph={graph} />
        </Section>
      )}
    </>
  )
}

function Picture({ graph }: { graph: Neighbourhood }) {
  if (graph.nodes.length <= 1)
    return (
      <p className={`dim ${classes.noLinks}`}>
        No link yet. Report identifiers, relationships or payments, and shared ones link entities here.
      </p>
    )
  return <GraphPicture graph={graph} />
}

function Legend() {
  return (
    <div className={classes.legend}>
      <span>
        <i data-line="bad" /> Path to a bad outcome
      </span>
      <span>
        <i data-line="dashed" /> Unverified or payment
      </span>
      <span>
        <i data-shape="person" /> Person
      </span>
      <span>
        <i data-shape="business" /> Business
      </span>
      <span>
        <i data-shape="bad" /> Bad outcome
      </span>
    </div>
  )
}
