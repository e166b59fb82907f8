/** Reports the tests of one proof as lines of JSON, for main.ts to read. */
import type { TestEvent } from 'node:test/reporters'

/** A test that ended, or the figures that a test reported. */
export type ProofEvent =
  | { type: 'test'; name: string; result: 'passed' | 'failed'; error?: string }
  | { type: 'test'; name: string; result: 'skipped'; why: string }
  | { type: 'figures'; text: string }

/** The reporter that `node --test --test-reporter` loads. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const line = proofEventOf(event)
    if (line) yield `${JSON.stringify(line)}\n`
  }
}

function proofEventOf(event: TestEvent): ProofEvent | undefined {
  if (event.type === 'test:diagnostic' && event.data.message.startsWith('figures: '))
    return { type: 'figures', text: event.data.message.slice('figures: '.length) }
  if (event.type === 'test:fail') {
    const { error } = event.data.details
    const cause = error.cause instanceof Error ? error.cause.stack : error.cause
    return { type: 'test', name: event.data.name, result: 'failed', error: String(cause ?? error.message) }
  }
  // A suite is not a test, and the result of its tests is its own.
  if (event.type !== 'test:pass' || event.data.details.type === 'suite') return undefined
  const { name, skip } = event.data
  return skip === undefined
    ? { type: 'test', name, result: 'passed' }
    : { type: 'test', name, result: 'skipped', why: String(skip) }
}
