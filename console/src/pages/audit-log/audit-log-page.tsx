import { Button } from '@mantine/core'
import { useOperation, usePages } from '../../api/use-operation.ts'
import { pathIn, usePlace } from '../../api/use-place.ts'
import { type AuditEntry, actorName } from '../../components/audit-entry.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Failed } from '../../components/failed.tsx'
import { FilterChips } from '../../components/filter-chips.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useFollow, usePageHref } from '../../components/page-link.tsx'
import { SearchEnded } from '../../components/search-ended.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { useSearchString } from '../../components/use-search.ts'
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
  const [search] = useSearchString()
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
      {search.entry && !entries?.some(({ id }) => id === search.entry) && <SingleEntry id={search.entry} />}
      <Section flush>
        <DataTable
          label="Entries of the audit log"
          columns={COLUMNS}
          rows={entries}
          keyOf={({ id }) => id}
          linkOf={({ id }) => linkTo(search, id)}
          below={(entry) => (entry.id === search.entry ? <EntryDetail entry={entry} /> : undefined)}
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
  const [{ actor, type, target, from, to }] = useSearchString()
  return {
    ...(actor && { actor }),
    ...(type && { type }),
    ...(target && { target }),
    ...(from && { from: startOfUtcDay(from, 0) }),
    ...(to && { before: startOfUtcDay(to, 1) }),
  }
}

function Filters() {
  const { data } = useOperation('audit-log.filters', {})
  return (
    <FilterChips
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
  const follow = useFollow()
  if (place.environment === 'production') return null
  const href = pathIn({ ...place, environment: 'production' }, 'audit-log')
  return (
    <p className={classes.hint}>
      Each environment has its own log. What concerns people and the live gate is on the{' '}
      <a href={href} onClick={(event) => follow(event, href)}>
        production log
      </a>
      .
    </p>
  )
}

function SingleEntry({ id }: { id: string }) {
  const query = useOperation('audit-log.entry', { id })
  return (
    <Section title="Entry" className={classes.single}>
      {query.error && !query.data && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && <EntryDetail entry={query.data} />}
    </Section>
  )
}

function NoEntries({ isFiltered }: { isFiltered: boolean }) {
  const href = usePageHref()('audit-log')
  const follow = useFollow()
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
        <Button component="a" variant="default" href={href} onClick={(event) => follow(event, href)}>
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

function linkTo({ entry, ...search }: Readonly<Record<string, string | undefined>>, id: string): string {
  const set = Object.entries({ ...search, ...(entry !== id && { entry: id }) }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  return set.length > 0 ? `audit-log?${new URLSearchParams(set)}` : 'audit-log'
}

function tail(id: string): string {
  return id.length > 14 ? `…${id.slice(-6)}` : id
}
