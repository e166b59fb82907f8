/** `npm run prove`: proves every promise on the embedded database and on PostgreSQL, and prints a line for each. */
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createRunFolder } from '../../scripts/run-folder.ts'
import { startPostgres, type ThrowawayPostgres } from '../../scripts/throwaway-postgres.ts'
import { removeAbandoned } from './cluster/hosts.ts'
import { signalAll } from './faults/signal-tree.ts'
import type { DatabaseName, Proof, ProvedPromise } from './promises.ts'
import type { ProofEvent } from './proof-reporter.ts'
import { readSettings, type Settings, USAGE } from './read-settings.ts'

const ROOT = join(import.meta.dirname, '../..')
/** A proof that takes longer hangs; the soak takes as long as it is told to. */
const PROOF_MAX_MS = 600_000
const LONG_PROOF_MAX_MS = 4 * 3_600_000

const MARKS = { proved: '✔', unfinished: '–', broken: '✖' }
const LABELS: Record<DatabaseName, string> = { embedded: 'embedded', postgres: 'PostgreSQL' }

/** What the tests of one promise did on one database. */
interface Evidence {
  passed: string[]
  /** Why tests were skipped, by their names. */
  skipped: Map<string, string>
  figures: string[]
  failures: string[]
}

const settings = settingsOrExit()
const startedAt = Date.now()
const folder = createRunFolder()
const running = new Set<ChildProcess>()
let postgres: ThrowawayPostgres | undefined
const counts = { proved: 0, unfinished: 0, broken: 0 }
for (const [signal, code] of [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => void cleanUp().finally(() => process.exit(code)))
try {
  // This server stays on the disk, whose speed some proofs measure.
  if (settings.databases.includes('postgres')) postgres = await startPostgres()
  console.log(`seed ${settings.env.PROVE_SEED}, share of trials ${settings.env.PROVE_SHARE}`)
  await proveAll(settings.promises)
} finally {
  await cleanUp()
}
const seconds = Math.round((Date.now() - startedAt) / 1000)
console.log(`${counts.proved} of ${settings.promises.length} promises proved in ${seconds} s`)
if (counts.unfinished > 0) console.log(`NOT SHOWN, or not all of it: ${counts.unfinished}`)
process.exit(counts.broken > 0 ? 1 : 0)

function settingsOrExit(): Settings {
  const isHelp = process.argv.includes('--help')
  const options = { nowMs: Date.now(), newSeed: Math.floor(Math.random() * 1e6) }
  const read = isHelp ? undefined : readSettings(process.argv.slice(2), options)
  if (read) return read
  console[isHelp ? 'log' : 'error'](USAGE)
  process.exit(isHelp ? 0 : 2)
}

/** Ends the proofs that still run, with the services and databases that they started, and deletes their data. */
async function cleanUp(): Promise<void> {
  settings.beginsUntil = 0
  signalAll(
    [...running].map(({ pid }) => -pid!),
    'SIGKILL',
  )
  await Promise.all([...running].map((child) => new Promise((resolve) => child.once('close', resolve))))
  removeAbandoned()
  await postgres?.stop()
  rmSync(folder.path, { recursive: true, force: true, maxRetries: 5 })
}

/** A promise whose proofs have begun, and what they have shown so far. */
interface Proving {
  promise: ProvedPromise
  evidence: Map<DatabaseName, Evidence>
  /** When its proofs that may run beside others have ended. */
  besideEnded: PromiseWithResolvers<void>
  ms: number
  /** Files that were not run for lack of time. */
  leftOut: string[]
}

/**
 * Runs first the proofs that may run beside others, of two promises at a time because most of them wait more than they
 * compute; then one by one the proofs that measure time or memory. Prints a line when the last proof of a promise has ended.
 */
async function proveAll(promises: readonly ProvedPromise[]): Promise<void> {
  const provings = promises.map(begin)
  const isMeasured = ({ promise }: Proving) => promise.proofs.some(({ alone }) => alone)
  const isLongest = ({ promise }: Proving) => promise.takesLongest ?? false
  const waiting = provings.toSorted((a, b) => Number(isLongest(b)) - Number(isLongest(a))).values()
  const proveWaiting = async () => {
    for (const proving of waiting) {
      await runProofs(proving, { alone: false })
      proving.besideEnded.resolve()
    }
  }
  const printUnmeasured = async () => {
    for (const proving of provings.filter((each) => !isMeasured(each))) {
      await proving.besideEnded.promise
      print(proving)
    }
  }
  await Promise.all([proveWaiting(), proveWaiting(), printUnmeasured()])
  for (const proving of provings.filter(isMeasured)) {
    await runProofs(proving, { alone: true })
    print(proving)
  }
}

function begin(promise: ProvedPromise): Proving {
  const evidence = new Map<DatabaseName, Evidence>(
    settings.databases.map((database) => [database, { passed: [], skipped: new Map(), figures: [], failures: [] }]),
  )
  return { promise, evidence, besideEnded: Promise.withResolvers(), ms: 0, leftOut: [] }
}

/** Runs proofs of a promise: on both databases at once, except for those that measure time or memory. */
async function runProofs(proving: Proving, { alone }: { alone: boolean }): Promise<void> {
  const begunMs = Date.now()
  const proofs = proving.promise.proofs.filter((proof) => (proof.alone ?? false) === alone)
  const run = async ([database, evidence]: [DatabaseName, Evidence]) => {
    for (const proof of proofs.filter((each) => isDue(each, database))) {
      if (Date.now() > settings.beginsUntil) proving.leftOut.push(proof.file)
      else await runProof(proof, database, evidence)
    }
  }
  if (alone) for (const each of proving.evidence) await run(each)
  else await Promise.all([...proving.evidence].map(run))
  proving.ms += Date.now() - begunMs
}

/** Prints what was shown of a promise, and counts it if it does not hold. */
function print({ promise: { number, promise, proofs }, evidence, ms, leftOut }: Proving): void {
  const parts: string[] = []
  const failures: string[] = []
  const passed = new Set<string>()
  const skipped = new Map<string, string>()
  for (const [database, shown] of evidence) {
    for (const name of shown.passed) passed.add(name)
    for (const [name, why] of shown.skipped) skipped.set(name, why)
    failures.push(...shown.failures.map((failure) => `${LABELS[database]}: ${failure}`))
    if (shown.passed.length > 0)
      parts.push(`${LABELS[database]}: ${[plural(shown.passed.length, 'test'), ...shown.figures].join(', ')}`)
  }
  // A test of one database is skipped on the other; what ran on neither must not look proved.
  for (const [name, why] of skipped) if (!passed.has(name)) parts.push(`NOT SHOWN "${name}": ${why}`)
  for (const file of new Set(leftOut)) parts.push(`NOT SHOWN ${file}: no time was left`)
  const isTested = settings.afterTests && proofs.every(({ file }) => isTest(file))
  if (isTested) parts.push('by npm test')
  else if (passed.size + skipped.size + leftOut.length + failures.length === 0) failures.push('no test ran')
  const isPartly = leftOut.length > 0 || [...skipped.keys()].some((name) => !passed.has(name))
  const isUnfinished = isPartly || (!isTested && passed.size === 0)
  const result = failures.length > 0 ? 'broken' : isUnfinished ? 'unfinished' : 'proved'
  counts[result]++
  const seconds = (ms / 1000).toFixed(1)
  console.log(`${MARKS[result]} ${String(number).padStart(2)} ${promise} · ${parts.join(' · ')} (${seconds} s)`)
  for (const failure of failures) console.log(failure.replaceAll(/^/gm, '      '))
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts')
}

/** Whether a proof is to run on a database in this run. */
function isDue({ file, on }: Proof, database: DatabaseName): boolean {
  if (settings.afterTests && isTest(file)) return false
  if (on === 'none') return database === settings.databases[0]
  if (on) return on === database
  return !settings.once || database === 'postgres'
}

/** Runs the tests of one file in their own process, and adds what they did to the evidence. */
async function runProof({ file, tests }: Proof, database: DatabaseName, evidence: Evidence): Promise<void> {
  const patterns = tests?.map((start) => `--test-name-pattern=^${start.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}`)
  const args = [
    '--test',
    '--test-force-exit', // a failed proof may leave clients behind that go on
    `--test-timeout=${(settings.env.PROVE_LONG ? LONG_PROOF_MAX_MS : PROOF_MAX_MS) + Number(settings.env.PROVE_SOAK_MINUTES) * 60_000}`,
    `--test-reporter=${join(import.meta.dirname, 'proof-reporter.ts')}`,
    ...(patterns ?? []),
    file,
  ]
  const { TEST_DATABASE_URL: _, ...inherited } = process.env
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: {
      ...inherited,
      ...settings.env,
      ...folder.env,
      ...(database === 'postgres' && { TEST_DATABASE_URL: postgres!.url }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // in a process group of its own, which can be killed as a whole
  })
  running.add(child)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (data: string) => {
    output += data
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  running.delete(child)
  const before = evidence.failures.length
  for (const line of output.split('\n').filter((text) => text.startsWith('{'))) {
    const event = JSON.parse(line) as ProofEvent
    if (event.type === 'figures') evidence.figures.push(event.text)
    else if (event.result === 'passed') evidence.passed.push(event.name)
    else if (event.result === 'skipped') evidence.skipped.set(event.name, event.why)
    else evidence.failures.push(`${event.name}\n${event.error}`)
  }
  for (const start of tests ?? [])
    if (!output.includes(JSON.stringify(start).slice(1, -1))) evidence.failures.push(`${file} has no test "${start}"`)
  if (code !== 0 && evidence.failures.length === before) evidence.failures.push(`${file} ended with ${code}`)
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
