/** What clients take before they authenticate is bounded (promise 15). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFlood } from './load/pipelining-flood.ts'
import { startProbedService } from './probe/probed-service.ts'
import { assertTime, reportFigures, trials } from './proof-run.ts'

const service = await startProbedService()
const port = service.process.ports.sandbox

test('100 connections with 400 pipelined requests each do not silence others', async (t) => {
  const stop = startFlood({ port, connections: 100, pipelined: 400 })
  const times: number[] = []
  let rss = 0
  for (const end = Date.now() + trials(6_000, 2_000); Date.now() < end; ) {
    times.push(await service.answerTime())
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
