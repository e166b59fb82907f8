import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { type FilledSandbox, type FillOptions, type FillRefused, fillSandbox } from '../../scripts/demo/fill-sandbox.ts'
import { planApplications } from '../../scripts/demo/plan-applications.ts'
import { planEntities } from '../../scripts/demo/plan-entities.ts'
import { timeOfOutcome } from '../../scripts/demo/sample-steps.ts'
import { summaryOf } from '../../scripts/demo/summary.ts'
import { createKey } from '../src/admin/manage-keys.ts'
import { readConfig } from '../src/config.ts'
import { VERDICTS } from '../src/core/vocabularies.ts'
import { SCOPES } from '../src/security/scopes.ts'
import { startService } from '../src/service/start-service.ts'
import { openStorage } from '../src/store/storage.ts'
import { byService } from './acts.ts'
import { call, callForJson } from './command-line.ts'
import { createTestStorage } from './test-storage.ts'

const ROOT = join(import.meta.dirname, '../..')
const PORTS = { CONSOLE_PORT: '0', SANDBOX_PORT: '0', PRODUCTION_PORT: '0' }
const storages = [await createTestStorage(), await createTestStorage()]
after(async () => {
  for (const storage of storages) await storage.remove()
})

const now = Date.now()
const logged: string[] = []
const logger = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) })
const options: FillOptions = { seed: 2, size: 0.02, now, add: false, logger, onProgress() {} }
const fill = (index: number, changed: Partial<FillOptions> = {}) =>
  fillSandbox(readConfig({ ...storages[index]!.env, ...PORTS }), { ...options, ...changed })
const [first, second] = (await Promise.all([fill(0), fill(1)])) as [FilledSandbox, FilledSandbox]

test('the same seed gives the same figures in another installation, another seed plans others', () => {
  assert.deepEqual(second.figures, first.figures)
  assert.notDeepEqual(planEntities(3, 24), planEntities(2, 24))
  assert.deepEqual(logged, [])
})

test('weekdays are busy and weekends are quiet, on whichever day the demo runs', () => {
  const entities = planEntities(2, 24)
  const isWeekend = (at: number) => [0, 6].includes(new Date(at).getUTCDay())
  for (let day = 18; day < 25; day++) {
    const today = Date.parse(`2026-11-${day}T12:00:00Z`)
    const { applications } = planApplications(2, { entities, count: 2_000, now: today })
    const weekend = applications.filter(({ at }) => isWeekend(at)).length
    // Five days against two, each of which has less than half.
    assert.ok(applications.length - weekend > 5 * weekend, `${weekend} of ${applications.length} on ${day} November`)
  }
})

test('every verdict, every type of entity, reviews and outcomes occur', () => {
  const { figures } = first
  for (const verdict of VERDICTS) assert.ok(figures.verdicts[verdict] > 0, verdict)
  assert.ok(figures.verdicts.approve > figures.verdicts.decline)
  assert.ok(figures.reviews > 0 && figures.reviews < figures.decisions)
  assert.ok(figures.outcomes > 0 && figures.consents > 0 && figures.feature_snapshots > 0)
})

test('an outcome is not dated before its decision, even if that was made shortly before midnight', () => {
  const decided = { created_at: '2026-10-20T23:57:59.000Z' }
  const timeAt = (night: string) => new Date(timeOfOutcome(Date.parse(night), decided)).toISOString()
  assert.equal(timeAt('2026-10-21T02:10:00Z'), decided.created_at)
  assert.equal(timeAt('2026-10-22T02:10:00Z'), '2026-10-21T23:10:00.000Z')
})

test('a sandbox with entities, and a seed that it has already, are refused', async () => {
  const [full, repeated] = await Promise.all([fill(0), fill(1, { add: true })])
  assert.match((full as FillRefused).refused, /has entities already: pass --add/)
  assert.match((repeated as FillRefused).refused, /sample of seed 2 is in the sandbox already: pass another --seed/)
})

test('a first start by the demo leaves a link that is valid now', () => {
  const text = readFileSync(join(storages[0]!.dataDir, 'first-run.txt'), 'utf8')
  assert.equal(text, first.firstRunText)
  assert.match(text, /^First sign-in +http:\S+\/welcome#\S+$/m)
})

test('the summary of the demo has the first key and link on a terminal only', () => {
  const config = readConfig(storages[0]!.env)
  const summary = (isTerminal: boolean) => summaryOf(first, { config, seconds: 1, isTerminal })
  assert.match(summary(true), /sk_sandbox_\w+\n.*welcome#/)
  assert.doesNotMatch(summary(false), /sk_sandbox_|welcome#/)
})

test('deliveries arrived or wait for another attempt, and endpoints are healthy, failing or disabled', async () => {
  // Without a service, whose dispatcher would try again while the receivers are gone.
  const storage = await openStorage(readConfig(storages[0]!.env))
  try {
    const { sandbox } = storage.environments
    const states = await sandbox.query<{ state: string }>(
      'SELECT DISTINCT state FROM webhook_deliveries ORDER BY state',
    )
    assert.deepEqual(
      states.map(({ state }) => state),
      ['delivered', 'pending'],
    )
    const retried = await sandbox.query('SELECT 1 FROM webhook_attempts WHERE number >= 4')
    assert.ok(retried.length > 0, 'the outage that lasts has been retried')
    const endpoints = await sandbox.query<{ state: string; failing: boolean }>(
      'SELECT state, failing_since IS NOT NULL AS failing FROM webhook_endpoints ORDER BY id',
    )
    assert.deepEqual(
      endpoints.map(({ state, failing }) => `${state}${failing ? ', failing' : ''}`),
      ['enabled', 'enabled', 'enabled, failing', 'disabled'],
    )
  } finally {
    await storage.close()
  }
})

test('the service shows the history: every decision, nothing in the future, decisions that replay, intact logs', async () => {
  const service = await startService(readConfig({ ...storages[0]!.env, ...PORTS }), { logger })
  try {
    const { installation, urls } = service
    const organizationId = first.organization.id
    const wanted = { name: 'Test', scopes: SCOPES, expiresAt: null }
    const { key } = await createKey(installation, byService(organizationId), wanted)
    const get = async (path: string, init: RequestInit = {}) => {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
      // biome-ignore lint/suspicious/noExplicitAny: three endpoints with three shapes, which openapi.test.ts checks.
      return (await fetch(urls.sandbox + path, { headers, ...init })).json() as Promise<Record<string, any>>
    }
    const usage = await get(`/v1/usage?from=${dayOf(now - 89 * 86_400_000)}&to=${dayOf(now)}`)
    const decided = usage.by_day.reduce((sum: number, day: { decisions: number }) => sum + day.decisions, 0)
    assert.equal(decided, first.figures.decisions)

    const entity = await get('/v1/entities', { method: 'POST', body: '{"external_id": "sample-2-0001"}' })
    assert.equal(entity.metadata.sample, 'yes')
    const sandbox = installation.storage.environments.sandbox
    for (const [table, column] of [
      ['entities', 'updated_at'],
      ['decisions', 'created_at'],
      ['events', 'created_at'],
      ['audit_entries', 'occurred_at'],
      ['webhook_attempts', 'started_at'],
    ] as const) {
      const rows = await sandbox.query<{ latest: string }>(
        `SELECT max(${column}) AS latest FROM ${table} WHERE org_id = $1`,
        [organizationId],
      )
      assert.ok(rows[0]!.latest <= new Date().toISOString(), table)
    }
    const decisions = await sandbox.query<{ id: string }>('SELECT id FROM decisions ORDER BY id LIMIT 40')
    for (const { id } of decisions) assert.equal((await get(`/v1/decisions/${id}/replay`)).matches, true, id)
    await assertLogsIntact()
    assert.match((await call(storages[0]!.env, 'operators', 'list')).stdout, /ines@sample\.example/)
    assertRefusedWhileRunning()
  } finally {
    await service.close()
  }
})

async function assertLogsIntact(): Promise<void> {
  const logs: { environment: string; intact: boolean }[] = await callForJson(storages[0]!.env, 'audit', 'verify')
  assert.deepEqual(
    logs.map(({ environment, intact }) => [environment, intact]),
    [
      ['sandbox', true],
      ['production', true],
      // Of the installation, whose accounts belong to no organization.
      ['production', true],
    ],
  )
}

function assertRefusedWhileRunning(): void {
  const run = spawnSync(process.execPath, [join(ROOT, 'scripts/demo/main.ts'), '--size', '0.01'], {
    env: { ...process.env, ...storages[0]!.env },
    encoding: 'utf8',
  })
  assert.equal(run.status, 1)
  assert.match(run.stderr, /the service is running, and the sample needs its database alone/)
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
