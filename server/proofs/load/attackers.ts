/** Sends requests on many connections at once from a thread of its own, until it is told to stop. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Pool } from 'undici'

/** One request of an attack. */
export interface AttackRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

interface Attack {
  origin: string
  connections: number
  requests: readonly AttackRequest[]
}

/** The answers that the attackers got, by status; 0 counts connections that broke. */
type AttackReport = Record<number, number>

/**
 * Starts as many attackers as there are connections. They share the requests, each sends its next one once the last was
 * answered, and every request has an idempotency key of its own. The returned function stops them.
 */
export function startAttackers(attack: Attack): () => Promise<AttackReport> {
  const worker = new Worker(new URL(import.meta.url), { workerData: attack })
  return () =>
    new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', resolve)
      worker.postMessage('stop')
    })
}

async function attack({ origin, connections, requests }: Attack): Promise<void> {
  const pool = new Pool(origin, { connections })
  const report: AttackReport = {}
  const run = Math.random().toString(36).slice(2)
  let sent = 0
  let isOver = false
  parentPort!.once('message', () => {
    isOver = true
  })
  const sendNext = async () => {
    const number = sent++
    const { method, path, headers, body = null } = requests[number % requests.length]!
    const answer = await pool.request({
      method,
      path,
      headers: { ...headers, 'idempotency-key': `attack-${run}-${number}` },
      body,
    })
    await answer.body.dump()
    return answer.statusCode
  }
  const attackers = Array.from({ length: connections }, async () => {
    while (!isOver) {
      const status = await sendNext().catch(() => 0)
      report[status] = (report[status] ?? 0) + 1
    }
  })
  await Promise.all(attackers)
  await pool.destroy()
  parentPort!.postMessage(report)
}

if (!isMainThread) await attack(workerData as Attack)
