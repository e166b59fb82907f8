/** `npm start` as an init system runs and stops it: npm alone gets the signal, and its exit code counts. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { freePorts, type ServiceProcess, spawnService } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const storage = await createTestStorage()
after(storage.remove)

/** Starts the service through npm, and returns the pid of the server, which its log lines have. */
async function npmStart(): Promise<{ service: ServiceProcess; serverPid: number }> {
  const service = spawnService(storage.env, await freePorts(), { command: ['npm', 'start', '--silent'] })
  await service.untilOutput('"msg":"ready"')
  const serverPid = Number(/"pid":(\d+)/.exec(service.output())![1])
  return { service, serverPid }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} to npm alone stops the server: it ends in order, its ports close, and npm exits with 0`, async (t) => {
    const { service, serverPid } = await npmStart()
    t.after(() => isAlive(serverPid) && process.kill(serverPid, 'SIGKILL'))
    assert.notEqual(service.child.pid, serverPid)
    service.child.kill(signal)
    const [code, endedBy] = await once(service.child, 'exit')
    assert.equal(isAlive(serverPid), false, 'the server runs on without npm')
    assert.deepEqual([code, endedBy], [0, null], service.output())
    assert.match(service.output(), /"msg":"shutting down"/)
    for (const port of Object.values(service.ports)) await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`))
  })
}
