/** Functions that the tests of the thread pool run in its threads. */
import { setTimeout as sleep } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { defineTask, type Lane } from '../src/threads/task.ts'
import type { ThreadPool } from '../src/threads/thread-pool.ts'

/** A gate that holds a task in its thread: `0` is closed, `1` is open, and the task adds that it has arrived. */
export class Gate {
  readonly cells = new Int32Array(new SharedArrayBuffer(8))

  open(): void {
    Atomics.store(this.cells, 0, 1)
    Atomics.notify(this.cells, 0)
  }

  /** Resolves when a task waits at the gate. */
  async reached(): Promise<void> {
    while (Atomics.load(this.cells, 1) === 0) await sleep(1)
  }
}

/** Waits at a gate, then gives its name and the thread that it ran in. */
export function passGate({ cells, name }: { cells: Int32Array; name: string }): { name: string; thread: number } {
  Atomics.add(cells, 1, 1)
  Atomics.wait(cells, 0, 0)
  return { name, thread: threadId }
}

/** Gives its name and the thread that it ran in. */
export function echo(name: string): { name: string; thread: number } {
  return { name, thread: threadId }
}

/** Never ends. */
export function spin(): never {
  for (;;);
}

/** Takes memory until there is none. */
export function fill(): never {
  const kept: number[][] = []
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => index))
}

/** Throws. */
export function fail(): never {
  throw new TypeError('the function failed')
}

function taskOf<Run extends (input: never) => unknown>(run: Run, lane: Lane = 'quick', budgetMs = 60_000) {
  return defineTask<Run>({ module: import.meta.url, name: run.name, lane, budgetMs, purpose: 'to test' })
}

/** The functions above as tasks. */
export const TASKS = {
  passGate: taskOf(passGate),
  slowGate: taskOf(passGate, 'slow'),
  echo: taskOf(echo),
  slowEcho: taskOf(echo, 'slow'),
  /** An hour: a test that waits for this budget fails. */
  spin: taskOf(spin as (input: null) => never, 'quick', 3_600_000),
  brieflySpin: taskOf(spin as (input: null) => never, 'quick', 50),
  fill: taskOf(fill as (input: null) => never),
  fail: taskOf(fail as (input: null) => never),
}

/** Keeps both threads of a pool at work for an organization, with as many tasks waiting as may, until it is released. */
export async function fillPool(threads: ThreadPool, organizationId: string): Promise<() => Promise<void>> {
  const gate = new Gate()
  const tasks = Array.from({ length: 18 }, () =>
    threads.run(TASKS.passGate, { cells: gate.cells, name: '' }, { organizationId }),
  )
  await gate.reached()
  return async () => {
    gate.open()
    await Promise.all(tasks)
  }
}
