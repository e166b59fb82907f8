import type { Aim, RatioKind } from './bench.ts'
import type { Comparison, Spread } from './compare.ts'

const HEADINGS = ['bench', 'ours', 'yardstick', '', 'ratio', 'aim', 'reached', 'load before']

/** The printed table: one line per yardstick, medians with the range of the middle half of the passes. */
export function formatTable(comparisons: readonly Comparison[]): string {
  const rows = [HEADINGS, ...comparisons.map(rowOf)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [lines[0], rule, ...lines.slice(1)].map((line) => line?.trimEnd()).join('\n')
}

function rowOf(comparison: Comparison): string[] {
  const { bench, yardstick, unit, ours, aim, loadBefore } = comparison
  const row = [bench, `${spread(ours)} ${unit}`, yardstick]
  const aimCell = aim === null ? '' : formatAim(aim)
  const load = loadBefore === undefined ? '' : loadBefore.toFixed(1)
  if ('leftOut' in comparison) return [...row, `left out: ${comparison.leftOut}`, '', aimCell, '', load]

  const { theirs, kind, ratio, reached } = comparison
  return [
    ...row,
    `${spread(theirs)} ${unit}`,
    `${short(ratio.median)}${suffixOf(kind)} (${short(ratio.low)}–${short(ratio.high)})`,
    aimCell,
    reached === null ? '' : reached ? 'yes' : 'NO',
    load,
  ]
}

/** An aim in words, such as `≥ 50× as fast`. */
function formatAim({ ratio, atLeast, atMost }: Aim): string {
  return atLeast === undefined ? `≤ ${atMost}${suffixOf(ratio)}` : `≥ ${atLeast}${suffixOf(ratio)}`
}

function suffixOf(kind: RatioKind): string {
  return kind === 'speed' ? '× as fast' : '× the cost'
}

function spread({ median, low, high }: Spread): string {
  return `${short(median)} (${short(low)}–${short(high)})`
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
