import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { firstRunKey, runCliForJson, type ServiceProcess, startServiceProcess } from '../../tests/service-process.ts'
import { createTestStorage } from '../../tests/test-storage.ts'

/** A service in its own process, whose event loop is measured. */
export interface ProbedService {
  process: ServiceProcess
  env: Record<string, string>
  /** Sandbox keys of two organizations. */
  keys: { first: string; second: string }
  url: string
  /** The longest time of the processor, in milliseconds, for which the event loop was held since the last call. */
  longestHoldMs(): Promise<number>
  rssMb(): number
  /** The milliseconds in which a request of the first organization is answered. */
  answerTime(): Promise<number>
}

/** Starts a service with the probe and two organizations, for the tests of one file. */
export async function startProbedService(settings: Record<string, string> = {}): Promise<ProbedService> {
  const storage = await createTestStorage()
  const env = { ...storage.env, RATE_LIMIT_PER_SECOND: '1000000', ...settings }
  const probe = join(import.meta.dirname, 'loop-probe.ts')
  const service = await startServiceProcess({ ...env, NODE_OPTIONS: `--import=${probe}` })
  after(async () => {
    await service.stop()
    await storage.remove()
  })
  const first = firstRunKey(storage.dataDir)
  const { id } = runCliForJson(env, 'orgs', 'create', 'Second')
  const { key: second } = runCliForJson(env, 'keys', 'create', '--org', id, '--environment', 'sandbox')
  const url = `http://127.0.0.1:${service.ports.sandbox}`
  let reads = 0
  return {
    process: service,
    env,
    keys: { first, second },
    url,
    async longestHoldMs() {
      reads += 1
      service.child.kill('SIGUSR2')
      await service.untilOutput(`loop-probe ${reads} held`)
      return Number(new RegExp(`loop-probe ${reads} held ([\\d.]+)`).exec(service.output())![1])
    },
    rssMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))![1]) / 1024,
    async answerTime() {
      const began = performance.now()
      const response = await fetch(`${url}/v1/usage`, { headers: { Authorization: `Bearer ${first}` } })
      await response.text()
      assert.equal(response.status, 200)
      return performance.now() - began
    },
  }
}
