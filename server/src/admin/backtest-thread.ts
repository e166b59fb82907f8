import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { BacktestCounts } from '../core/backtest/backtest-counts.ts'
import type { BacktestPage } from '../core/backtest/count-page.ts'
import type { BacktestBegun, BacktestRequest } from './backtest-worker.ts'
import type { PolicyToExamine } from './examine-policy.ts'

/** The memory of one thread: a policy and two pages of decisions take a tenth of it. */
const HEAP_MB_MAX = 256

/** Threads of one backtest. */
export const BACKTEST_THREADS = Math.min(availableParallelism(), 4)

/** Threads that are kept for the next backtest: starting one and loading the engine takes half a second. */
const idle: Worker[] = []

interface Waiting {
  resolve(answer: never): void
  reject(error: Error): void
}

/** A thread that decides recorded decisions again. Its answers come in the order of the requests. */
export class BacktestThread {
  readonly #worker: Worker
  readonly #waiting: Waiting[] = []

  constructor() {
    this.#worker = idle.pop() ?? startWorker()
    this.#worker.ref()
    this.#worker.on('message', this.#onMessage).on('error', this.#onError).on('exit', this.#onExit)
  }

  /** Compiles the policy that decides; says why if it does not compile. */
  begin(policy: PolicyToExamine): Promise<BacktestBegun> {
    return this.#ask({ begin: policy })
  }

  /** Decides a page of decisions. */
  count(page: BacktestPage): Promise<BacktestCounts> {
    return this.#ask({ page })
  }

  /** Keeps the thread for the next backtest if it has answered everything, and ends it otherwise. */
  release(): void {
    this.#worker.off('message', this.#onMessage).off('error', this.#onError).off('exit', this.#onExit)
    // An idle thread does not keep the process alive.
    this.#worker.unref()
    if (idle.length === BACKTEST_THREADS || this.#waiting.length > 0) void this.#worker.terminate()
    else idle.push(this.#worker)
  }

  #ask<Answer>(request: BacktestRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(request)
    })
  }

  readonly #onMessage = (answer: unknown) => this.#waiting.shift()?.resolve(answer as never)
  readonly #onError = (error: Error) => {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
  readonly #onExit = () => this.#onError(new Error('the thread of a backtest has stopped'))
}

function startWorker(): Worker {
  const worker = new Worker(new URL('./backtest-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  })
  // Without a listener, a thread that fails while it is idle or being ended would end the process.
  worker.on('error', () => {})
  worker.once('exit', () => {
    const at = idle.indexOf(worker)
    if (at >= 0) idle.splice(at, 1)
  })
  return worker
}
