import { Button } from '@mantine/core'
import { useOperation, usePages } from '../../api/use-operation.ts'
import { pathIn, usePlace } from '../../api/use-place.ts'
import { type AuditEntry, actorName } from '../../components/audit-entry.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Failed } from '../../components/failed.tsx'
import { FilterChips } from '../../components/filter-chips.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PageLink, PathLink } from '../../components/page-link.tsx'
import { SearchEnded } from '../../components/search-ended.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { startOfUtcDay } from '../../components/utc-day.ts'
import { writeCount } from '../../components/write-number.ts'
import classes from './audit-log-page.module.css'
import { EntryDetail } from './entry-detail.tsx'
import { ExportMenu } from './export-menu.tsx'
import { LogStatus } from './log-status.tsx'
import { Sealed } from './sealed.tsx'

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'what', header: 'What', onPhone: 'top', cell: (entry) => <What entry={entry} /> },
  { id: 'who', header: 'Who', onPhone: 'bottom', cell: ({ actor }) => actorName(actor) },
  {
    id: 'target',
    header: 'Target',
    onPhone: 'bottom end',
    cell: ({ subject }) => (
      <span className="nowrap">
        <span className="dim">{subject.type.replaceAll('_', ' ')}</span>{' '}
        <code title={subject.id}>{tail(subject.id)}</code>
      </span>
    ),
  },
  { id: 'sealed', header: 'Proof', hideOnPhone: true, cell: (entry) => <Sealed entry={entry} /> },
  { id: 'when', header: 'When', end: true, onPhone: 'top end', cell: ({ occurred_at }) => <Time at={occurred_at} /> },
]

/** The page "Audit log": who did what, whether the log is proved, and its export. */
export function AuditLogPage() {
  const [{ entry: open, ...kept }] = usePageSearch('audit-log')
  const filter = useFilter()
  const pages = usePages('audit-log.list', { ...filter, limit: 50 })
  const entries = pages.data?.pages.flatMap((page) => page.entries)
  return (
    <>
      <PageHeader
        title="Audit log"
        below="Everything that happened here, in order, sealed so that nothing can be changed unseen"
      >
        <ExportMenu filter={filter} />
      </PageHeader>
      <LogStatus />
      <OtherLogHint />
      <div className={classes.filters}>
        <Filters />
      </div>
      {open && !entries?.some(({ id }) => id === open) && <SingleEntry id={open} />}
      <Section flush>
        <DataTable
          label="Entries of the audit log"
          columns={COLUMNS}
          rows={entries}
          keyOf={({ id }) => id}
          linkOf={({ id }) => ({ to: 'audit-log', search: { ...kept, ...(id !== open && { entry: id }) } })}
          below={(entry) => (entry.id === open ? <EntryDetail entry={entry} /> : undefined)}
          query={{ isPending: pages.isPending, error: pages.error, refetch: () => void pages.refetch() }}
          more={pages}
          empty={
            pages.hasNextPage ? <NoMatchYet pages={pages} /> : <NoEntries isFiltered={Object.keys(filter).length > 0} />
          }
        />
        {entries && entries.length > 0 && pages.data?.pages.at(-1)?.is_cut_short && <SearchEnded rows="entries" />}
      </Section>
    </>
  )
}

/** The filters of the URL as the server takes them. Days are counted in UTC, as on the charts that link here. */
function useFilter() {
  const [{ from, to, entry: _entry, sort: _sort, ...filter }] = usePageSearch('audit-log')
  return {
    ...filter,
    ...(from && { from: startOfUtcDay(from, 0) }),
    ...(to && { before: startOfUtcDay(to, 1) }),
  }
}

function Filters() {
  const { data } = useOperation('audit-log.list-filters', {})
  return (
    <FilterChips
      page="audit-log"
      filters={[
        { name: 'type', label: 'What', options: (data?.types ?? []).map((type) => ({ value: type, label: type })) },
        {
          name: 'actor',
          label: 'Who',
          options: (data?.actors ?? []).map(({ id, name }) => ({ value: id, label: name ?? id })),
        },
        { name: 'target', label: 'Target', placeholder: 'ent_…, dec_…, key_…' },
        { name: 'from', label: 'From (UTC)', type: 'date' },
        { name: 'to', label: 'To (UTC)', type: 'date' },
      ]}
    />
  )
}

function OtherLogHint() {
  const place = usePlace()
  if (place.environment === 'production') return null
  return (
    <p className={classes.hint}>
      Each environment has its own log. What concerns people and the live gate is on the{' '}
      <PathLink path={pathIn({ ...place, environment: 'production' }, 'audit-log')}>production log</PathLink>.
    </p>
  )
}

function SingleEntry({ id }: { id: string }) {
  const query = useOperation('audit-log.show-entry', { id })
  return (
    <Section title="Entry" className={classes.single}>
      {query.error && !query.data && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && <EntryDetail entry={query.data} />}
    </Section>
  )
}

function NoEntries({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered)
    return (
      <EmptyState title="Nothing has happened here yet">
        Every request that changes something, and everything that operators do, lands here.
      </EmptyState>
    )
  return (
    <EmptyState
      title="No entry matches"
      actions={
        <Button component={PageLink} to="audit-log" variant="default">
          Show all entries
        </Button>
      }
    >
      Remove a filter, or look at the log of the other environment.
    </EmptyState>
  )
}

/** One call of the server looks at so many entries. */
const ENTRIES_PER_SEARCH = 20_000

function NoMatchYet({ pages }: { pages: ReturnType<typeof usePages<'audit-log.list'>> }) {
  const searched = (pages.data?.pages.length ?? 1) * ENTRIES_PER_SEARCH
  return (
    <EmptyState
      title={`No match among the newest ${writeCount(searched)} entries`}
      actions={
        <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Load more
        </Button>
      }
    >
      The search stopped here to stay quick. Older entries may match: load more to search further back.
    </EmptyState>
  )
}

/** What happened, and below it why, where a person had to say it. */
function What({ entry: { type, data } }: { entry: AuditEntry }) {
  const reason = data.reason ?? data.why
  return (
    <>
      <code>{type}</code>
      {typeof reason === 'string' && (
        <span className={`truncate ${classes.why}`} title={reason}>
          {reason}
        </span>
      )}
    </>
  )
}

function tail(id: string): string {
  return id.length > 14 ? `…${id.slice(-6)}` : id
}
