/** The queue of entries in the control database: recorded at a start, and an alarm about what the service did not write. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { installationEntry } from '../src/admin/entries.ts'
import { readConfig } from '../src/config.ts'
import { type Service, startService } from '../src/service/start-service.ts'
import { queueEntries } from '../src/store/power/entry-queue.ts'
import { INSTALLATION_LOG } from '../src/store/power/power-tables.ts'
import { call } from './command-line.ts'
import { createTestStorage } from './test-storage.ts'

const place = await createTestStorage()
after(() => place.remove())

const logs: string[] = []
const logger = pino({ level: 'info' }, { write: (line: string) => void logs.push(line) })
const alarms = () => logs.filter((line) => line.includes('"alarm":"row_refused"'))

function start(): Promise<Service> {
  const config = readConfig({ ...place.env, CONSOLE_PORT: '0', SANDBOX_PORT: '0', PRODUCTION_PORT: '0' })
  return startService(config, { logger, roles: [] })
}

test('a start records what a node that stopped has left in the queue', async () => {
  const first = await start()
  const { installation } = first
  const entry = installationEntry(installation, {
    type: 'first_link.made',
    subjectId: 'first_link',
    data: { expires_at: '2026-11-15T09:30:00.000Z' },
  })
  await installation.storage.control.transaction((transaction) =>
    queueEntries(transaction, installation.stores.production, [entry]),
  )
  await first.close()

  const { installation: next, close } = await start()
  const left = await next.storage.control.query('SELECT position FROM entries_to_record')
  const recorded = await next.stores.production.auditLog.recordedEntries(INSTALLATION_LOG, [entry.entry.id])
  await close()
  assert.deepEqual(left, [])
  assert.equal(recorded.size, 1)
  assert.deepEqual(alarms(), [])
})

test('a queued entry that the service did not write raises the alarm, at a start and in commands', async () => {
  const first = await start()
  const { control } = first.installation.storage
  const [row] = await control.query<{ position: number }>(
    "INSERT INTO entries_to_record (org_id, entry) VALUES ('installation', '{}') RETURNING position",
  )
  const refused = await control.refusedRows(INSTALLATION_LOG)
  await first.close()
  logs.length = 0
  const subject = `${INSTALLATION_LOG} ${row!.position}`
  assert.deepEqual(refused, [{ table: 'entries_to_record', subject, why: 'mac' }])

  const second = await start()
  await second.close()
  assert.equal(alarms().length, 1)
  assert.ok(alarms()[0]!.includes(`"subject":"${subject}"`))

  const command = await call(place.env, 'audit', 'verify')
  assert.match(command.stderr, /^ALARM row_refused: .*entries_to_record/m)
  assert.equal(command.status, 1)
})
