import { Worker } from 'node:worker_threads'
import type { ExaminedPolicy, examinePolicy, PolicyToExamine } from './examine-policy.ts'

/** How long the check of a policy may take: the largest one takes about a second. */
const CHECK_WITHIN_MS = 30_000
/** The memory of the check, so that a hostile file cannot take that of the service. */
const HEAP_MB_MAX = 256

/**
 * Examines a policy in a worker thread, so that requests are answered meanwhile: the sandbox policy alone takes 0.3 s of
 * a processor, and YAML with many keys takes time that grows with their square.
 */
export function examinePolicyApart(policy: PolicyToExamine): Promise<ReturnType<typeof examinePolicy>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./policy-check-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    })
    const settle = (result: ExaminedPolicy | { problem: string }) => {
      clearTimeout(timer)
      void worker.terminate()
      resolve(result)
    }
    const timer = setTimeout(() => settle(TOO_LONG), CHECK_WITHIN_MS)
    worker.once('message', settle)
    worker.once('error', (error: Error & { code?: string }) => {
      clearTimeout(timer)
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(TOO_MUCH_MEMORY)
      else reject(error)
    })
    worker.postMessage(policy)
  })
}

const TOO_LONG = { problem: `the policy takes longer than ${CHECK_WITHIN_MS / 1000} s to check: make it smaller` }
const TOO_MUCH_MEMORY = { problem: 'the policy takes too much memory to check: make it smaller' }
