import assert from 'node:assert/strict'
import fs, { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { dataDir as pack } from '@electric-sql/pglite-prepopulatedfs'
import { PgliteFileSystem, startParamsOf } from './pglite-file-system.ts'

/** A new database, whose syncs of files and of folders are counted. */
async function openCounting(t: TestContext, { syncs }: { syncs: boolean }) {
  const { fdatasyncSync, fsyncSync } = fs
  const disk = { synced: 0, foldersSynced: 0 }
  fs.fdatasyncSync = (fd) => {
    disk.synced++
    fdatasyncSync(fd)
  }
  fs.fsyncSync = (fd) => {
    if (fs.fstatSync(fd).isDirectory()) disk.foldersSynced++
    fsyncSync(fd)
  }
  syncBuiltinESMExports()
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-test-'))
  const database = await PGlite.create({
    fs: new PgliteFileSystem({ folder, syncs, onPanic() {} }),
    startParams: startParamsOf({ syncs }),
    loadDataDir: await pack(),
  })
  t.after(async () => {
    await database.close()
    Object.assign(fs, { fdatasyncSync, fsyncSync })
    syncBuiltinESMExports()
    rmSync(folder, { recursive: true })
  })
  await database.exec('CREATE TABLE t (a integer)')
  Object.assign(disk, { synced: 0, foldersSynced: 0 })
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
})

test('the name of a new segment of the log is synced with its folder, before a commit in it is answered', async (t) => {
  const { database, disk } = await openCounting(t, { syncs: true })
  await database.exec('SELECT pg_switch_wal()')
  await database.exec('INSERT INTO t VALUES (1)')
  assert.ok(disk.foldersSynced > 0)
})

test('without syncs, nothing is synced', async (t) => {
  const { database, disk } = await openCounting(t, { syncs: false })
  await database.exec('INSERT INTO t VALUES (1); CHECKPOINT')
  assert.deepEqual(disk, { synced: 0, foldersSynced: 0 })
})
