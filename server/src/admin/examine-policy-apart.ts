import { Worker } from 'node:worker_threads'
import type { CheckedSource, examinePolicy, PolicyToExamine } from './examine-policy.ts'
import type { PolicyCheckRequest } from './policy-check-worker.ts'

/** How long the check of a policy may take: the largest one takes about a second. */
const CHECK_WITHIN_MS = 30_000
/** The memory of the check, so that a hostile file cannot take that of the service. */
const HEAP_MB_MAX = 256

/** The thread that is kept for the next policy: starting one and loading the checks takes a second. */
let idle: Worker | undefined

/**
 * Examines a policy in a worker thread, so that requests are answered meanwhile: the sandbox policy alone takes 0.3 s of
 * a processor, and a hostile file many times that.
 */
export function examinePolicyApart(policy: PolicyToExamine): Promise<ReturnType<typeof examinePolicy>> {
  return askThread({ examine: policy })
}

/** Checks the text of a policy in the same way, and lists its problems with their positions. */
export function checkSourceApart(source: string): Promise<CheckedSource | { problem: string }> {
  return askThread({ check: source })
}

function askThread<Result>(request: PolicyCheckRequest): Promise<Result | { problem: string }> {
  const worker = idle ?? startWorker()
  idle = undefined
  worker.ref()
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      clearTimeout(timer)
      worker.off('message', onMessage).off('error', onError)
      end()
    }
    const onMessage = (result: Result) =>
      settle(() => {
        // An idle thread does not keep the process alive.
        worker.unref()
        if (idle) void worker.terminate()
        else idle = worker
        resolve(result)
      })
    const onError = (error: Error & { code?: string }) =>
      settle(() => (error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve(TOO_MUCH_MEMORY) : reject(error)))
    const timer = setTimeout(
      () =>
        settle(() => {
          void worker.terminate()
          resolve(TOO_LONG)
        }),
      CHECK_WITHIN_MS,
    )
    worker.on('message', onMessage).on('error', onError)
    worker.postMessage(request)
  })
}

function startWorker(): Worker {
  const worker = new Worker(new URL('./policy-check-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  })
  // Without a listener, a thread that runs out of memory while it is idle or being ended would end the process.
  worker.on('error', () => {})
  worker.once('exit', () => {
    if (idle === worker) idle = undefined
  })
  return worker
}

const TOO_LONG = { problem: `the policy takes longer than ${CHECK_WITHIN_MS / 1000} s to check: make it smaller` }
const TOO_MUCH_MEMORY = { problem: 'the policy takes too much memory to check: make it smaller' }
