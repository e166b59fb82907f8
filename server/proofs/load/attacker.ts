/** Sends requests one after the other from a thread of its own, until it is told to stop. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

interface Attack {
  url: string
  key: string
  requests: readonly { path: string; body: string }[]
}

/** Starts an attacker; the returned function stops it and says how many requests were answered. */
export function startAttacker(attack: Attack): () => Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { workerData: attack })
  return () =>
    new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', (answered: number) => resolve(answered))
      worker.postMessage('stop')
    })
}

async function attack({ url, key, requests }: Attack): Promise<void> {
  let answered = 0
  let isOver = false
  parentPort!.once('message', () => {
    isOver = true
  })
  while (!isOver) {
    const { path, body } = requests[answered % requests.length]!
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `attack-${answered}`,
    }
    await (await fetch(url + path, { method: 'POST', headers, body })).text()
    answered += 1
  }
  parentPort!.postMessage(answered)
}

if (!isMainThread) await attack(workerData as Attack)
