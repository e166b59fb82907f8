/** Floods a port with pipelined requests without a key, from a thread of its own and another address of this machine. */
import { connect } from 'node:net'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

interface Flood {
  port: number
  connections: number
  pipelined: number
}

/** What a flood did: the connections it opened, and the answers it got. */
export interface FloodReport {
  opened: number
  answered: number
}

/** Starts a flood; each connection that is cut off is opened again. The returned function stops it. */
export function startFlood(flood: Flood): () => Promise<FloodReport> {
  const worker = new Worker(new URL(import.meta.url), { workerData: flood })
  return () =>
    new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', resolve)
      worker.postMessage('stop')
    })
}

function flood({ port, connections, pipelined }: Flood): void {
  const requests = 'GET /v1/usage HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(pipelined)
  const report: FloodReport = { opened: 0, answered: 0 }
  let isOver = false
  const open = () => {
    if (isOver) return
    report.opened += 1
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }, () => socket.write(requests))
    socket
      .on('data', (data) => {
        report.answered += data.toString('latin1').split('HTTP/1.1 ').length - 1
      })
      .on('error', () => {}) // Cut off: 'close' follows.
      .on('close', () => setTimeout(open, 10))
  }
  for (let count = 0; count < connections; count++) open()
  parentPort!.once('message', () => {
    isOver = true
    parentPort!.postMessage(report)
    setTimeout(() => process.exit(), 100)
  })
}

if (!isMainThread) flood(workerData as Flood)
