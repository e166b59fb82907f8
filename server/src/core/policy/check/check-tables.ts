import { findFeature, needsMissingReason } from '../../facts/feature-catalogue.ts'
import type { FeatureType } from '../../vocabularies.ts'
import { JUDGED_VARIABLES } from '../compile/judged-variables.ts'
import { type PolicySlots, policySlots } from '../compile/policy-slots.ts'
import { checkedType } from '../expression/check-expression.ts'
import { compileExpression } from '../expression/compile-expression.ts'
import { matchesIn } from '../expression/matches-in.ts'
import type { PolicyDocument, PolicyRule, PolicyTable, PolicyTableRow } from '../policy-document.ts'
import { NAME, ruleOfRow } from '../table-conditions.ts'
import { GRID_POINTS_MAX, gridOf, type TableCell, type TableGrid, wordsOfBand } from '../table-grid.ts'
import { namesIn } from './check-comparisons.ts'
import {
  capProblems,
  conditionProblems,
  coverProblems,
  impactProblems,
  questionProblems,
  refusedForDecline,
} from './check-rules.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** Finds tables whose columns do not compile, whose cells do not fit, and what `checkRows` and `checkGrid` find. */
export function checkTables(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  return (document.tables ?? []).flatMap((table, index) => {
    const path = ['tables', index]
    const types = table.columns.map(({ value }, column) =>
      columnType(value, { path: [...path, 'columns', column], slots }),
    )
    const wrong = types.filter((type) => typeof type !== 'string')
    if (wrong.length > 0) return wrong
    const inCells = checkCells(table, types as FeatureType[], path)
    return [
      ...inCells,
      ...checkRows(document, table, { path, slots }),
      ...(inCells.length > 0 ? [] : checkGrid(document, table, path)),
    ]
  })
}

type Path = (string | number)[]

function columnType(value: string, { path, slots }: { path: Path; slots: PolicySlots }): FeatureType | PolicyProblem {
  const at = [...path, 'value']
  if (matchesIn(value).length > 0)
    return { path: at, message: 'tables are evaluated for each amount; put matches into a derived feature' }
  const type = checkedType(value, { slotOf: slots.all, types: slots.types })
  if (typeof type === 'string') return type
  return { path: at, offset: type.offset, message: `column ${type.offset + 1}: ${type.message}` }
}

/** Finds cells of columns that are not there, of another type than the column, or that hold no value. */
function checkCells({ table, columns, rows }: PolicyTable, types: readonly FeatureType[], path: Path): PolicyProblem[] {
  const names = columns.map(({ column }) => column)
  return rows.flatMap(({ row, when }, index) =>
    Object.entries(when).flatMap(([column, cell]) => {
      const at = names.indexOf(column)
      const message =
        at === -1
          ? `table '${table}' has no column '${column}'; write one of ${names.join(', ')}`
          : cellProblem(cell, { type: types[at]!, value: columns[at]!.value })
      return message === undefined
        ? []
        : [
            {
              path: [...path, 'rows', index, 'when', column],
              message: at === -1 ? message : `row '${row}': ${message}`,
            },
          ]
    }),
  )
}

function cellProblem(cell: TableCell, { type, value }: { type: FeatureType; value: string }): string | undefined {
  const { from, below, equals, in: set, not_in, missing } = cell
  if (missing && !NAME.test(value))
    return `only a feature by itself can be asked whether it is missing; put '${value}' into a derived feature`
  const isRange = from !== undefined || below !== undefined
  const ways = [isRange, equals !== undefined, set !== undefined, not_in !== undefined].filter(Boolean).length
  if (ways === 0) return missing ? undefined : `an empty cell; remove it to hold any value, or give it ${CELLS[type]}`
  if (ways > 1) return `one cell asks in one way; give it ${CELLS[type]}`
  const fits =
    type === 'number'
      ? isRange
      : type === 'boolean'
        ? typeof equals === 'boolean'
        : typeof equals === 'string' || set !== undefined || not_in !== undefined
  if (!fits) return `'${value}' is a ${type}; give the cell ${CELLS[type]}`
  if (from !== undefined && below !== undefined && from >= below)
    return `no number is ${from} or more and below ${below}; exchange them, or raise 'below'`
  return undefined
}

const CELLS: Readonly<Record<FeatureType, string>> = {
  number: "'from', 'below' or both",
  string: "'equals', 'in' or 'not_in'",
  boolean: "'equals' with true or false",
}

/** Finds rows that say what to do in a way in which no rule may. */
function checkRows(
  document: PolicyDocument,
  table: PolicyTable,
  { path, slots }: { path: Path; slots: PolicySlots },
): PolicyProblem[] {
  const reads = table.columns.flatMap(({ value }) => {
    const compiled = compileExpression(value, slots.all)
    return 'reads' in compiled ? [...compiled.reads] : []
  })
  return table.rows.flatMap((row, index) => {
    const at = [...path, 'rows', index]
    const { then } = row
    if (then === 'none') return idleProblems(row, at)
    if (row.reason === undefined)
      return [{ path: at, message: `row '${row.row}' has no 'reason'; give it one, or write 'then: none'` }]
    const rule: PolicyRule = { ...ruleOfRow(table, row), then }
    const place = { list: 'after_score', index: 0, slots } as const
    const found = [
      ...conditionProblems(rule, place),
      ...questionProblems(rule, place),
      ...coverProblems(document, rule, place),
      ...impactProblems(rule, place),
      ...capProblems(document, rule, place),
    ]
    const refused = refusedForDecline(document, { action: then, reads }, slots)
    return [
      // What is found in a rule is at `after_score`, 0.
      ...found.map((problem) => ({ ...problem, path: [...at, ...problem.path.slice(2)] })),
      ...(refused === undefined ? [] : [{ path: at, message: `row '${row.row}': ${refused}` }]),
    ]
  })
}

function idleProblems(
  { row, cap, reason, condition, covers, questions_data }: PolicyTableRow,
  path: Path,
): PolicyProblem[] {
  const given = Object.entries({ cap, reason, condition, covers, questions_data }).find(
    ([, part]) => part !== undefined,
  )
  if (given === undefined) return []
  return [
    {
      path: [...path, given[0]],
      message: `row '${row}' does nothing; remove '${given[0]}', or say in 'then' what it does`,
    },
  ]
}

/** How many places of one kind a table is told of; more follow once these are corrected. */
const PLACES_MAX = 5

/** Finds values that no row holds, values that two rows hold, and rows that are never reached. */
function checkGrid(document: PolicyDocument, table: PolicyTable, path: Path): PolicyProblem[] {
  const names = namesIn(document)
  const grid = gridOf(table, (value) => names.get(value))
  if (grid.size > GRID_POINTS_MAX) {
    const message = `table '${table.table}' divides its columns into ${grid.size} cases, more than ${GRID_POINTS_MAX}; use fewer bounds, or two tables`
    return [{ path, message }]
  }
  const { gaps, overlaps, reached } = readGrid(grid)
  const isFirst = table.hit === 'first'
  const { rows } = table
  const shared = isFirst ? [] : [...overlaps].slice(0, PLACES_MAX)
  const unreached = [...rows.keys()].filter((row) => !reached.has(row))
  return [
    ...gapProblems(table, { grid, gaps, path }),
    ...shared.map(([pair, point]) => {
      const [first, second] = pair.split(' ').map((row) => rows[Number(row)]!.row)
      const message = `rows '${first}' and '${second}' both hold ${wordsOfBox(
        grid,
        boxAround(grid, point, (other) => hasPair(grid, other, pair)),
      )}; narrow one, or write 'hit: first'`
      return { path: [...path, 'rows', Number(pair.split(' ')[1])], message }
    }),
    ...unreached.flatMap((index) => {
      if (!isFirst && [...overlaps.keys()].some((pair) => pair.split(' ').includes(String(index)))) return []
      const message = `row '${rows[index]!.row}' of table '${table.table}' is never reached: ${isFirst ? 'rows above it hold all of its values; move it up, or remove it' : 'no value fits its cells; correct them, or remove it'}`
      return [{ path: [...path, 'rows', index], message }]
    }),
  ]
}

interface ReadGrid {
  /** The points that no row holds. */
  gaps: Set<number>
  /** Two rows that hold the same point, the first two of it, and the first such point. */
  overlaps: Map<string, number>
  /** The rows that are the first to hold a point. */
  reached: Set<number>
}

function readGrid({ size, rowsAt }: TableGrid): ReadGrid {
  const read: ReadGrid = { gaps: new Set(), overlaps: new Map(), reached: new Set() }
  for (let point = 0; point < size; point++) {
    const [first, second] = rowsAt(point)
    if (first === undefined) read.gaps.add(point)
    else read.reached.add(first)
    if (second !== undefined && !read.overlaps.has(`${first} ${second}`)) read.overlaps.set(`${first} ${second}`, point)
  }
  return read
}

function hasPair({ rowsAt }: TableGrid, point: number, pair: string): boolean {
  const [first, second] = rowsAt(point)
  return `${first} ${second}` === pair
}

/** A gap for known values is an error; for missing ones, where the table has no effect then, its author should know. */
function gapProblems(
  { table, columns }: PolicyTable,
  { grid, gaps, path }: { grid: TableGrid; gaps: ReadonlySet<number>; path: Path },
): PolicyProblem[] {
  const { axes, bandsAt } = grid
  const missingAxes = (point: number) =>
    bandsAt(point).flatMap((band, axis) => (axes[axis]!.bands[band]!.kind === 'missing' ? [axis] : []))
  const open = new Set(gaps)
  const problems: PolicyProblem[] = []
  for (const point of gaps) {
    if (!open.has(point) || missingAxes(point).length > 0) continue
    const box = boxAround(grid, point, (other) => open.has(other) && missingAxes(other).length === 0)
    for (const held of pointsIn(grid, box)) open.delete(held)
    if (problems.length === PLACES_MAX) break
    problems.push({ path, message: `table '${table}' has no row for ${wordsOfBox(grid, box)}; add one` })
  }
  const unsaid = new Set([...gaps].flatMap((point) => (missingAxes(point).length === 1 ? missingAxes(point) : [])))
  const canLack = [...unsaid].filter((axis) => !isAlwaysKnown(columns[axis]!.value))
  if (canLack.length === 0) return problems
  const names = canLack.map((axis) => `'${columns[axis]!.column}'`).join(' or ')
  const message = `table '${table}' has no effect where ${names} is missing; add a row with 'missing: true', or a rule that asks for it`
  return [...problems, { path, message, isWarning: true }]
}

/** Whether a value is known for every request for credit: what follows from the score and the product. */
function isAlwaysKnown(value: string): boolean {
  const definition = findFeature(value)
  return (
    (Object.hasOwn(JUDGED_VARIABLES, value) && value !== 'limit.amount') ||
    (definition !== undefined && !needsMissingReason(definition))
  )
}

/** For each axis the bands of a box: from the first to the last. */
type Box = [first: number, last: number][]

/** The largest box that grows from a point, axis by axis, while all of its points are `inside`. */
function boxAround(grid: TableGrid, point: number, inside: (point: number) => boolean): Box {
  const box = grid.bandsAt(point).map((band): [number, number] => [band, band])
  for (const [axis, { bands }] of grid.axes.entries()) {
    const side = box[axis]!
    while (side[1] + 1 < bands.length && bands[side[1] + 1]!.kind !== 'missing') {
      const next = box.map((one, index): [number, number] => (index === axis ? [side[1] + 1, side[1] + 1] : one))
      if (!pointsIn(grid, next).every(inside)) break
      side[1]++
    }
  }
  return box
}

function pointsIn({ axes }: TableGrid, box: Box): number[] {
  let points = [0]
  let factor = 1
  for (const [axis, [first, last]] of box.entries()) {
    const bands = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * factor)
    points = points.flatMap((point) => bands.map((band) => point + band))
    factor *= axes[axis]!.bands.length
  }
  return points
}

function wordsOfBox({ axes }: TableGrid, box: Box): string {
  const parts = axes.flatMap(({ column, bands }, axis) => {
    const [first, last] = box[axis]!
    const isWhole = first === 0 && last === bands.length - 2
    if (isWhole) return []
    const [low, high] = [bands[first]!, bands[last]!]
    if (low.kind === 'range' && high.kind === 'range')
      return [`${column} ${wordsOfBand({ kind: 'range', from: low.from, below: high.below })}`]
    return [
      `${column} ${bands
        .slice(first, last + 1)
        .map(wordsOfBand)
        .join(' or ')}`,
    ]
  })
  return parts.length === 0 ? 'any values' : parts.join(' and ')
}
