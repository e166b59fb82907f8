/** Clients that do not read their answers are cut off (promise 15). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { startProbedService } from './probe/probed-service.ts'
import { reportFigures, trials, until } from './proof-run.ts'

const service = await startProbedService()
const port = service.process.ports.sandbox

test('clients that never read their answers are cut off, and cost little memory', async (t) => {
  const before = service.rssMb()
  const sockets = Array.from({ length: trials(100, 20) }, () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
    socket.on('error', () => {}) // Cut off: 'close' follows.
    socket.pause()
    // The operating system buffers a few MB for each side; the description of the API fills that within 32 answers.
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(33))
    return socket
  })
  await until(() => openSockets() === sockets.length, 'every client is connected')
  const began = Date.now()
  let rss = 0
  let slowest = 0
  while (openSockets() > 0 && Date.now() - began < 50_000) {
    slowest = Math.max(slowest, await service.answerTime())
    rss = Math.max(rss, service.rssMb())
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  const seconds = Math.round((Date.now() - began) / 1000)
  assert.equal(openSockets(), 0, `still open after ${seconds} s`)
  assert.ok(rss < 1024, `${rss} MB resident`)
  for (const socket of sockets) socket.destroy()
  reportFigures(
    t,
    `${sockets.length} clients that never read cut off after ${seconds} s, ${Math.round(rss - before)} MB more, slowest other answer ${Math.round(slowest)} ms`,
  )
})

/** The connections of the silent clients that the service still has: a paused socket does not notice its end itself. */
function openSockets(): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const established = '01'
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local, remote, state]) =>
        local === `0100007F:${hexPort}` && remote?.startsWith('0200007F:') && state === established,
    ).length
}
