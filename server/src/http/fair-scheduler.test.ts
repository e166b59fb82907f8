import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairScheduler, nodeClock, type SchedulerClock } from './fair-scheduler.ts'

/** A clock that the test moves: work takes time only where it says so, and a timer rings at once when nothing else is left. */
function steppedClock() {
  let nowMs = 0
  let rounds = 0
  const clock: SchedulerClock = {
    nowMs: () => nowMs,
    onNextRound: (callback) =>
      void setImmediate(() => {
        rounds += 1
        callback()
      }),
    onSettled: nodeClock.onSettled,
    after: (ms, callback) =>
      void setImmediate(() => {
        nowMs += ms
        callback()
      }),
  }
  return {
    clock,
    rounds: () => rounds,
    nowMs: () => nowMs,
    take: (ms: number) => {
      nowMs += ms
    },
  }
}

/** Asks for turns of a party at once; each takes `costMs`. Every turn is written into the log with its beginning and end. */
function work(
  scheduler: FairScheduler,
  time: ReturnType<typeof steppedClock>,
  { party, turns, costMs }: { party: string; turns: number; costMs: number },
  log: { party: string; turn: number; beganMs: number; endedMs: number }[],
): Promise<unknown> {
  return Promise.all(
    Array.from({ length: turns }, async (_, turn) => {
      await scheduler.turn(party)
      const beganMs = time.nowMs()
      time.take(costMs)
      log.push({ party, turn, beganMs, endedMs: time.nowMs() })
    }),
  )
}

type Log = Parameters<typeof work>[3]
const nextMicrotasks = () => new Promise<void>((resolve) => nodeClock.onSettled(resolve))
const partiesOf = (log: Log) => log.map(({ party }) => party).join('')

test('parties with equal work take turns, and each has its turns in the order in which it asked', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  const log: Log = []
  await Promise.all(['a', 'b', 'c'].map((party) => work(scheduler, time, { party, turns: 4, costMs: 0.5 }, log)))
  assert.equal(partiesOf(log), 'abcabcabcabc')
  assert.deepEqual(
    log.filter(({ party }) => party === 'b').map(({ turn }) => turn),
    [0, 1, 2, 3],
  )
})

test('a party with long turns gets no more time than one with short turns, however many it asks for', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  const log: Log = []
  const long = work(scheduler, time, { party: 'l', turns: 32, costMs: 10 }, log)
  await work(scheduler, time, { party: 's', turns: 200, costMs: 0.25 }, log)
  const longMs = log.filter(({ party }) => party === 'l').length * 10
  assert.ok(longMs <= 60, `50 ms of short turns met ${longMs} ms of long ones`)
  await long
})

test('no turn waits for more than one long turn of each other party', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  const log: Log = []
  const others = ['x', 'y'].map((party) => work(scheduler, time, { party, turns: 20, costMs: 10 }, log))
  for (let request = 0; request < 20; request++) {
    const askedMs = time.nowMs()
    await work(scheduler, time, { party: 'v', turns: 1, costMs: 0.1 }, log)
    const waitedMs = log.at(-1)!.beganMs - askedMs
    assert.ok(waitedMs <= 20, `request ${request} waited ${waitedMs} ms`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(others)
})

test('while another party is active, a long turn is followed by as long a pause, also if that party has no work then', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  const log: Log = []
  await work(scheduler, time, { party: 'v', turns: 1, costMs: 0.1 }, log)
  await work(scheduler, time, { party: 'l', turns: 2, costMs: 10 }, log)
  const [first, second] = log.filter(({ party }) => party === 'l')
  assert.equal(Math.round(second!.beganMs - first!.endedMs), 9, 'its length less the quantum of a millisecond')
})

test('a round gives a party that is alone eight milliseconds, and one beside others a millisecond', async () => {
  for (const [others, expected] of [
    [[], 1],
    [['b'], 15],
  ] as const) {
    const time = steppedClock()
    const scheduler = new FairScheduler(time.clock)
    const log: Log = []
    const parties = ['a', ...others].map((party) => work(scheduler, time, { party, turns: 32, costMs: 0.5 }, log))
    await Promise.all(parties)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(time.rounds(), expected)
  }
})

test('a party that began a round alone owes nothing for its longer quantum when another joins', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  const log: Log = []
  const alone = work(scheduler, time, { party: 'a', turns: 64, costMs: 0.25 }, log)
  while (log.length < 8) await nextMicrotasks()
  await work(scheduler, time, { party: 'b', turns: 1, costMs: 0.1 }, log)
  await alone
  const own = log.filter(({ party }) => party === 'a')
  const pauses = own.slice(1).map(({ beganMs }, index) => beganMs - own[index]!.endedMs)
  assert.ok(Math.max(...pauses) <= 1, `paused for ${Math.max(...pauses)} ms`)
})

test('several parties with long turns leave an equal share to one with short turns', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  const log: Log = []
  const long = ['x', 'y'].map((party) => work(scheduler, time, { party, turns: 40, costMs: 10 }, log))
  await work(scheduler, time, { party: 's', turns: 120, costMs: 0.5 }, log)
  const longMs = log.filter(({ party }) => party !== 's').length * 10
  assert.ok(longMs <= 2 * 60 + 20, `60 ms of short turns met ${longMs} ms of long ones`)
  await Promise.all(long)
})

test('a party alone never pauses, and the event loop goes on between its long turns', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  const log: Log = []
  await work(scheduler, time, { party: 'l', turns: 10, costMs: 10 }, log)
  assert.equal(time.nowMs(), 100, 'no time but that of the turns has passed')
  assert.ok(time.rounds() >= 9, `${time.rounds()} rounds`)
})

test('short turns of a party alone share a round', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  await work(scheduler, time, { party: 's', turns: 100, costMs: 0.01 }, [])
  assert.ok(time.rounds() <= 2, `${time.rounds()} rounds`)
})

test('a party that has gone no longer holds others up', async () => {
  const time = steppedClock()
  const scheduler = new FairScheduler(time.clock)
  const log: Log = []
  await work(scheduler, time, { party: 'v', turns: 1, costMs: 0.5 }, log)
  await new Promise((resolve) => setImmediate(resolve))
  time.take(50)
  const beganMs = time.nowMs()
  await work(scheduler, time, { party: 'l', turns: 5, costMs: 10 }, log)
  assert.equal(time.nowMs() - beganMs, 50)
})

test('a turn ends after all microtasks that follow it, and no other begins before', async () => {
  const scheduler = new FairScheduler(steppedClock().clock)
  const events: string[] = []
  const deep = async (party: string) => {
    await scheduler.turn(party)
    events.push(`${party} begins`)
    for (let hop = 0; hop < 5; hop++) await Promise.resolve()
    events.push(`${party} ends`)
  }
  await Promise.all([deep('a'), deep('b')])
  assert.deepEqual(events, ['a begins', 'a ends', 'b begins', 'b ends'])
})
