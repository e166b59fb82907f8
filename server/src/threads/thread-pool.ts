import { FairQueue } from './fair-queue.ts'
import type { Task, TaskFunction } from './task.ts'
import { type TaskEnd, TaskThread } from './task-thread.ts'

/** For whom a task runs, and until when. */
export interface TaskClient {
  organizationId: string
  /** Aborted when the client has left. */
  signal?: AbortSignal | undefined
  /** True for a task of work that began already and has few tasks at a time: it waits where a new one is refused. */
  isAdmitted?: boolean
}

/** An organization has as many tasks waiting as it may; the message may be shown to people. */
export class PoolBusy extends Error {
  override name = 'PoolBusy'
  readonly retryAfterS = 1
}

/** A task took more time or memory than it may; the message may be shown to people. */
export class TaskTooCostly extends Error {
  override name = 'TaskTooCostly'
  /** What the policy costs, such as "takes longer than 10 s to check". */
  readonly cost: string

  constructor(cost: string) {
    super(`The policy ${cost}.`)
    this.cost = cost
  }
}

interface PoolOptions {
  threadsMax?: number
  /** The heap of one thread, so that a hostile policy cannot take the memory of the service. */
  heapMb?: number
  /** Tasks of one organization that may wait. */
  waitingMax?: number
}

interface Job {
  organizationId: string
  task: TaskFunction
  input: unknown
  begin(thread: TaskThread): void
  settle(end: TaskEnd): void
}

/** How long a task may go on after its client left: starting another thread takes about a second. */
const ABANDONED_WITHIN_MS = 1_000

/**
 * The threads of a node for work on policies, which takes as long as the author of a policy makes it: checks, tests, dry
 * runs, backtests. Slow tasks leave one thread to the quick ones, so that a slider does not wait for a backtest.
 */
export class ThreadPool {
  readonly #threadsMax: number
  readonly #heapMb: number
  readonly #waitingMax: number
  readonly #queue: FairQueue<Job>
  readonly #idle: TaskThread[] = []
  readonly #running = new Map<Job, TaskThread>()
  #isClosed = false

  constructor({ threadsMax = 2, heapMb = 192, waitingMax = 16 }: PoolOptions = {}) {
    this.#threadsMax = threadsMax
    this.#heapMb = heapMb
    this.#waitingMax = waitingMax
    this.#queue = new FairQueue(waitingMax)
  }

  /** How many threads there are, idle ones included. */
  get threads(): number {
    return this.#idle.length + this.#running.size
  }

  /** How many tasks wait for a thread. */
  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Runs a task when it is the turn of its organization. Throws `PoolBusy` if too many of its tasks wait, `TaskTooCostly` if
   * it exceeds its bounds, and the reason of the signal when the client leaves.
   */
  async run<Input, Answer>(task: Task<Input, Answer>, input: Input, client: TaskClient): Promise<Answer> {
    const { organizationId, signal, isAdmitted = false } = client
    signal?.throwIfAborted()
    if (!isAdmitted && this.#queue.isFull(organizationId))
      throw new PoolBusy(
        `${this.#waitingMax} checks and dry runs of policies wait here for your organization already. Try again in a moment.`,
      )
    const end = await this.#queued({ organizationId, task, input }, signal)
    if ('answer' in end) return end.answer as Answer
    if ('error' in end) throw end.error
    const limit = end.exceeded === 'time' ? `longer than ${task.budgetMs / 1000} s` : 'too much memory'
    throw new TaskTooCostly(`takes ${limit} ${task.purpose}`)
  }

  /** Ends all threads; tasks that run or wait fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const job of this.#queue.clear()) job.settle({ error: closed() })
    await Promise.all([...this.#idle.splice(0), ...this.#running.values()].map((thread) => thread.end()))
  }

  async #queued(wanted: Pick<Job, 'organizationId' | 'task' | 'input'>, signal?: AbortSignal): Promise<TaskEnd> {
    if (this.#isClosed) throw closed()
    const { promise, resolve, reject } = Promise.withResolvers<TaskEnd>()
    let thread: TaskThread | undefined
    const job: Job = {
      ...wanted,
      begin(given) {
        thread = given
      },
      settle: resolve,
    }
    const abandon = () => {
      this.#queue.remove(job)
      thread?.hurry(ABANDONED_WITHIN_MS)
      reject(signal!.reason)
    }
    signal?.addEventListener('abort', abandon, { once: true })
    this.#queue.add(job)
    this.#startNext()
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', abandon)
    }
  }

  #startNext(): void {
    while (!this.#isClosed && this.#running.size < this.#threadsMax) {
      const job = this.#queue.take(({ task }) => task.lane === 'quick' || this.#hasSlowThread())
      if (!job) return
      void this.#start(job)
    }
  }

  /** Whether a slow task may begin: a pool of one thread runs everything on it. */
  #hasSlowThread(): boolean {
    const slow = [...this.#running.keys()].filter(({ task }) => task.lane === 'slow').length
    return slow < Math.max(1, this.#threadsMax - 1)
  }

  async #start(job: Job): Promise<void> {
    const thread = this.#idleThread() ?? new TaskThread(this.#heapMb)
    this.#running.set(job, thread)
    job.begin(thread)
    job.settle(await thread.run(job.task, job.input))
    // The next thread starts when this one has given its memory back.
    if (thread.isEnded) await thread.end()
    else this.#idle.push(thread)
    this.#running.delete(job)
    this.#startNext()
  }

  /** The thread that was used last, because it has most likely compiled the policy. */
  #idleThread(): TaskThread | undefined {
    let thread = this.#idle.pop()
    while (thread?.isEnded) thread = this.#idle.pop()
    return thread
  }
}

function closed(): Error {
  return new Error('the threads of this node have been closed')
}
