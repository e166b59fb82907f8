import { Fragment, type ReactNode } from 'react'
import classes from './data-table.module.css'
import { PageLink } from './page-link.tsx'

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
  /** Where the cell stands on a phone, in a table whose rows stack there; cells without a place are left out. */
  onPhone?: PhonePlace
}

/** A place in a row of a phone: two on each of two lines, and one line of its own below. */
type PhonePlace = 'top' | 'top end' | 'bottom' | 'bottom end' | 'below'

/** What every row of a table needs to be drawn. */
export interface RowProps<Row> {
  columns: readonly Column<Row>[]
  /** The page that a row leads to, within the place; then the first cell is a link that covers the row. */
  linkOf?: (row: Row) => string | undefined
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
  position,
}: RowProps<Row> & {
  row: Row
  /** The number of the row in a table that does not hold all rows. */
  position?: number
}) {
  const link = linkOf?.(row)
  const unfolded = below?.(row)
  const selected = isSelected?.(row) ?? unfolded !== undefined
  return (
    <Fragment>
      <tr
        data-link={link !== undefined || undefined}
        data-selected={selected || undefined}
        aria-rowindex={position === undefined ? undefined : position + 2}
      >
        {columns.map((column, index) => (
          <td
            key={column.id}
            data-end={column.end}
            data-hide-on-phone={column.hideOnPhone}
            data-on-phone={column.onPhone}
          >
            {index === 0 && link !== undefined ? (
              <PageLink to={link} className={classes.rowLink}>
                {column.cell(row)}
              </PageLink>
            ) : (
              column.cell(row)
            )}
          </td>
        ))}
      </tr>
      {unfolded !== undefined && (
        <tr className={classes.unfolded}>
          <td colSpan={columns.length}>{unfolded}</td>
        </tr>
      )}
    </Fragment>
  )
}
