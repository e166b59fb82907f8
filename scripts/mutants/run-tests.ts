import { spawn } from 'node:child_process'
import { join } from 'node:path'

const TESTS_IN_ORDER = join(import.meta.dirname, 'tests-in-order.ts')

/**
 * Runs test files of a folder in their order, in one process, which ends at the first failure. Returns the milliseconds of
 * processor time that each file took, or undefined if a test failed or all took more than `secondsMax`. Not of the time of day:
 * busy neighbours of the machine must catch no mutant.
 */
export function runTests(
  folder: string,
  tests: readonly string[],
  secondsMax: number,
): Promise<ReadonlyMap<string, number> | undefined> {
  const limited = `ulimit -t ${Math.ceil(secondsMax)}; exec "$0" "$@"`
  const child = spawn('sh', ['-c', limited, process.execPath, TESTS_IN_ORDER, ...tests], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  let msByFile: Record<string, number> = {}
  child.on('message', (message) => {
    msByFile = message as Record<string, number>
  })
  return new Promise((resolve) => {
    child.once('close', (code) => resolve(code === 0 ? new Map(Object.entries(msByFile)) : undefined))
  })
}
