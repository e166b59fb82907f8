/**
 * Runs the test files that its arguments name, one after another in this process, and exits at the first failure. Then it
 * sends the milliseconds of processor time that each file took. `node --test` sorts the files, and without a process for each it
 * reports a failure only after the last test.
 */
import { resolve } from 'node:path'
import { afterEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'

const msByFile: Record<string, number> = {}
afterEach((context) => {
  if ('passed' in context && !context.passed) process.exit(1)
})
for (const file of process.argv.slice(2)) {
  const start = process.cpuUsage()
  await import(pathToFileURL(resolve(file)).href)
  // Tests run in the order in which they were defined, so this one ends after those of the file.
  await test(`the end of ${file}`)
  const { user, system } = process.cpuUsage(start)
  msByFile[file] = (user + system) / 1000
}
process.send?.(msByFile)
