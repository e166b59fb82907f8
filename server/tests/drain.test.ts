/** Health and readiness on the ports of the API, for nodes without a console, and what they say before a stop. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { startService } from '../src/service/start-service.ts'
import { firstRunKey, freePorts, spawnService } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const storage = await createTestStorage()
after(storage.remove)

test('a node without the console tells supervisors and load balancers on its API ports how it is, without a key', async (t) => {
  const lines: string[] = []
  const service = await startService(
    readConfig({ ...storage.env, CONSOLE_PORT: '0', SANDBOX_PORT: '0', PRODUCTION_PORT: '0' }),
    { logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }), roles: ['api'] },
  )
  t.after(() => service.close())
  assert.equal(service.urls.console, undefined)
  for (const url of [service.urls.sandbox, service.urls.production]) {
    const ask = (path: string, method = 'GET') => fetch(url + path, { method })
    assert.deepEqual(await (await ask('/healthz')).json(), { status: 'ok' })
    // A busy machine may take longer than the two seconds after which a database counts as unreachable.
    while ((await ask('/readyz')).status !== 200) await sleep(50)
    assert.equal((await ask('/healthz', 'HEAD')).status, 200)
    const refused = await ask('/readyz', 'POST')
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'])
    assert.equal((await ask('/readyz/')).status, 404)
    assert.doesNotMatch(JSON.stringify(await (await ask('/openapi.json')).json()), /healthz|readyz/)
  }
  const routes = lines.map((line) => JSON.parse(line).route).filter((route) => route !== undefined)
  assert.deepEqual([...new Set(routes)], [null, '/openapi.json'], 'probes are not logged')
})

test('a node that drains says so on every port and still serves requests, until a second signal ends it', async () => {
  const service = spawnService({ ...storage.env, DRAIN_SECONDS: '600' }, await freePorts())
  await service.untilOutput('"msg":"ready"')
  service.child.kill('SIGTERM')
  await service.untilOutput('"msg":"shutting down"')
  for (const port of Object.values(service.ports)) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    assert.deepEqual([ready.status, await ready.json()], [503, { status: 'draining' }])
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
  }
  const headers = { Authorization: `Bearer ${firstRunKey(storage.dataDir)}` }
  assert.equal((await fetch(`http://127.0.0.1:${service.ports.sandbox}/v1/usage`, { headers })).status, 200)
  service.child.kill('SIGINT')
  assert.equal(await service.exited, 1)
})

test('a node that has drained stops in order', async () => {
  const service = spawnService({ ...storage.env, DRAIN_SECONDS: '1' }, await freePorts())
  await service.untilOutput('"msg":"ready"')
  assert.equal(await service.stop(), 0)
})
