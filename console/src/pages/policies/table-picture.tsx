import type { ReactNode } from 'react'
import { GRID_POINTS_MAX, gridOf, wordsOfBand } from '../../../../server/src/core/policy/table-grid.ts'
import { Verdict } from '../../components/verdict.tsx'
import { PlainTable } from './plain-table.tsx'
import classes from './policies.module.css'
import type { PolicyDocument } from './policy.ts'

type Table = NonNullable<PolicyDocument['tables']>[number]
type Row = Table['rows'][number]

/** What a rule, or a row of a table, does. */
export const ACTIONS: Readonly<Record<Row['then'] | 'points', ReactNode>> = {
  decline: <Verdict verdict="decline" />,
  manual_review: <Verdict verdict="manual_review" />,
  condition: <Verdict verdict="approve_with_conditions" />,
  cap: <span className="strong">Cap the amount</span>,
  points: <span className="strong">Add points</span>,
  none: <span className="dim">Nothing</span>,
}

/** A decision table as a picture: two columns span a field, other tables are shown row by row. */
export function TablePicture({ table }: { table: Table }) {
  const grid = gridOf(table)
  return table.columns.length === 2 && grid.size <= GRID_POINTS_MAX ? <Field table={table} /> : <ByRow table={table} />
}

/** The first column runs down, the second across; each place of the field shows the row that holds its values. */
function Field({ table }: { table: Table }) {
  const { axes, rowsAt } = gridOf(table)
  const [down, across] = axes as [(typeof axes)[number], (typeof axes)[number]]
  const rowAt = (first: number, second: number) => rowsAt(first + second * down.bands.length)[0]
  // A missing value is shown where a cell asks for it.
  const placesOf = ({ column, bands }: typeof down) => {
    const isAsked = table.rows.some(({ when }) => when[column]?.missing)
    return [...bands.keys()].filter((at) => isAsked || bands[at]!.kind !== 'missing')
  }
  const [downPlaces, acrossPlaces] = [placesOf(down), placesOf(across)]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard
    <section className={classes.scroll} aria-label={`Table ${words(table.table)}`} tabIndex={0}>
      <table className={classes.field}>
        <caption className="visually-hidden">{table.label}</caption>
        <thead>
          <tr>
            <td />
            <th scope="colgroup" colSpan={acrossPlaces.length}>
              {words(across.column)}
            </th>
          </tr>
          <tr>
            <th scope="col">{words(down.column)}</th>
            {acrossPlaces.map((at) => (
              <th key={at} scope="col">
                {wordsOfBand(across.bands[at]!)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {/* The best values of most columns are the highest, so they are at the top. */}
          {downPlaces.toReversed().map((first) => (
            <tr key={first}>
              <th scope="row">{wordsOfBand(down.bands[first]!)}</th>
              {runsOf(acrossPlaces.map((second) => rowAt(first, second))).map(({ row, length, start }) => (
                <Place key={start} row={row === undefined ? undefined : table.rows[row]} length={length} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Place({ row, length }: { row: Row | undefined; length: number }) {
  if (row === undefined)
    return (
      <td colSpan={length} data-action="gap">
        no row
      </td>
    )
  return (
    <td colSpan={length} data-action={row.then}>
      {ACTIONS[row.then]}
      <span className={classes.rowName}>{words(row.row)}</span>
    </td>
  )
}

/** Neighbours that are alike, as one place of several columns. */
function runsOf(rows: readonly (number | undefined)[]): { row: number | undefined; length: number; start: number }[] {
  const runs: { row: number | undefined; length: number; start: number }[] = []
  for (const [start, row] of rows.entries()) {
    const last = runs.at(-1)
    if (last && last.row === row) last.length++
    else runs.push({ row, length: 1, start })
  }
  return runs
}

function ByRow({ table: { table, columns, rows } }: { table: Table }) {
  return (
    <PlainTable
      label={`Table ${words(table)}`}
      head={[...columns.map(({ column }) => words(column)), 'Then']}
      rows={rows.map(({ row, when, then }) => [
        ...columns.map(({ column }) => <CellWords key={`${row} ${column}`} cell={when[column]} />),
        ACTIONS[then],
      ])}
    />
  )
}

function CellWords({ cell }: { cell: Row['when'][string] | undefined }) {
  if (cell === undefined) return <span className="dim">any</span>
  const { from, below, equals, in: among, not_in, missing } = cell
  const parts = [
    ...(from === undefined && below === undefined ? [] : [wordsOfBand({ kind: 'range', from, below })]),
    ...(equals === undefined ? [] : [String(equals)]),
    ...(among === undefined ? [] : [among.join(', ')]),
    ...(not_in === undefined ? [] : [`not ${not_in.join(', ')}`]),
    ...(missing ? ['missing'] : []),
  ]
  return <>{parts.join(' or ')}</>
}

function words(name: string): string {
  return name.replaceAll('_', ' ')
}
