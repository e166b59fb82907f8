import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { KnownHeads } from './known-heads.ts'

const folder = mkdtempSync(join(tmpdir(), 'verdigraph-heads-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let folders = 0
const newFolder = () => join(folder, `${folders++}`)
const open = (dataDir: string) => new KnownHeads({ dataDir, environment: 'sandbox' })
const head = (organization_id: string, tree_size: number) => ({
  organization_id,
  tree_size,
  root_hash: 'a'.repeat(64),
  signed_at: '2026-03-01T09:30:01.000Z',
  key_id: 'key',
  signature: 'b'.repeat(128),
})

test('a restarted node knows the newest head of each log, and a smaller one does not replace it', async () => {
  const dataDir = newFolder()
  const heads = open(dataDir)
  assert.equal(heads.newest('org_1'), undefined)
  heads.add([head('org_1', 5), head('org_2', 7)])
  await heads.flush()
  heads.add([head('org_1', 9), head('org_1', 3)])
  await heads.flush()
  assert.deepEqual(open(dataDir).newest('org_1'), head('org_1', 9))
  assert.deepEqual(open(dataDir).organizationIds(), ['org_1', 'org_2'])
})

test('a line that a crash cut off is ignored, and does not damage the next', async () => {
  const dataDir = newFolder()
  const heads = open(dataDir)
  heads.add([head('org_1', 5)])
  await heads.flush()
  appendFileSync(heads.file, '\n{"organization_id":"org_1","tree_si')
  heads.add([head('org_1', 6)])
  await heads.flush()
  assert.equal(open(dataDir).newest('org_1')?.tree_size, 6)
})

test('an accepted restore lets a smaller head count, for a process that reads the file again too', async () => {
  const dataDir = newFolder()
  const [service, cli] = [open(dataDir), open(dataDir)]
  service.add([head('org_1', 50)])
  await service.flush()
  await cli.accept(head('org_1', 20))
  assert.equal(service.newest('org_1')?.tree_size, 50)
  service.reload()
  assert.equal(service.newest('org_1')?.tree_size, 20)
  service.add([head('org_1', 21)])
  await service.flush()
  assert.equal(open(dataDir).newest('org_1')?.tree_size, 21)
})

test('what another process appends is read without the rest of the file, a line that is being written once it is whole', async () => {
  const [service, cli] = [open(newFolder()), open(join(folder, String(folders - 1)))]
  service.add([head('org_1', 50), head('org_2', 7)])
  await service.flush()
  service.readAppended()
  await cli.accept(head('org_1', 20))
  // The same length: only a process that reads from the beginning sees it.
  const altered = readFileSync(service.file, 'utf8').replace('"tree_size":7', '"tree_size":9')
  writeFileSync(service.file, altered)
  service.readAppended()
  assert.deepEqual([service.newest('org_1')?.tree_size, service.newest('org_2')?.tree_size], [20, 7])
  const line = JSON.stringify(head('org_3', 3))
  for (const [part, size] of [
    [`\n${line.slice(0, 40)}`, undefined],
    [line.slice(40), 3],
    [`\n{"cut off`, 3],
    [`\n${JSON.stringify(head('org_3', 4))}`, 4],
  ] as const) {
    appendFileSync(service.file, part)
    service.readAppended()
    assert.equal(service.newest('org_3')?.tree_size, size)
  }
  assert.equal(service.newest('org_2')?.tree_size, 7)
  service.reload()
  assert.equal(service.newest('org_2')?.tree_size, 9)
})

test('a file that another process replaced, cut or removed is read anew', async () => {
  const dataDir = newFolder()
  const heads = open(dataDir)
  heads.add([head('org_1', 50)])
  await heads.flush()
  heads.readAppended()
  writeFileSync(
    `${heads.file}.new`,
    `${JSON.stringify(head('org_1', 20))}\n${JSON.stringify(head('org_2', 1_000_000))}\n`,
  )
  renameSync(`${heads.file}.new`, heads.file)
  heads.readAppended()
  assert.deepEqual([heads.newest('org_1')?.tree_size, heads.newest('org_2')?.tree_size], [20, 1_000_000])
  writeFileSync(heads.file, JSON.stringify(head('org_1', 10)))
  heads.readAppended()
  assert.deepEqual([heads.newest('org_1')?.tree_size, heads.newest('org_2')], [10, undefined])
  rmSync(heads.file)
  heads.readAppended()
  assert.equal(heads.newest('org_1'), undefined)
})

test('the file stays small however many heads are signed', async () => {
  const heads = open(newFolder())
  for (let n = 1; n <= 1_200; n++) {
    heads.add([head('org_1', n)])
    await heads.flush()
  }
  assert.ok(readFileSync(heads.file, 'utf8').split('\n').length < 1_002)
  assert.equal(open(join(heads.file, '..')).newest('org_1')?.tree_size, 1_200)
})

test('a file that cannot be read is an error each time, and not a file without heads', async () => {
  const dataDir = newFolder()
  const heads = open(dataDir)
  mkdirSync(heads.file, { recursive: true })
  for (let n = 0; n < 2; n++) assert.throws(() => heads.newest('org_1'), /EISDIR/)
})

test('heads that cannot be written are written by a later flush', async () => {
  const dataDir = newFolder()
  const heads = open(dataDir)
  assert.equal(heads.newest('org_1'), undefined)
  mkdirSync(heads.file, { recursive: true })
  heads.add([head('org_1', 5)])
  await assert.rejects(heads.flush(), /EISDIR/)
  rmSync(heads.file, { recursive: true })
  await heads.flush()
  assert.equal(open(dataDir).newest('org_1')?.tree_size, 5)
})
