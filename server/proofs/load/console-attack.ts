/** Calls operations of the console, many at once and again and again, from a thread of its own, until it is told to stop. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** A call of an operation with the cookie of a session. */
export interface ConsoleCall {
  url: string
  cookie: string
  body: string
}

interface Attack {
  calls: readonly ConsoleCall[]
  /** How many callers there are; each begins with another call. */
  callers: number
}

/** Starts the callers; the returned function stops them and says how many answers had which status. */
export function startConsoleAttack(attack: Attack): () => Promise<Record<string, number>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: attack })
  return () =>
    new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', resolve)
      worker.postMessage('stop')
    })
}

async function attack({ calls, callers }: Attack): Promise<void> {
  const answered: Record<string, number> = {}
  let isOver = false
  parentPort!.once('message', () => {
    isOver = true
  })
  const call = async (caller: number) => {
    for (let time = caller; !isOver; time++) {
      const { url, cookie, body } = calls[time % calls.length]!
      const headers = { 'Content-Type': 'application/json', Origin: new URL(url).origin, Cookie: cookie }
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.text()
      answered[response.status] = (answered[response.status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  parentPort!.postMessage(answered)
}

if (!isMainThread) await attack(workerData as Attack)
