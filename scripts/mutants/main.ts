/**
 * Makes small changes to the functions that decide, one at a time, and runs their tests: each should fail a test.
 *
 *     npm run mutants -- [--seed 1] [--count 40] [--least 38] [--within server/src/core/graph]
 *
 * Each mutant is tested in a copy of the project in a temporary folder. A mutant is caught if a test fails, or if the tests do
 * not end. The exit code is 1 if fewer than `--least` are caught.
 */
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { findMutants, type Mutant, mutate } from './find-mutants.ts'
import { runTests } from './run-tests.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = ['decide', 'policy', 'facts', 'graph', 'backtest'].map((folder) => `server/src/core/${folder}`)
/** What decisions rest on beside these folders. */
const FILES = ['server/src/core/half-life.ts']
/** Tests across modules that show what the core decides. */
const JOURNEYS = ['golden-decisions', 'improvements'].map((name) => `server/tests/${name}.test.ts`)
/** Processor time in which the tests pass on any machine, as long as no mutant is there. */
const SECONDS_MAX = 300
/** A mutant counts as endless if its tests take this many times as long as without it. */
const TIMES_AS_LONG = 2

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    least: { type: 'string', default: '38' },
    within: { type: 'string', default: 'server/src/core' },
  },
})
const [seed, count, least] = [values.seed, values.count, values.least].map(Number) as [number, number, number]

type TestTimes = ReadonlyMap<string, number>

interface PlacedMutant extends Mutant {
  file: string
  line: number
}

function allMutants(): PlacedMutant[] {
  const files = [...FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT })), ...FILES]
    .filter((file) => !file.endsWith('.test.ts') && file.startsWith(values.within))
    .sort()
  return files.flatMap((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8')
    return findMutants(source).map((mutant) => ({
      ...mutant,
      file,
      line: source.slice(0, mutant.at).split('\n').length,
    }))
  })
}

/** Picks mutants by a seed, by the minimal standard generator of Park and Miller. */
function pick(mutants: PlacedMutant[]): PlacedMutant[] {
  let state = seed
  const below = (bound: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
  below(1)
  return Array.from({ length: Math.min(count, mutants.length) }, () => mutants.splice(below(mutants.length), 1)[0]!)
}

/** Copies what the tests of the core read. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-mutants-'))
  mkdirSync(join(folder, 'server/src'), { recursive: true })
  for (const part of ['package.json', 'docs/policies.md', 'policies', 'server/src/core', 'server/tests'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Every test file with the milliseconds of processor time that it takes without a mutant. */
async function timeTests(): Promise<TestTimes> {
  const tests = [...FOLDERS.flatMap((each) => globSync(`${each}/**/*.test.ts`, { cwd: ROOT })), ...JOURNEYS]
  const msByFile = await runTests(folder, tests, SECONDS_MAX)
  if (msByFile === undefined) throw new Error('the tests fail without a mutant')
  return msByFile
}

/**
 * The order in which tests are likely to catch a mutant soon: those of the mutated file, those of its folder, then all others,
 * and in each part the quick ones first.
 */
function testsFor(file: string, msByFile: TestTimes): string[] {
  const ownTest = file.replace(/\.ts$/, '.test.ts')
  const part = (test: string) => (test === ownTest ? 0 : dirname(test) === dirname(file) ? 1 : 2)
  return [...msByFile.keys()].sort((a, b) => part(a) - part(b) || msByFile.get(a)! - msByFile.get(b)!)
}

async function isCaught(mutant: PlacedMutant, msByFile: TestTimes): Promise<boolean> {
  const source = readFileSync(join(folder, mutant.file), 'utf8')
  writeFileSync(join(folder, mutant.file), mutate(source, mutant))
  const wholeMs = [...msByFile.values()].reduce((sum, ms) => sum + ms, 0)
  const passed = await runTests(folder, testsFor(mutant.file, msByFile), (TIMES_AS_LONG * wholeMs) / 1000)
  writeFileSync(join(folder, mutant.file), source)
  return passed === undefined
}

const folder = copyProject()
try {
  const mutants = allMutants()
  console.log(`seed ${seed}: ${count} of ${mutants.length} mutants`)
  const msByFile = await timeTests()
  let caught = 0
  const picked = pick(mutants)
  for (const mutant of picked) {
    const wasCaught = await isCaught(mutant, msByFile)
    if (wasCaught) caught += 1
    const { file, line, from, to } = mutant
    console.log(`${wasCaught ? 'caught  ' : 'SURVIVED'}  ${file}:${line}  ${from.trim()} → ${to.trim()}`)
  }
  console.log(`${caught} of ${picked.length} caught`)
  process.exitCode = caught >= least ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
