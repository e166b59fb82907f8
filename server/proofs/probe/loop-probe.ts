/**
 * Loaded into a service process before it starts (`node --import`): measures how much of the processor its main thread
 * uses without returning to the event loop. Time that other processes of the machine take does not count. On SIGUSR2 it
 * prints the longest hold since the last signal, as one line on the standard error output.
 */
import { isMainThread } from 'node:worker_threads'

const TICK_MS = 2

if (isMainThread) {
  let longestMs = 0
  let before = process.threadCpuUsage()
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (user + system) / 1000)
  }, TICK_MS).unref()
  let prints = 0
  process.on('SIGUSR2', () => {
    prints += 1
    process.stderr.write(`loop-probe ${prints} held ${longestMs.toFixed(2)}\n`)
    longestMs = 0
  })
}
