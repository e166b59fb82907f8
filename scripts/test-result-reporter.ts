/** A reporter for `run-tests.ts`: the counts of one process and its failed tests, as JSON. */
import type { TestEvent } from 'node:test/reporters'

/** What one process found. */
export interface TestResults {
  counts: { tests: number; passed: number; cancelled: number; skipped: number }
  failures: { name: string; file: string; line: number }[]
}

/** Reads all events of a run and yields its results once, at the end. */
export default async function* reportResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const results: TestResults = { counts: { tests: 0, passed: 0, cancelled: 0, skipped: 0 }, failures: [] }
  for await (const { type, data } of events) {
    if (type === 'test:summary' && data.file === undefined) results.counts = data.counts
    if (type === 'test:fail' && data.details.type !== 'suite')
      results.failures.push({ name: data.name, file: data.file ?? '', line: data.line ?? 0 })
  }
  yield JSON.stringify(results)
}
