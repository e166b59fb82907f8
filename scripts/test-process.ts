/**
 * Runs test files one after the other in this process, for `run-tests.ts`. A file is loaded after the one before it has
 * ended and closed its service: an idle service asks its database twenty times a second for work.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec, type TestEvent } from 'node:test/reporters'
import { setImmediate } from 'node:timers/promises'

/** What the files of one process found. */
export interface TestResults {
  counts: { tests: number; passed: number; cancelled: number; skipped: number }
  failures: { name: string; file: string; line: number }[]
}

/** Missing in the types of Node.js. */
declare const WebAssembly: { compile(code: Uint8Array): Promise<object> }

const TIMEOUT_MS = 300_000
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

const [destination, ...files] = process.argv.slice(2)
const results: TestResults = { counts: { tests: 0, passed: 0, cancelled: 0, skipped: 0 }, failures: [] }
/** V8 shares compiled WebAssembly within a process as long as one module holds it; without, each file compiles it again. */
const heldCode = [await compileDatabase()]
for (const file of files) await runFile(resolve(file))
heldCode.pop()
writeFileSync(destination!, JSON.stringify(results))

function compileDatabase(): Promise<object> {
  return WebAssembly.compile(readFileSync(new URL(import.meta.resolve('@electric-sql/pglite/pglite.wasm'))))
}

/** Runs one file to its end, adds what it found to the results, and prints it. */
async function runFile(file: string): Promise<void> {
  // A run ends when the event loop has nothing left to do, which is noticed only if it had something to do before.
  await setImmediate()
  const events = run({ files: [file], isolation: 'none', timeout: TIMEOUT_MS })
  events.on('test:summary', ({ counts, success }) => {
    for (const name of Object.keys(results.counts) as (keyof TestResults['counts'])[])
      results.counts[name] += counts[name]
    if (!success) process.exitCode = 1
  })
  events.on('test:fail', ({ name, details, line }) => {
    if (details.type !== 'suite') results.failures.push({ name, file, line: line ?? 0 })
  })
  await pipeline(events, withoutCounts, new spec(), async (output: AsyncIterable<Buffer>) => {
    for await (const text of output) process.stdout.write(text)
  })
}

/** Leaves out the counts at the end of a file, because `run-tests.ts` prints those of all files. */
async function* withoutCounts(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of events) if (event.type !== 'test:diagnostic' || !COUNT.test(event.data.message)) yield event
}
