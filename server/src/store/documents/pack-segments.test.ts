/** Packing of small segments, on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestStorage } from '../../../tests/test-storage.ts'
import { readConfig } from '../../config.ts'
import { openStorage } from '../storage.ts'
import { readDocuments } from './documents.ts'
import { fullGroups, packSmallSegments } from './pack-segments.ts'
import { type DocumentsOfDecision, packSegment, SEGMENT_CHARACTERS_MAX } from './segment.ts'

const testStorage = await createTestStorage()
const storage = await openStorage(readConfig(testStorage.env))
await storage.migrate()
const database = storage.environments.sandbox
after(async () => {
  await storage.close()
  await testStorage.remove()
})

const documentsOf = (id: string): DocumentsOfDecision => ({
  decision_id: id,
  body: `{"id":"${id}"}`,
  facts: '{"features":{}}',
  trace: `{"of":"${id}"}`,
  graph: '{}',
})

/** Writes the segment of one statement with so many decisions, and returns these. */
async function flush(org_id: string, number: number, decisions = 1) {
  const ids = Array.from({ length: decisions }, (_, place) => `dec_${String(number).padStart(4, '0')}_${place}`)
  const content = await packSegment(ids.map(documentsOf))
  await database.query(
    `INSERT INTO document_segments (org_id, is_packed, flush, part, first_flush, decision_ids, content)
     VALUES ($1, false, $2, 0, $2, $3::text[], $4::bytea)`,
    [org_id, number, ids, content],
  )
  return ids.map((id) => ({ org_id, id, flush: number }))
}

async function segmentsOf(org_id: string) {
  return database.query<{ is_packed: boolean; first_flush: number; flush: number; decisions: number }>(
    `SELECT is_packed, first_flush, flush, cardinality(decision_ids) AS decisions FROM document_segments
     WHERE org_id = $1 ORDER BY is_packed DESC, flush`,
    [org_id],
  )
}

async function pack(madeBefore = 'dec_9999'): Promise<void> {
  while (await packSmallSegments(database, madeBefore));
}

async function assertReadable(decisions: readonly { org_id: string; id: string; flush: number }[]): Promise<void> {
  const read = await readDocuments(database, decisions)
  assert.deepEqual(
    read,
    decisions.map(({ id }) => {
      const { decision_id: _, ...documents } = documentsOf(id)
      return documents
    }),
  )
}

test('small segments of an organization are packed together, and every document is read as before', async () => {
  const decisions = []
  for (let number = 1; number <= 72; number++) decisions.push(...(await flush('org_one', number)))
  decisions.push(...(await flush('org_one', 73, 12)))
  await flush('org_other', 7)
  await pack()
  assert.deepEqual(await segmentsOf('org_one'), [
    { is_packed: true, first_flush: 1, flush: 32, decisions: 32 },
    { is_packed: true, first_flush: 33, flush: 64, decisions: 32 },
    ...Array.from({ length: 8 }, (_, index) => ({
      is_packed: false,
      first_flush: 65 + index,
      flush: 65 + index,
      decisions: 1,
    })),
    { is_packed: false, first_flush: 73, flush: 73, decisions: 12 },
  ])
  assert.equal((await segmentsOf('org_other')).length, 1)
  await assertReadable(decisions)
})

test('a statement that is committed after others with higher numbers were packed is read, and never packed', async () => {
  const early = []
  for (let number = 1; number <= 33; number++) if (number !== 5) early.push(...(await flush('org_late', number)))
  await pack()
  const late = await flush('org_late', 5)
  for (let number = 34; number <= 72; number++) early.push(...(await flush('org_late', number)))
  await pack()
  const ranges = (await segmentsOf('org_late')).filter(({ is_packed }) => is_packed)
  assert.deepEqual(
    ranges.map(({ first_flush, flush: last }) => [first_flush, last]),
    [
      [1, 33],
      [34, 65],
    ],
  )
  await assertReadable([...early, ...late])
})

test('statements of the last minute wait, and what does not fill a segment', async () => {
  for (let number = 1; number <= 40; number++) await flush('org_young', number)
  await pack('dec_0020')
  assert.ok((await segmentsOf('org_young')).every(({ is_packed }) => !is_packed))
})

test('a segment that cannot be unpacked stays as it is, and the others are packed around it', async () => {
  const decisions = []
  for (let number = 1; number <= 33; number++) decisions.push(...(await flush('org_altered', number)))
  await database.query("UPDATE document_segments SET content = '\\x00' WHERE org_id = 'org_altered' AND flush = 3")
  await pack()
  const [packed, altered] = await segmentsOf('org_altered')
  assert.deepEqual([packed!.decisions, packed!.is_packed, altered!.flush], [32, true, 3])
  await assertReadable(decisions.filter(({ flush: number }) => number !== 3))
  const unread = await readDocuments(database, [decisions[2]!])
  assert.deepEqual(unread, [{ body: '', facts: '', trace: '', graph: '' }])
})

test('a segment with more documents than its row names stays as it is, and the others are packed around it', async () => {
  const decisions = []
  for (let number = 1; number <= 33; number++) decisions.push(...(await flush('org_added', number)))
  const added = Array.from({ length: 40 }, (_, index) => ({ ...documentsOf(`dec_added_${index}`) }))
  await database.query("UPDATE document_segments SET content = $1::bytea WHERE org_id = 'org_added' AND flush = 1", [
    await packSegment(added),
  ])
  await pack()
  const [packed, altered] = await segmentsOf('org_added')
  assert.deepEqual([packed!.decisions, packed!.is_packed, altered!.flush], [32, true, 1])
})

test('two nodes that pack at once write each document once', async () => {
  const decisions = []
  for (let number = 1; number <= 128; number++) decisions.push(...(await flush('org_two', number)))
  await Promise.all([pack(), pack()])
  const segments = await segmentsOf('org_two')
  assert.equal(
    segments.reduce((sum, segment) => sum + segment.decisions, 0),
    128,
  )
  await assertReadable(decisions)
})

test('groups are filled in order, and never beyond the size of a segment', () => {
  const ofSize = (size: number) => ({ documents: Array(size).fill(documentsOf('dec_1')) })
  const grouped = (...sizes: number[]) =>
    fullGroups(sizes.map(ofSize)).map((group) => group.map(({ documents }) => documents.length))
  assert.deepEqual(grouped(8, 8, 8, 8, 1), [[8, 8, 8, 8]])
  assert.deepEqual(grouped(8, 8, 8, 5, 8, 8, 8, 8), [
    [8, 8, 8, 5],
    [8, 8, 8, 8],
  ])
  assert.deepEqual(grouped(1, 2, 3), [])
})

test('no group has documents that are too long for one segment', () => {
  const half = { ...documentsOf('dec_1'), trace: 'x'.repeat(SEGMENT_CHARACTERS_MAX / 2) }
  const segments = [half, documentsOf('dec_2'), half, half].map((each) => ({ documents: [each] }))
  assert.deepEqual(
    fullGroups(segments).map(({ length }) => length),
    [2, 1],
  )
})
