// biome-ignore-all lint/a11y/noRedundantRoles: WebKit drops the roles of table elements that are laid out as blocks or grids
import { Button, Skeleton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import {
  createSortedRowModel,
  rowSortingFeature,
  sortFn_alphanumeric,
  sortFn_basic,
  sortFn_text,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import type { CSSProperties, ReactNode } from 'react'
import { isOutage } from '../api/outage.ts'
import classes from './data-table.module.css'
import { Failed } from './failed.tsx'
import { LongBody } from './long-body.tsx'
import { BodyRow, type Column, type RowProps } from './table-row.tsx'
import { useSearchTexts } from './use-search.ts'

/** The part of a query result that a table needs. */
interface Loading {
  isPending: boolean
  error: Error | null
  refetch?: () => unknown
}

/** The part of a paged query that loads more rows. */
interface More {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

export type { Column }

/** What a table shows. */
export interface DataTableProps<Row> extends RowProps<Row> {
  /** What the rows are, for screen readers: "API keys". */
  label: string
  /** Undefined while they load. */
  rows: readonly Row[] | undefined
  keyOf: (row: Row) => string
  /** The query behind the rows: shows its error, with a way to try again. */
  query?: Loading
  more?: More
  /** What stands instead of an empty table. */
  empty?: ReactNode
  /** A list that may grow to many thousand rows: only those near the window are drawn, and more load as one scrolls. */
  isLong?: boolean
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric, basic: sortFn_basic, text: sortFn_text },
})
const NO_ROWS: never[] = []
const SKELETON_ROWS = [0.9, 0.7, 0.8, 0.6, 0.75]

/** A table whose rows are links. Its sort order lives in the URL as `sort=name`, or `sort=-name` for descending. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, rows, keyOf, query, more, empty, isLong = false, ...rowProps } = props
  const { columns } = rowProps
  const [search, setSearch] = useSearchTexts()
  const sort = search.sort ?? ''
  const table = useTable({
    features,
    columns: columns.map((column) => ({
      id: column.id,
      header: column.header,
      accessorFn: (row: Row) => column.sortBy?.(row),
      enableSorting: column.sortBy !== undefined,
    })),
    // A long list is drawn as it was sent: rows of a table would be made for all of it with every page that arrives.
    data: (isLong && sort === '' ? NO_ROWS : (rows ?? NO_ROWS)) as Row[],
    getRowId: keyOf,
    state: { sorting: sort ? [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }] : [] },
  })
  if (query?.error && rows === undefined) return <FailedRows query={query} />
  if (rows?.length === 0 && empty) return empty
  return (
    <>
      {query?.error && !isOutage(query.error) && <FailedRows query={query} isAgain />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard */}
      <section className={classes.scroll} data-page={isLong || undefined} aria-label={label} tabIndex={0}>
        <table
          role="table"
          className={classes.table}
          data-stacked={columns.some(({ onPhone }) => onPhone) || undefined}
          data-long={isLong || undefined}
          style={isLong ? ({ '--tracks': columns.map(trackOf).join(' ') } as CSSProperties) : undefined}
          aria-busy={rows === undefined}
          // Not all rows are in the document, and the end of the list is not known while there is more.
          aria-rowcount={isLong ? (more?.hasNextPage ? -1 : (rows?.length ?? 0) + 1) : undefined}
        >
          <caption className="visually-hidden">{label}</caption>
          <Head columns={columns} sort={sort} onSort={(next) => setSearch({ sort: next })} />
          {rows !== undefined && isLong ? (
            <LongBody
              rows={sort === '' ? rows : table.getRowModel().rows.map((row) => row.original)}
              keyOf={keyOf}
              more={more}
              {...rowProps}
            />
          ) : (
            <tbody role="rowgroup">
              {rows === undefined ? (
                <SkeletonRows columns={columns} />
              ) : (
                table.getRowModel().rows.map((row) => <BodyRow key={row.id} row={row.original} {...rowProps} />)
              )}
            </tbody>
          )}
        </table>
      </section>
      {more?.hasNextPage && (
        <div className={classes.more}>
          <Button variant="default" size="xs" loading={more.isFetchingNextPage} onClick={() => more.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
    </>
  )
}

/** Says in the place of the rows, or above the ones that are shown, that they could not be read. */
function FailedRows({ query: { error, refetch }, isAgain = false }: { query: Loading; isAgain?: boolean }) {
  if (!error) return null
  return (
    <div className={classes.failed}>
      <Failed
        what={`These rows could not be read${isAgain ? ' again' : ''}`}
        error={error}
        {...(refetch && { onRetry: refetch })}
      />
    </div>
  )
}

function trackOf<Row>({ track = 'minmax(0, 1fr)' }: Column<Row>): string {
  return track
}

function Head<Row>({
  columns,
  ...sorting
}: {
  columns: readonly Column<Row>[]
  sort: string
  onSort: (sort: string) => void
}) {
  return (
    <thead role="rowgroup">
      <tr role="row">
        {columns.map((column) => (
          <HeaderCell key={column.id} column={column} {...sorting} />
        ))}
      </tr>
    </thead>
  )
}

function HeaderCell<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>
  sort: string
  onSort: (sort: string) => void
}) {
  const direction = sort === column.id ? 'ascending' : sort === `-${column.id}` ? 'descending' : undefined
  return (
    <th
      role="columnheader"
      scope="col"
      data-end={column.end}
      data-hide-on-phone={column.hideOnPhone}
      aria-sort={column.sortBy ? (direction ?? 'none') : undefined}
    >
      {column.sortBy ? (
        <button
          type="button"
          className={classes.sort}
          onClick={() => onSort(direction === 'ascending' ? `-${column.id}` : column.id)}
        >
          {column.header}
          {direction === 'ascending' && <IconArrowUp size={12} />}
          {direction === 'descending' && <IconArrowDown size={12} />}
        </button>
      ) : (
        column.header || <span className="visually-hidden">Actions</span>
      )}
    </th>
  )
}

function SkeletonRows<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return SKELETON_ROWS.map((width) => (
    <tr key={width} role="row">
      {columns.map((column) => (
        <td
          key={column.id}
          role="cell"
          data-end={column.end}
          data-hide-on-phone={column.hideOnPhone}
          data-on-phone={column.onPhone}
        >
          <Skeleton height={12} width={`${width * 70}%`} display="inline-block" />
        </td>
      ))}
    </tr>
  ))
}
