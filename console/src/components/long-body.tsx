// biome-ignore-all lint/a11y/noRedundantRoles: WebKit drops the roles of table elements that are laid out as blocks or grids
import { useMediaQuery } from '@mantine/hooks'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { BodyRow, type RowProps } from './table-row.tsx'

/** The height of a row, and of one on a phone, where its cells stand on two lines. */
const ROW_HEIGHT = 37
const PHONE_ROW_HEIGHT = 64
/** Rows that are drawn beyond the window. */
const OVERSCAN = 10
/** How many rows before the end the next page is asked for: a few screens, so that scrolling does not wait. */
const ROWS_AHEAD = 60

/** Drawn again only with other props: rows that stay while the list is scrolled cost nothing. */
const LongRow = memo(BodyRow) as typeof BodyRow

/** The body of a long table: draws the rows near the window, each at its own place. Rows do not unfold. */
export function LongBody<Row extends object>({
  rows,
  keyOf,
  more,
  ...rowProps
}: Omit<RowProps<Row>, 'below'> & {
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
  const height = isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT
  // Kept between renders: with another function the virtualizer places all rows again, for every frame that is scrolled.
  const estimateSize = useCallback(() => height, [height])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize,
    overscan: OVERSCAN,
    scrollMargin: top,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sizes are measured again when the layout changes
  useEffect(() => virtualizer.measure(), [height])
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const { hasNextPage = false, isFetchingNextPage = false, fetchNextPage } = more ?? {}
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && rows.length > 0 && last >= rows.length - ROWS_AHEAD) fetchNextPage?.()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, rows.length])
  return (
    <tbody ref={body} role="rowgroup" style={{ height: rows.length * height }}>
      {items.map(({ index }) => {
        const row = rows[index]!
        return <LongRow key={keyOf(row)} row={row} index={index} height={height} {...rowProps} />
      })}
    </tbody>
  )
}
