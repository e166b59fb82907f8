import type { Aim } from './bench.ts'
import type { Comparison, Spread } from './compare.ts'

const HEADINGS = ['bench', 'ours', 'yardstick', '', 'ratio', 'aim', 'reached']

/** The table people read: one line per yardstick, medians with the range of the middle half of the rounds. */
export function formatTable(comparisons: readonly Comparison[]): string {
  const rows = [HEADINGS, ...comparisons.map(rowOf)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [lines[0], rule, ...lines.slice(1)].map((line) => line?.trimEnd()).join('\n')
}

function rowOf({ bench, yardstick, unit, ours, theirs, kind, ratio, aim, reached }: Comparison): string[] {
  const suffix = kind === 'speed' ? '× as fast' : '× the cost'
  return [
    bench,
    `${spread(ours)} ${unit}`,
    yardstick,
    `${spread(theirs)} ${unit}`,
    `${short(ratio.median)}${suffix} (${short(ratio.low)}–${short(ratio.high)})`,
    aim === null ? '' : formatAim(aim),
    reached === null ? '' : reached ? 'yes' : 'NO',
  ]
}

/** An aim in words, such as `≥ 50× as fast`. */
function formatAim({ ratio, atLeast, atMost }: Aim): string {
  const suffix = ratio === 'speed' ? '× as fast' : '× the cost'
  return atLeast === undefined ? `≤ ${atMost}${suffix}` : `≥ ${atLeast}${suffix}`
}

function spread({ median, low, high }: Spread): string {
  return `${short(median)} (${short(low)}–${short(high)})`
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
