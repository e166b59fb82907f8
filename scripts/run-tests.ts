/**
 * Runs all tests, or the files given as arguments: several files to a process, and two processes at a time. Loading the
 * service and the embedded database for each file took a third of the time.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createRunFolder } from './run-folder.ts'
import type { TestResults } from './test-process.ts'

const PROCESSES_AT_ONCE = 2
/** How many files share a process, by the beginning of their path: the first that fits. The longest run first. */
const FILES_PER_PROCESS: [beginning: string, files: number][] = [
  // Replaces a function of Node.js before the service is loaded.
  ['server/tests/console-sign-in-paths.test.ts', 1],
  ['server/tests/', 20],
  ['server/src/core/', 100],
  ['', 40],
]

const begunMs = Date.now()
const processes = processesOf(process.argv.slice(2))
const folder = createRunFolder()
const results: TestResults[] = []
let hasFailed = false
const waiting = processes.map((files, index) => ({ files, destination: join(folder.path, String(index)) }))
const running = new Set<ChildProcess>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    waiting.length = 0
    hasFailed = true
    for (const child of running) child.kill('SIGKILL')
  })
}
await Promise.all(Array.from({ length: PROCESSES_AT_ONCE }, runWaiting))
rmSync(folder.path, { recursive: true })
report()
process.exit(hasFailed ? 1 : 0)

/** The files of each process. */
function processesOf(given: string[]): string[][] {
  const unknown = given.find((file) => !existsSync(file))
  if (unknown !== undefined) {
    console.error(`There is no file ${unknown}. Give paths such as server/tests/isolation.test.ts.`)
    process.exit(2)
  }
  if (given.length > 0) return given.map((file) => [file])
  const all = globSync('{server,console/src,studies,bench,scripts}/**/*.test.ts', { exclude: ['**/node_modules/**'] })
  const alike = Map.groupBy(all.sort(), (file) => FILES_PER_PROCESS.find(([beginning]) => file.startsWith(beginning))!)
  return FILES_PER_PROCESS.flatMap((group) => {
    const files = alike.get(group) ?? []
    const [, perProcess] = group
    return Array.from({ length: Math.ceil(files.length / perProcess) }, (_, index) =>
      files.slice(index * perProcess, (index + 1) * perProcess),
    )
  })
}

async function runWaiting(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) await run(next)
}

/** Runs one process, and prints its output when it ends, so that the outputs of two do not mix. */
async function run({ files, destination }: { files: string[]; destination: string }): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'test-process.ts'), destination, ...files], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...folder.env },
  })
  running.add(child)
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => output.push(data))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  running.delete(child)
  process.stdout.write(Buffer.concat(output))
  if (code !== 0) hasFailed = true
  try {
    results.push(JSON.parse(readFileSync(destination, 'utf8')) as TestResults)
  } catch {
    hasFailed = true
    console.log(`✖ the process of ${files.join(' ')} ended with code ${code} before its tests did`)
  }
}

/** Prints the sums of all processes, and the failed tests once more. */
function report(): void {
  const sum = (name: keyof TestResults['counts']) => results.reduce((total, { counts }) => total + counts[name], 0)
  const failures = results.flatMap((result) => result.failures)
  console.log(`\nAll ${processes.flat().length} files in ${Math.round((Date.now() - begunMs) / 1000)} s:`)
  for (const name of ['tests', 'passed', 'cancelled', 'skipped'] as const) console.log(`  ${name} ${sum(name)}`)
  console.log(`  failed ${failures.length}`)
  for (const { name, file, line } of failures) console.log(`✖ ${file}:${line} ${name}`)
}
