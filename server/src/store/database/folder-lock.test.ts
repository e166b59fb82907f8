import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FolderHeld, lockFolder } from './folder-lock.ts'

/** Prints `ready`, tries to lock the folder on its first input, prints the result, and holds the lock until its input ends. */
const PROGRAM = `
  import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, 'folder-lock.ts'))}
  process.stdin.once('data', () => {
    try { lockFolder(process.argv[1]); console.log('held') } catch (error) { console.log(error.name) }
  })
  console.log('ready')
`

/** Starts processes that all try to lock a folder at the same moment, and returns what each printed. */
async function race(folder: string, contenders: number): Promise<string[]> {
  const children = Array.from({ length: contenders }, () =>
    spawn(process.execPath, ['--input-type=module-typescript', '--eval', PROGRAM, folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  )
  const nextLines = () =>
    Promise.all(children.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()))
  assert.deepEqual(new Set(await nextLines()), new Set(['ready']))
  const results = nextLines()
  for (const { stdin } of children) stdin.write('go')
  await results
  for (const { stdin } of children) stdin.end()
  return results
}

test('when several processes find the lock of a dead process at once, exactly one locks the folder', async () => {
  for (const dead of [JSON.stringify({ pid: 2 ** 22 + 1, started: '1', node: 'node_dead' }), '']) {
    const folder = mkdtempSync(join(tmpdir(), 'verdigraph-lock-'))
    writeFileSync(join(folder, 'lock'), dead)
    const results = await race(folder, 6)
    assert.deepEqual(results.sort(), ['FolderHeld', 'FolderHeld', 'FolderHeld', 'FolderHeld', 'FolderHeld', 'held'])
    assert.deepEqual(readdirSync(folder), ['lock'], 'no other file is left behind')
    rmSync(folder, { recursive: true })
  }
})

test('unlocking frees the folder, and unlocking again leaves the lock of the next holder alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-lock-'))
  const unlock = lockFolder(folder)
  assert.throws(() => lockFolder(folder), FolderHeld)
  unlock()
  assert.equal(existsSync(join(folder, 'lock')), false)
  writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: process.pid, started: null, node: 'node_other' }))
  unlock()
  assert.equal(existsSync(join(folder, 'lock')), true)
  rmSync(folder, { recursive: true })
})
