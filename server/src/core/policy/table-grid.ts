/** A cell of a decision table: the values of its column that a row is about. */
export interface TableCell {
  from?: number
  below?: number
  equals?: string | boolean
  in?: readonly string[]
  not_in?: readonly string[]
  missing?: true
}

/** What is drawn and checked of a decision table. */
export interface TableShape {
  columns: readonly { column: string; value: string }[]
  rows: readonly { when: Readonly<Record<string, TableCell>> }[]
}

/** A set of values of a column that every cell of the table holds or does not hold as a whole. */
export type Band =
  | { kind: 'range'; from: number | undefined; below: number | undefined }
  | { kind: 'text'; text: string }
  | { kind: 'other_texts' }
  | { kind: 'flag'; flag: boolean }
  | { kind: 'missing' }

/** A column of a table as the bands that its cells divide it into; each value is in one of them. */
export interface GridAxis {
  column: string
  bands: Band[]
}

/** A table as a grid of bands, with the rows that hold each point of it. */
export interface TableGrid {
  axes: GridAxis[]
  /** How many points there are. */
  size: number
  /** The bands of a point, one for each axis, as indices. */
  bandsAt: (point: number) => number[]
  /** The indices of the rows that hold a point, in their order. */
  rowsAt: (point: number) => number[]
}

/** The points of a grid that are looked at; a table with more is divided too finely for people as well. */
export const GRID_POINTS_MAX = 20_000

/**
 * Divides the columns of a table at the bounds and texts that its cells name. `textsOf` gives all texts that a column can have,
 * where they are known. Every column also has a band for a missing value.
 */
export function gridOf(
  table: TableShape,
  textsOf: (value: string) => readonly string[] | undefined = () => undefined,
): TableGrid {
  const axes = table.columns.map(({ column, value }) => {
    const cells = table.rows.flatMap(({ when }) => when[column] ?? [])
    return { column, bands: [...bandsOf(cells, textsOf(value)), { kind: 'missing' } as const] }
  })
  const size = axes.reduce((product, { bands }) => product * bands.length, 1)
  const bandsAt = (point: number) => {
    let rest = point
    return axes.map(({ bands }) => {
      const index = rest % bands.length
      rest = (rest - index) / bands.length
      return index
    })
  }
  const rowsAt = (point: number) => {
    const bands = bandsAt(point)
    return [...table.rows.keys()].filter((row) =>
      axes.every(({ column, bands: all }, axis) => {
        const cell = table.rows[row]!.when[column]
        return cell === undefined || holdsBand(cell, all[bands[axis]!]!)
      }),
    )
  }
  return { axes, size, bandsAt, rowsAt }
}

function bandsOf(cells: readonly TableCell[], texts: readonly string[] | undefined): Band[] {
  if (cells.some(({ equals }) => typeof equals === 'boolean'))
    return [true, false].map((flag) => ({ kind: 'flag', flag }))
  const bounds = cells.flatMap(({ from, below }) => [from, below]).filter((bound) => bound !== undefined)
  if (bounds.length > 0) {
    const cuts = [...new Set(bounds)].sort((a, b) => a - b)
    return [undefined, ...cuts].map((from, index) => ({ kind: 'range', from, below: cuts[index] }))
  }
  const named = cells.flatMap(({ equals, in: set = [], not_in = [] }) => [
    ...(typeof equals === 'string' ? [equals] : []),
    ...set,
    ...not_in,
  ])
  const all = [...new Set(texts ?? named)].map((text): Band => ({ kind: 'text', text }))
  return texts === undefined ? [...all, { kind: 'other_texts' }] : all
}

/** Whether a cell holds the values of a band. */
export function holdsBand({ from, below, equals, in: set, not_in, missing }: TableCell, band: Band): boolean {
  const isOnlyMissing = [from, below, equals, set, not_in].every((part) => part === undefined)
  if (band.kind === 'missing') return missing === true
  if (isOnlyMissing) return false
  switch (band.kind) {
    case 'range':
      return (from ?? -Infinity) <= (band.from ?? -Infinity) && (band.below ?? Infinity) <= (below ?? Infinity)
    case 'flag':
      return equals === band.flag
    case 'text':
      return (
        (equals === undefined || equals === band.text) &&
        (set === undefined || set.includes(band.text)) &&
        !not_in?.includes(band.text)
      )
    case 'other_texts':
      return equals === undefined && set === undefined
  }
}

/** A band in words, which can follow the name of its column. */
export function wordsOfBand(band: Band): string {
  switch (band.kind) {
    case 'range':
      if (band.from === undefined) return band.below === undefined ? 'any number' : `below ${band.below}`
      return band.below === undefined ? `${band.from} or more` : `${band.from} to below ${band.below}`
    case 'flag':
      return String(band.flag)
    case 'text':
      return band.text === '' ? '""' : band.text
    case 'other_texts':
      return 'any other text'
    case 'missing':
      return 'missing'
  }
}
