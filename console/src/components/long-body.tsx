import { useMediaQuery } from '@mantine/hooks'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { BodyRow, type RowProps } from './table-row.tsx'

/** The height of a row with one line; those that are drawn are of about this height. */
const ROW_HEIGHT = 37
/** The height of a row on a phone, where its cells stand on two lines; the style sheet sets it. */
const PHONE_ROW_HEIGHT = 64
/** Rows that are drawn beyond the window. */
const OVERSCAN = 15
/** How many rows before the end the next page is asked for: a few screens, so that scrolling does not wait. */
const ROWS_AHEAD = 60

/** The body of a long table: draws the rows near the window, between two empty rows as high as the others. */
export function LongBody<Row extends object>({
  rows,
  keyOf,
  more,
  ...props
}: RowProps<Row> & {
  rows: readonly Row[]
  keyOf: (row: Row) => string
  more?: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown } | undefined
}) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  const isPhone = useMediaQuery('(max-width: 760px)', undefined, { getInitialValueInEffect: false }) ?? false
  useLayoutEffect(() => {
    if (body.current) setTop(body.current.getBoundingClientRect().top + window.scrollY)
  }, [])
  // Kept between renders: with another function the virtualizer places all rows again, for every frame that is scrolled.
  const getItemKey = useCallback((index: number) => keyOf(rows[index]!), [rows, keyOf])
  const estimateSize = useCallback(() => (isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT), [isPhone])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sizes are measured again when the layout changes
  useEffect(() => virtualizer.measure(), [isPhone])
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const { hasNextPage = false, isFetchingNextPage = false, fetchNextPage } = more ?? {}
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && rows.length > 0 && last >= rows.length - ROWS_AHEAD) fetchNextPage?.()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, rows.length])
  const before = items.length > 0 ? items[0]!.start - top : 0
  const after = items.length > 0 ? virtualizer.getTotalSize() - (items.at(-1)!.end - top) : 0
  return (
    <tbody ref={body}>
      <Gap height={before} columns={props.columns.length} />
      {items.map(({ index, key }) => (
        <BodyRow key={key} row={rows[index]!} position={index} {...props} />
      ))}
      <Gap height={after} columns={props.columns.length} />
    </tbody>
  )
}

function Gap({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without a tabindex takes no focus
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  )
}
