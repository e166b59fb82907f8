/** What clients take before they authenticate is bounded (promise 15). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { startFlood } from './load/pipelining-flood.ts'
import { startProbedService } from './probe/probed-service.ts'
import { assertTime, reportFigures, trials } from './proof-run.ts'

const service = await startProbedService()
const port = service.process.ports.sandbox

async function answerTime(): Promise<number> {
  const began = performance.now()
  const response = await fetch(`${service.url}/v1/usage`, {
    headers: { Authorization: `Bearer ${service.keys.first}` },
  })
  await response.text()
  assert.equal(response.status, 200)
  return performance.now() - began
}

test('100 connections with 400 pipelined requests each do not silence others', async (t) => {
  const stop = startFlood({ port, connections: 100, pipelined: 400 })
  const times: number[] = []
  let rss = 0
  for (const end = Date.now() + trials(6_000, 2_000); Date.now() < end; ) {
    times.push(await answerTime())
    rss = Math.max(rss, service.rssMb())
  }
  const { opened, answered } = await stop()
  const slowest = Math.max(...times)
  assert.ok(opened >= 100)
  // Before, one round of this flood silenced the API for six seconds.
  assertTime(t, slowest < 2_000, `another client waited ${slowest} ms`)
  assert.ok(rss < 1024, `${rss} MB resident`)
  reportFigures(
    t,
    `${opened} connections with 400 pipelined requests (${answered} answered): ${times.length} answers to another client, slowest ${Math.round(slowest)} ms, at most ${Math.round(rss)} MB`,
  )
})

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
  const began = Date.now()
  let rss = 0
  let slowest = 0
  while (openSockets() > 0 && Date.now() - began < 50_000) {
    slowest = Math.max(slowest, await answerTime())
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
