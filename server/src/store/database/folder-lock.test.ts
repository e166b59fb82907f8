import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FolderHeld, FolderNotLockable, lockFolder } from './folder-lock.ts'

/** Locks the folder, prints the result, and holds the lock until it is killed. */
const PROGRAM = `
  import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, 'folder-lock.ts'))}
  setInterval(() => {}, 1_000)
  await lockFolder(process.argv[1]).then(() => console.log('held'), (error) => console.log(error.message))
  globalThis.gc()
`

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-lock-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function lockElsewhere(folder: string) {
  const args = ['--expose-gc', '--input-type=module-typescript', '--eval', PROGRAM, folder]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}

test('a folder is locked until its holder unlocks it, and unlocking again leaves the next holder alone', async (t) => {
  const folder = newFolder(t)
  const unlock = await lockFolder(folder)
  await assert.rejects(lockFolder(folder), new RegExp(`is in use by process ${process.pid} on ${hostname()}$`))
  unlock()
  assert.deepEqual(readdirSync(folder), ['lock'], 'no other file is left behind')
  const unlockNext = await lockFolder(folder)
  unlock()
  await assert.rejects(lockFolder(folder), FolderHeld)
  unlockNext()
})

test('the lock of another process holds while that process lives, and is free once it is killed', async (t) => {
  const folder = newFolder(t)
  const child = lockElsewhere(folder)
  t.after(() => child.kill('SIGKILL'))
  assert.equal(String((await once(child.stdout, 'data'))[0]), 'held\n')
  await assert.rejects(lockFolder(folder), new RegExp(`process ${child.pid} on ${hostname()}`))
  assert.equal(statSync(join(folder, 'lock')).mode & 0o777, 0o600)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.ok(existsSync(join(folder, 'holder.json')), 'a killed process leaves its description')
  const unlock = await lockFolder(folder)
  unlock()
})

test('a folder whose holder beats on another machine is refused, though this kernel knows of no lock', async (t) => {
  const folder = newFolder(t)
  const description = join(folder, 'holder.json')
  writeFileSync(description, JSON.stringify({ pid: 17, host: 'other-machine', boot: 'another-boot' }))
  const beat = setInterval(() => utimesSync(description, new Date(), new Date()), 100)
  await assert.rejects(lockFolder(folder), /is in use by process 17 on other-machine$/)
  clearInterval(beat)
})

test('a lock file that cannot be locked refuses the folder, because its holder is unknown', async (t) => {
  const folder = newFolder(t)
  writeFileSync(join(folder, 'lock'), 'not a lock file of this release'.repeat(40))
  await assert.rejects(lockFolder(folder), FolderNotLockable)
  assert.deepEqual(readdirSync(folder), ['lock'])
})
