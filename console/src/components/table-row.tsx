// biome-ignore-all lint/a11y/noRedundantRoles: WebKit drops the roles of table elements that are laid out as blocks or grids
import { Fragment, type ReactNode } from 'react'
import classes from './data-table.module.css'
import { PageLink } from './page-link.tsx'
import type { PageTarget } from './page-search.ts'

/** A column of a table. */
export interface Column<Row> {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** Makes the column sortable by this value, among the rows that are loaded. */
  sortBy?: (row: Row) => string | number
  /** At the right end, for numbers and dates. */
  end?: boolean
  hideOnPhone?: boolean
  /** The track of the column in a long table, such as `minmax(90px, 1fr)`; what its cells hold does not change it. */
  track?: string
  /** Where the cell stands on a phone, in a table whose rows stack there; cells without a place are left out. */
  onPhone?: PhonePlace
}

/** A place in a row of a phone: two on each of two lines, and one line of its own below. */
type PhonePlace = 'top' | 'top end' | 'bottom' | 'bottom end' | 'below'

/** What every row of a table needs to be drawn. */
export interface RowProps<Row> {
  columns: readonly Column<Row>[]
  /** The page that a row leads to, within the place; then the first cell is a link that covers the row. */
  linkOf?: (row: Row) => PageTarget | undefined
  /** What unfolds below a row; undefined for a folded one. */
  below?: (row: Row) => ReactNode | undefined
  isSelected?: (row: Row) => boolean
}

/** One row of a table, with what unfolds below it. */
export function BodyRow<Row extends object>({
  row,
  columns,
  linkOf,
  below,
  isSelected,
  index,
  height = 0,
}: RowProps<Row> & {
  row: Row
  /** The number of the row in a long table, whose rows are of one height and stand where their number says. */
  index?: number
  height?: number
}) {
  const link = linkOf?.(row)
  const unfolded = below?.(row)
  const selected = isSelected?.(row) ?? unfolded !== undefined
  return (
    <Fragment>
      <tr
        role="row"
        data-link={link !== undefined || undefined}
        data-selected={selected || undefined}
        // Counted from 1, and the column names are the first row.
        aria-rowindex={index === undefined ? undefined : index + 2}
        style={index === undefined ? undefined : { top: index * height, height }}
      >
        {columns.map((column, position) => (
          <td
            key={column.id}
            role="cell"
            data-end={column.end}
            data-hide-on-phone={column.hideOnPhone}
            data-on-phone={column.onPhone}
          >
            {position === 0 && link !== undefined ? (
              <PageLink {...link} className={classes.rowLink}>
                {column.cell(row)}
              </PageLink>
            ) : (
              column.cell(row)
            )}
          </td>
        ))}
      </tr>
      {unfolded !== undefined && (
        <tr role="row" className={classes.unfolded}>
          <td role="cell" colSpan={columns.length}>
            {unfolded}
          </td>
        </tr>
      )}
    </Fragment>
  )
}
