import assert from 'node:assert/strict'
import fs, { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { dataDir as pack } from '@electric-sql/pglite-prepopulatedfs'
import { PgliteFileSystem, startParamsOf } from './pglite-file-system.ts'

/** A new database, whose calls of fdatasync are counted. */
async function openCounting(t: TestContext, { syncs }: { syncs: boolean }) {
  const { fdatasyncSync } = fs
  const disk = { synced: 0 }
  fs.fdatasyncSync = (fd) => {
    disk.synced++
    fdatasyncSync(fd)
  }
  syncBuiltinESMExports()
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-test-'))
  t.after(() => {
    fs.fdatasyncSync = fdatasyncSync
    syncBuiltinESMExports()
    rmSync(folder, { recursive: true })
  })
  const database = await PGlite.create({
    fs: new PgliteFileSystem({ folder, syncs, onPanic() {} }),
    startParams: startParamsOf({ syncs }),
    loadDataDir: await pack(),
  })
  await database.exec('CREATE TABLE t (a integer)')
  disk.synced = 0
  return { database, disk }
}

test('a commit is synced before it is answered, and a read is not', async (t) => {
  const { database, disk } = await openCounting(t, { syncs: true })
  for (const commit of [1, 2, 3]) {
    await database.exec(`INSERT INTO t VALUES (${commit})`)
    assert.equal(disk.synced, commit)
    await database.exec('SELECT * FROM t')
    assert.equal(disk.synced, commit)
  }
  await database.exec('CHECKPOINT')
  assert.ok(disk.synced > 4, 'a checkpoint syncs the changed files and the control file')
  await database.close()
})

test('without syncs, nothing is synced', async (t) => {
  const { database, disk } = await openCounting(t, { syncs: false })
  await database.exec('INSERT INTO t VALUES (1); CHECKPOINT')
  await database.close()
  assert.equal(disk.synced, 0)
})
