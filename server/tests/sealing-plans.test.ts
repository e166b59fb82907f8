/** Sealing costs what waits, however long the log is. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { auditSealingQueries } from '../src/store/environment/audit-sealing.ts'
import { openStorage } from '../src/store/storage.ts'
import { fillTable } from './fill-table.ts'
import { rowsTouched, type Scan } from './rows-touched.ts'
import { createTestStorage } from './test-storage.ts'

const place = await createTestStorage()
const storage = await openStorage(readConfig(place.env))
await storage.migrate()
after(async () => {
  await storage.close()
  await place.remove()
})
const database = storage.environments.sandbox

const ENTRIES = 5_000
const WAITING = 200
const SEALED = ENTRIES - WAITING
/** The id of entry `n`, without its prefix. */
const ID = "lpad(n::text, 26, '0')"
const OF_ACME = { org_id: "'org_acme'", flush: 'n' }
const LIST = { ...OF_ACME, entry_ids: ID, leaf_hashes: "sha256('')", mac: "'\\x00'" }

await fillTable(database, 'audit_entries', {
  range: [1, ENTRIES],
  columns: { ...OF_ACME, id: `'aud_' || ${ID}`, trail_id: `'ent_' || n`, seq: '1', data: "'{}'" },
})
await fillTable(database, 'audit_flushes', { range: [1, SEALED], columns: { ...LIST, first_leaf: 'n - 1' } })
await fillTable(database, 'audit_pending', { range: [SEALED + 1, ENTRIES], columns: LIST })

test('what waits for the sealer is read with a few rows for each list, not with a scan of the log for each', async () => {
  const scans: Scan[] = []
  const explained = auditSealingQueries({
    ...database,
    async query(sql, params = []) {
      scans.push(...(await rowsTouched(database, sql, params)))
      return []
    },
  })
  await explained.pending([{ org_id: 'org_acme', flush: 0 }], WAITING)
  const rows = scans.reduce((sum, each) => sum + each.rows, 0)
  assert.ok(rows >= 2 * WAITING && rows <= 4 * WAITING, `${rows} rows: ${JSON.stringify(scans)}`)
  const waiting = await auditSealingQueries(database).pending([{ org_id: 'org_acme', flush: 0 }], WAITING)
  assert.deepEqual(
    [waiting.length, waiting.every(({ is_named, was_sealed }) => is_named && !was_sealed)],
    [WAITING, true],
  )
})
