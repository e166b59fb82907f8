import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { stopOnSignals } from './stop-on-signals.ts'

/** A service whose close ends when the test says so, and a process whose signals, clock and exit are the test's. */
function newProcess(t: TestContext, drainMs = 0) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const signals = new EventEmitter()
  const events: string[] = []
  let now = 1_000
  let finish = () => {}
  const service = {
    startDraining: () => void events.push('drain'),
    close: () => {
      events.push('close')
      return new Promise<void>((resolve) => {
        finish = resolve
      })
    },
  }
  stopOnSignals(service, {
    logger: pino({ level: 'silent' }),
    drainMs,
    signals,
    nowMs: () => now,
    exit: (code) => void events.push(`exit ${code}`),
  })
  const receive = (signal: string, afterMs = 0) => {
    now += afterMs
    signals.emit(signal, signal)
    return events.join(', ')
  }
  return { receive, events, finish: () => finish() }
}

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} drains, closes in the same turn if there is no time to drain, and exits with 0 once all is closed`, async (t) => {
    const { receive, events, finish } = newProcess(t)
    assert.equal(receive(signal), 'drain, close')
    finish()
    await new Promise(setImmediate)
    assert.deepEqual(events, ['drain', 'close', 'exit 0'])
  })
}

test('copies of a SIGTERM that reach the process through its parents change nothing; one that comes later ends it at once', (t) => {
  const { receive } = newProcess(t)
  receive('SIGTERM')
  assert.equal(receive('SIGTERM', 1), 'drain, close')
  assert.equal(receive('SIGTERM', 4_000), 'drain, close')
  assert.equal(receive('SIGTERM', 1_000), 'drain, close, exit 1')
})

test('a second Ctrl-C ends the process at once, while it drains too', (t) => {
  const { receive } = newProcess(t, 600_000)
  assert.equal(receive('SIGINT'), 'drain')
  assert.equal(receive('SIGTERM', 1), 'drain', 'the launcher passes the same Ctrl-C on as SIGTERM')
  assert.equal(receive('SIGINT', 1), 'drain, exit 1')
})

test('requests are served for the time to drain, and a close that hangs ends the process', (t) => {
  const { receive, events } = newProcess(t, 20_000)
  receive('SIGTERM')
  t.mock.timers.tick(19_999)
  assert.deepEqual(events, ['drain'])
  t.mock.timers.tick(1)
  assert.deepEqual(events, ['drain', 'close'])
  t.mock.timers.tick(30_000)
  assert.deepEqual(events, ['drain', 'close', 'exit 1'])
})
