import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { generateMasterKey } from '../security/master-key-file.ts'
import { KnownErasures } from './known-erasures.ts'

const folder = mkdtempSync(join(tmpdir(), 'verdigraph-erasures-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const ERASURE = {
  organization_id: 'org_1',
  entity_id: 'ent_1',
  entry_id: 'aud_1',
  proposed_by: 'opr_1',
  approved_at: '2026-03-01T00:00:00.000Z',
}
let folders = 0
const knownIn = (masterKey = generateMasterKey(), dataDir = join(folder, String(folders++))) => {
  const known = new KnownErasures({ dataDir, environment: 'sandbox', masterKey })
  return { known, dataDir, masterKey }
}

test('an erasure is written once, and read by the next process', () => {
  const { known, dataDir, masterKey } = knownIn()
  known.make()
  known.add([ERASURE])
  known.add([ERASURE, { ...ERASURE, entity_id: 'ent_2' }])
  const { known: later } = knownIn(masterKey, dataDir)
  assert.deepEqual(
    later.all().map(({ entity_id }) => entity_id),
    ['ent_1', 'ent_2'],
  )
  later.requireOwn(later.all())
})

test('without its file nothing is added: it would look as if no other erasure had been in it', () => {
  const { known } = knownIn()
  assert.throws(() => known.add([ERASURE]), { name: 'MissingErasures' })
  known.add([])
  assert.equal(known.exists(), false)
})

test('what was signed before a rotation of the master key still counts, and what another key signed does not', () => {
  const { known, dataDir, masterKey } = knownIn()
  known.make()
  known.add([ERASURE])
  const next = generateMasterKey().succeeding(masterKey)
  const { known: rotated } = knownIn(next, dataDir)
  rotated.requireOwn(rotated.all())
  const { known: foreign } = knownIn(generateMasterKey(), dataDir)
  assert.throws(() => foreign.requireOwn(foreign.all()), { name: 'ForeignErasure' })
  const { known: production } = knownIn(masterKey, dataDir)
  assert.throws(
    () =>
      new KnownErasures({ dataDir, environment: 'production', masterKey }).supply(
        readFileSync(production.file, 'utf8'),
        'x.jsonl',
      ),
    { name: 'ForeignErasure', message: /^x\.jsonl says that ent_1 of production/ },
  )
})

test('a line that names another entity than was signed is refused, and one that a crash cut off is ignored', () => {
  const { known, dataDir, masterKey } = knownIn()
  known.make()
  known.add([ERASURE])
  appendFileSync(known.file, '\n{"organization_id":"org_1","entity_id":"ent_9"')
  known.reload()
  known.add([{ ...ERASURE, entity_id: 'ent_2' }])
  const { known: later } = knownIn(masterKey, dataDir)
  assert.deepEqual(
    later.all().map(({ entity_id }) => entity_id),
    ['ent_1', 'ent_2'],
  )
  writeFileSync(known.file, readFileSync(known.file, 'utf8').replace('ent_2', 'ent_3'))
  later.reload()
  assert.throws(() => later.requireOwn(later.all()), { name: 'ForeignErasure' })
})

test('a file that names no erasure does not stand in for one that was lost', () => {
  const { known } = knownIn()
  assert.throws(() => known.supply('\n', 'empty.jsonl'), { name: 'MissingErasures', message: /^empty\.jsonl names no/ })
  assert.equal(known.exists(), false)
  known.make()
  assert.equal(known.supply('\n', 'empty.jsonl'), 0)
})
