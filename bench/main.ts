/** Measures Verdigraph against its yardsticks: `node bench/main.ts [--quick] [--only <name>]`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { Bench, Effort, Measured } from './bench.ts'
import { drawChart } from './chart.ts'
import { CHARTS } from './charts.ts'
import { compareAll } from './compare.ts'
import { formatTable } from './format-table.ts'
import { undoAll } from './load/undo.ts'
import { describeCommit, describeMachine } from './machine.ts'
import { BENCHES } from './manifest.ts'

const RESULTS = new URL('results/', import.meta.url)

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) printHelp()
const chosen = choose(options.only)
const effort: Effort = {
  isQuick: options.quick,
  ...(options.quick ? { passes: 3, turnMs: 60 } : { passes: 21, turnMs: 400 }),
  say: (line) => process.stderr.write(`${line}\n`),
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void undoAll().then(() => process.exit(1)))
}

const measured: { bench: Bench; found: Measured; loadBefore: number }[] = []
try {
  for (const bench of chosen) {
    effort.say(`${bench.name}: ${bench.what}`)
    const startedMs = performance.now()
    const loadBefore = loadavg()[0]!
    measured.push({ bench, found: await bench.run(effort), loadBefore })
    effort.say(`  took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  }
} finally {
  await undoAll()
}
const comparisons = measured.flatMap(({ bench, found, loadBefore }) =>
  compareAll(bench, found).map((comparison) => ({ ...comparison, loadBefore })),
)

process.stdout.write(`\n${formatTable(comparisons)}\n\n`)
for (const { bench, found } of measured) {
  for (const note of found.notes) process.stdout.write(`${bench.name}: ${note}\n`)
}
record()

function printHelp(): never {
  console.log('npm run bench -- [--quick] [--only <name>]...\n')
  for (const { name, what, isLong } of BENCHES)
    console.log(`  ${name.padEnd(21)} ${what}${isLong ? ' (not with --quick)' : ''}`)
  process.exit(0)
}

function choose(names: readonly string[] | undefined): readonly Bench[] {
  for (const name of names ?? []) {
    if (BENCHES.some((bench) => bench.name === name)) continue
    console.error(`There is no bench '${name}'. There are: ${BENCHES.map((bench) => `'${bench.name}'`).join(', ')}.`)
    process.exit(2)
  }
  return BENCHES.filter(({ name, isLong }) => names?.includes(name) ?? !(options.quick && isLong))
}

function record(): void {
  const command = ['node bench/main.ts', ...process.argv.slice(2)].join(' ')
  const results = {
    measured_at: new Date().toISOString(),
    command,
    commit: describeCommit(),
    machine: describeMachine(),
    effort: { passes: effort.passes, turn_ms: effort.turnMs },
    comparisons,
    benches: measured.map(({ bench, found, loadBefore }) => ({
      name: bench.name,
      what: bench.what,
      load_average_1m_before: loadBefore,
      ...found,
    })),
  }
  mkdirSync(RESULTS, { recursive: true })
  const file = new URL('latest.json', RESULTS)
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  process.stdout.write(`written to bench/results/latest.json\n`)
  const points = measured.flatMap(({ found }) => found.points ?? [])
  for (const [name, axes] of Object.entries(CHARTS)) {
    const own = points.filter(({ chart }) => chart === name)
    if (own.length === 0) continue
    writeFileSync(new URL(`${name}.svg`, RESULTS), drawChart({ ...axes, points: own }))
    process.stdout.write(`drawn in bench/results/${name}.svg\n`)
  }
}
