import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { TaskFunction, TaskMessage, TaskRequest } from './task.ts'

/** How a task ended: with its answer, or because of its bounds, or by an error of its own. */
export type TaskEnd = { answer: unknown } | { error: Error } | { exceeded: 'time' | 'memory' }

/** A busy machine gives a thread a share of a processor: so many times the budget may pass before the task ends anyway. */
const ELAPSED_PER_BUDGET = 4

/**
 * A thread that runs one task at a time. The budget of a task is processor time, so that an honest policy is not refused
 * because others use the machine.
 *
 * States: idle → running → idle, or ended by `end`, by the budget of a task, or by a lack of memory; an ended thread is
 * not used again.
 */
export class TaskThread {
  readonly #worker: Worker
  #onEnd: ((end: TaskEnd) => void) | undefined
  /** Ends what watches the running task. */
  #watching = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #budgetMs = 0
  #isEnded = false

  constructor(heapMb: number) {
    this.#worker = new Worker(new URL('./task-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    // An idle thread does not keep the process alive.
    this.#worker.unref()
    this.#worker.on('message', (message: TaskMessage) => {
      if ('begins' in message) this.#watch()
      else this.#settle(message)
    })
    this.#worker.on('error', (error: Error & { code?: string }) => {
      this.#isEnded = true
      this.#settle(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? { exceeded: 'memory' } : { error })
    })
    this.#worker.on('exit', () => {
      this.#isEnded = true
      this.#settle({ error: new Error('a thread ended before its task') })
    })
  }

  /** Whether the thread has ended, so that it runs no further task. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Runs a task; the thread must be idle. */
  run({ module, name, budgetMs }: TaskFunction, input: unknown): Promise<TaskEnd> {
    this.#budgetMs = budgetMs
    this.#watching = new AbortController()
    this.#worker.ref()
    return new Promise((resolve) => {
      this.#onEnd = resolve
      try {
        this.#worker.postMessage({ module, name, input } satisfies TaskRequest)
      } catch (error) {
        // The input cannot be cloned: the thread got nothing, and is idle again.
        this.#settle({ error: error as Error })
      }
    })
  }

  /** Gives the running task at most so much more time: its client has left, but the thread may be about to answer. */
  hurry(withinMs: number): void {
    this.#budgetMs = Math.min(this.#budgetMs, withinMs)
    if (this.#timer) this.#endAfter(this.#budgetMs)
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    this.#isEnded = true
    await this.#worker.terminate()
  }

  #watch(): void {
    this.#endAfter(this.#budgetMs * ELAPSED_PER_BUDGET)
    // Rejected when the task ends before its budget.
    this.#untilSpent(this.#watching.signal).then(this.#exceedTime, () => {})
  }

  /** Resolves when the task has used its budget of processor time. */
  async #untilSpent(signal: AbortSignal): Promise<void> {
    const atBegin = await this.#worker.cpuUsage()
    for (let leftMs = this.#budgetMs; leftMs > 0; ) {
      await sleep(leftMs, undefined, { signal, ref: false })
      const { user, system } = await this.#worker.cpuUsage(atBegin)
      leftMs = this.#budgetMs - (user + system) / 1000
    }
    signal.throwIfAborted()
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#exceedTime, ms)
  }

  readonly #exceedTime = () => {
    this.#isEnded = true
    void this.#worker.terminate()
    this.#settle({ exceeded: 'time' })
  }

  #settle(end: TaskEnd): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#watching.abort()
    this.#worker.unref()
    this.#onEnd?.(end)
    this.#onEnd = undefined
  }
}
