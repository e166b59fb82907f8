import { type Database, DatabaseError, type Row } from '../database/database.ts'
import { Params, unnestAs } from '../schema/tables.ts'
import {
  charactersIn,
  DOCUMENTS,
  type Documents,
  type DocumentsOfDecision,
  packSegment,
  SEGMENT_CHARACTERS_MAX,
  SEGMENT_DECISIONS_MAX,
  unpackSegment,
} from './segment.ts'

/** The most small segments of an organization that are read at once. */
const SEGMENTS_PER_READ = 64
const ORGANIZATIONS_PER_ROUND = 20

/** SQL: the index `document_segments_small` has these segments. */
const IS_SMALL = 'NOT segment.is_packed AND cardinality(segment.decision_ids) <= 8'

/**
 * SQL: statements that are numbered above the last packed segment. One that was committed later than others with higher
 * numbers stays as it is, so that packed segments never overlap.
 */
const IS_AFTER_PACKED = `segment.flush > coalesce((SELECT max(packed.flush) FROM document_segments AS packed
  WHERE packed.org_id = segment.org_id AND packed.is_packed), 0)`

interface SmallSegment {
  org_id: string
  flush: number
  part: number
  ids: string[]
  content: Uint8Array
}

interface ReadSegment extends SmallSegment {
  documents: DocumentsOfDecision[]
}

/**
 * Packs small segments together, those of each organization; returns whether there may be more to do. A node that writes few
 * decisions at a time writes segments of one or two, which take eight times as much room.
 */
export async function packSmallSegments(database: Database, madeBefore: string): Promise<boolean> {
  const organizations = await database.query<{ org_id: string }>(
    `SELECT segment.org_id FROM document_segments AS segment
     WHERE ${IS_SMALL} AND segment.decision_ids[1] < $1 AND ${IS_AFTER_PACKED}
     GROUP BY segment.org_id HAVING sum(cardinality(segment.decision_ids)) >= $2 LIMIT $3`,
    [madeBefore, SEGMENT_DECISIONS_MAX, ORGANIZATIONS_PER_ROUND],
  )
  let hasPacked = false
  for (const { org_id } of organizations) {
    const small = await database.query<SmallSegment & Row>(
      `SELECT segment.org_id, segment.flush, segment.part, array_to_json(segment.decision_ids) AS ids, segment.content FROM document_segments AS segment
       WHERE segment.org_id = $1 AND ${IS_SMALL} AND segment.decision_ids[1] < $2 AND ${IS_AFTER_PACKED}
       ORDER BY segment.flush, segment.part LIMIT ${SEGMENTS_PER_READ}`,
      [org_id, madeBefore],
    )
    for (const group of fullGroups(small.flatMap(readSegment)))
      if (await replaceByPacked(database, group)) hasPacked = true
      else break
  }
  return hasPacked
}

/** A segment that was altered so that it cannot be unpacked, or has other decisions than its row names, stays as it is. */
function readSegment(segment: SmallSegment): ReadSegment[] {
  try {
    const documents = unpackSegment(segment.content)
    const isAsNamed = documents.map(({ decision_id }) => decision_id).join() === segment.ids.join()
    return isAsNamed ? [{ ...segment, documents }] : []
  } catch {
    return []
  }
}

/** Groups segments, in their order, into as many as one packed segment holds; those that do not fill one are left. */
export function fullGroups<T extends { documents: readonly Documents[] }>(segments: readonly T[]): T[][] {
  const groups: T[][] = []
  let group: T[] = []
  let [size, characters] = [0, 0]
  for (const segment of segments) {
    const own = charactersIn(segment.documents)
    const isFull = size + segment.documents.length > SEGMENT_DECISIONS_MAX || characters + own > SEGMENT_CHARACTERS_MAX
    if (isFull && size > 0) {
      groups.push(group)
      group = []
      size = characters = 0
    }
    group.push(segment)
    size += segment.documents.length
    characters += own
  }
  return size === SEGMENT_DECISIONS_MAX ? [...groups, group] : groups
}

/** Writes a packed segment in place of small ones; false if one of these has changed since it was read. */
async function replaceByPacked(database: Database, small: readonly ReadSegment[]): Promise<boolean> {
  const documents = small.flatMap((segment) => segment.documents)
  const content = await packSegment(documents, 'later')
  if (!areEqual(unpackSegment(content), documents)) throw new Error('a packed segment does not hold what was packed')
  const [first, last] = [small[0]!, small.at(-1)!]
  const params = new Params()
  const columns = { org_id: 'text', flush: 'bigint', part: 'integer', content: 'bytea' }
  const removed = `DELETE FROM document_segments AS segment USING ${unnestAs('old', small, columns, params)}
    WHERE segment.org_id = old.org_id AND NOT segment.is_packed AND segment.flush = old.flush AND segment.part = old.part
      AND segment.content = old.content RETURNING 1`
  const values = [
    params.add(first.org_id, 'text'),
    'true',
    params.add(last.flush, 'bigint'),
    '0',
    params.add(first.flush, 'bigint'),
    params.add(
      documents.map(({ decision_id }) => decision_id),
      'text[]',
    ),
    params.add(content, 'bytea'),
  ]
  const sql = `WITH removed AS (${removed}), packed AS (
      INSERT INTO document_segments (org_id, is_packed, flush, part, first_flush, decision_ids, content)
      VALUES (${values.join(', ')}))
    SELECT require_rows((SELECT count(*) FROM removed), ${params.add(small.length, 'bigint')}, 'document_segments')`
  try {
    await database.query(sql, params.values)
    return true
  } catch (error) {
    if (error instanceof DatabaseError && (error.code === 'VG001' || error.isUniqueViolation)) return false
    throw error
  }
}

function areEqual(some: readonly DocumentsOfDecision[], others: readonly DocumentsOfDecision[]): boolean {
  return (
    some.length === others.length &&
    some.every((one, index) => {
      const other = others[index]!
      return one.decision_id === other.decision_id && DOCUMENTS.every((name) => one[name] === other[name])
    })
  )
}
