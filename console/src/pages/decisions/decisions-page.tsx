import { Button } from '@mantine/core'
import { useMemo } from 'react'
import { OUTCOME_TYPES } from '../../../../server/src/core/vocabularies.ts'
import { useOperation, usePages } from '../../api/use-operation.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterChips } from '../../components/filter-chips.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { SearchEnded } from '../../components/search-ended.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { VERDICT_OPTIONS } from '../../components/verdict.tsx'
import { DECISION_COLUMNS } from '../../decision-view/decision-columns.tsx'
import { type ListedDecision, useDecisionFilter } from './decision-filter.ts'
import { ExportDecisions } from './export-decisions.tsx'
import { JumpToDecision } from './jump-to-decision.tsx'

// The tracks hold common values in a window of 1,440 px, and need no scrolling sideways from 1,280 px on.
const COLUMNS: readonly Column<ListedDecision>[] = [
  ...DECISION_COLUMNS,
  { id: 'product', header: 'Product', cell: productOf, hideOnPhone: true, track: 'minmax(90px, 1.45fr)' },
  { id: 'outcome', header: 'Outcome', cell: outcomeOf, hideOnPhone: true, track: 'minmax(82px, 0.86fr)' },
  {
    id: 'when',
    header: 'Decided',
    end: true,
    onPhone: 'bottom end',
    track: '132px',
    cell: ({ decided_at }) => <Time at={decided_at} />,
  },
]

const PAGE_DECISIONS = 100
// Constants, so that rows are not drawn again with every page that arrives.
const keyOf = ({ id }: ListedDecision) => id
const linkOf = ({ id }: ListedDecision) => ({ to: `decisions/${id}` }) as const

/** The page "Decisions": every decision by verdict, tier, policy, product, entity, date, review and outcome. */
export function DecisionsPage() {
  const filter = useDecisionFilter()
  const pages = usePages('decisions.list', { ...filter, limit: PAGE_DECISIONS })
  // Flattened once for each page: a long list has hundreds.
  const decisions = useMemo(() => pages.data?.pages.flatMap((page) => page.decisions), [pages.data])
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <PageHeader title="Decisions" below="Every verdict with its evidence, newest first">
        <JumpToDecision />
        <ExportDecisions filter={filter} />
      </PageHeader>
      <div style={{ marginBottom: 12 }}>
        <Filters />
      </div>
      <Section flush>
        <DataTable
          label="Decisions"
          columns={COLUMNS}
          rows={decisions}
          keyOf={keyOf}
          linkOf={linkOf}
          query={{ isPending: pages.isPending, error: pages.error, refetch: () => void pages.refetch() }}
          more={pages}
          isLong
          empty={
            <NoDecisions
              isFiltered={isFiltered}
              {...(pages.hasNextPage && { onSearchOn: () => void pages.fetchNextPage() })}
            />
          }
        />
        {decisions && decisions.length > 0 && pages.data?.pages.at(-1)?.is_cut_short && (
          <SearchEnded rows="decisions" />
        )}
      </Section>
    </>
  )
}

const REVIEW_OPTIONS = [
  { value: 'waiting', label: 'Waits for a person' },
  { value: 'reviewed', label: 'Reviewed' },
]
const OUTCOME_OPTIONS = OUTCOME_TYPES.map((value) => ({ value, label: value.replaceAll('_', ' ') }))

function Filters() {
  const { data } = useOperation('decisions.list-filters', {})
  const options = (values: readonly string[] = []) => values.map((value) => ({ value, label: value }))
  return (
    <FilterChips
      page="decisions"
      filters={[
        { name: 'verdict', label: 'Verdict', options: VERDICT_OPTIONS },
        { name: 'tier', label: 'Tier', options: options(data?.tiers) },
        { name: 'policy_version', label: 'Policy', options: options(data?.policy_versions) },
        { name: 'product', label: 'Product', options: options(data?.products) },
        { name: 'entity_id', label: 'Entity', placeholder: 'ent_…' },
        { name: 'review', label: 'Review', options: REVIEW_OPTIONS },
        { name: 'outcome', label: 'Outcome', options: OUTCOME_OPTIONS },
        { name: 'from', label: 'From (UTC)', type: 'date' },
        { name: 'to', label: 'To (UTC)', type: 'date' },
      ]}
    />
  )
}

function NoDecisions({ isFiltered, onSearchOn }: { isFiltered: boolean; onSearchOn?: () => void }) {
  if (onSearchOn)
    return (
      <EmptyState title="Nothing found yet" actions={<Button onClick={onSearchOn}>Search further back</Button>}>
        The newest decisions do not match. The search stopped to stay quick.
      </EmptyState>
    )
  if (isFiltered)
    return (
      <EmptyState
        title="No decision matches"
        actions={
          <Button component={PageLink} to="decisions" variant="default">
            Remove all filters
          </Button>
        }
      >
        No decision of this environment has all of these.
      </EmptyState>
    )
  return (
    <EmptyState
      title="No decisions yet"
      actions={
        <Button component={PageLink} to="playground">
          Try one in the playground
        </Button>
      }
    >
      Every answer of POST /v1/underwrite lands here at once, with everything that led to it.
    </EmptyState>
  )
}

function productOf({ product }: ListedDecision) {
  const words = product.replaceAll('_', ' ')
  return <span title={words}>{words}</span>
}

function outcomeOf({ outcome }: ListedDecision) {
  return outcome ? outcome.replaceAll('_', ' ') : <span className="dim">–</span>
}
