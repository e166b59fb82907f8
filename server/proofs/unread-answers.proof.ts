/** Clients that do not read their answers are cut off (promise 15). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { CONNECTION_BOUNDS, type CutReason } from '../src/http/connection-guard.ts'
import { startProbedService } from './probe/probed-service.ts'
import { reportFigures, trials, until } from './proof-run.ts'

const service = await startProbedService()
const port = service.process.ports.sandbox
const CLIENT_NETWORK = '127.0.1.'
/** Twice as long as clients may leave answers unread, because other proofs run beside this one. */
const CUT_WITHIN_MS = 2 * CONNECTION_BOUNDS.unreadForMsMax

test('clients that never read their answers are cut off, and cost little memory', async (t) => {
  const before = service.rssMb()
  // Each from an address of its own, and with as many requests as a connection may pipeline: they are cut off for not
  // reading, and for nothing else.
  const sockets = Array.from({ length: trials(100, 20) }, (_, index) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `${CLIENT_NETWORK}${index + 1}` })
    socket.on('error', () => {}) // Cut off: 'close' follows.
    socket.pause()
    // The operating system buffers a few MB for each side; the description of the API fills that within 32 answers.
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(CONNECTION_BOUNDS.pipelinedMax))
    return socket
  })
  await until(() => openSockets() === sockets.length, 'every client is connected')
  const began = Date.now()
  let rss = 0
  let slowest = 0
  while (openSockets() > 0 && Date.now() - began < CUT_WITHIN_MS) {
    slowest = Math.max(slowest, await service.answerTime())
    rss = Math.max(rss, service.rssMb())
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  const seconds = Math.round((Date.now() - began) / 1000)
  assert.equal(openSockets(), 0, `still open after ${seconds} s`)
  await until(() => cutOff().total === sockets.length, 'the log tells how many were cut off')
  assert.equal(cutOff().unread, sockets.length)
  assert.ok(rss < 1024, `${rss} MB resident`)
  for (const socket of sockets) socket.destroy()
  reportFigures(
    t,
    `${sockets.length} clients that never read cut off after ${seconds} s, ${Math.round(rss - before)} MB more, slowest other answer ${Math.round(slowest)} ms`,
  )
})

/** How many connections the service says that it has cut off. */
function cutOff(): { unread: number; total: number } {
  const cuts = service.process
    .output()
    .split('\n')
    .filter((line) => line.includes('"connections cut off"'))
    .map((line) => (JSON.parse(line) as { connections: Partial<Record<CutReason, number>> }).connections)
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  return { unread: sum(cuts.map(({ unread = 0 }) => unread)), total: sum(cuts.flatMap(Object.values)) }
}

/**
 * The connections of the silent clients that the service still has: a paused socket does not notice its end itself. The
 * kernel writes an address as its four bytes in reverse.
 */
function openSockets(): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const established = '01'
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local, remote, state]) =>
        local === `0100007F:${hexPort}` && remote?.slice(2).startsWith('01007F:') && state === established,
    ).length
}
