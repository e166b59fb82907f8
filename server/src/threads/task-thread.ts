import { Worker } from 'node:worker_threads'
import type { TaskFunction, TaskMessage, TaskRequest } from './task.ts'

/** How a task ended: with its answer, or because of its bounds, or by an error of its own. */
export type TaskEnd = { answer: unknown } | { error: Error } | { exceeded: 'time' | 'memory' }

/**
 * A thread that runs one task at a time.
 *
 * States: idle → running → idle, or ended by `end`, by the budget of a task, or by a lack of memory; an ended thread is
 * not used again.
 */
export class TaskThread {
  readonly #worker: Worker
  #onEnd: ((end: TaskEnd) => void) | undefined
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
      if ('begins' in message) this.#endWithin(this.#budgetMs)
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
    this.#worker.ref()
    return new Promise((resolve) => {
      this.#onEnd = resolve
      this.#worker.postMessage({ module, name, input } satisfies TaskRequest)
    })
  }

  /** Gives the running task at most so much more time: its client has left, but the thread may be about to answer. */
  hurry(withinMs: number): void {
    this.#budgetMs = Math.min(this.#budgetMs, withinMs)
    if (this.#timer) this.#endWithin(this.#budgetMs)
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    this.#isEnded = true
    await this.#worker.terminate()
  }

  #endWithin(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#isEnded = true
      void this.#worker.terminate()
      this.#settle({ exceeded: 'time' })
    }, ms)
  }

  #settle(end: TaskEnd): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#worker.unref()
    this.#onEnd?.(end)
    this.#onEnd = undefined
  }
}
