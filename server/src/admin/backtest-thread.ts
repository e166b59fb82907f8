import { Worker } from 'node:worker_threads'
import type { BacktestResult } from '../core/backtest/backtest-result.ts'
import type { BacktestPage, BacktestRequest } from './backtest-worker.ts'
import type { PolicyToExamine } from './examine-policy.ts'

/** The memory of one thread: a policy, two pages of decisions and the result take a tenth of it. */
const HEAP_MB_MAX = 256

/** The thread that is kept for the next backtest: starting one and loading the engine takes half a second. */
let idle: Worker | undefined

interface Waiting {
  resolve(answer: never): void
  reject(error: Error): void
}

/** A thread that decides recorded decisions again. Its answers come in the order of the requests. */
export class BacktestThread {
  readonly #worker: Worker
  readonly #waiting: Waiting[] = []

  constructor() {
    this.#worker = idle ?? startWorker()
    idle = undefined
    this.#worker.ref()
    this.#worker.on('message', this.#onMessage).on('error', this.#onError).on('exit', this.#onExit)
  }

  /** Compiles the policy that decides; says why if it does not compile. */
  begin(policy: PolicyToExamine): Promise<{ problem: string } | { checksum: string }> {
    return this.#ask({ begin: policy })
  }

  /** Decides a page of decisions. */
  add(page: BacktestPage): Promise<void> {
    return this.#ask({ page })
  }

  async result(): Promise<BacktestResult> {
    return (await this.#ask<{ result: BacktestResult }>({ end: true })).result
  }

  /** Keeps the thread for the next backtest if it has answered everything, and ends it otherwise. */
  release(): void {
    this.#worker.off('message', this.#onMessage).off('error', this.#onError).off('exit', this.#onExit)
    // An idle thread does not keep the process alive.
    this.#worker.unref()
    if (idle || this.#waiting.length > 0) void this.#worker.terminate()
    else idle = this.#worker
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
    if (idle === worker) idle = undefined
  })
  return worker
}
