import type { Database, Row } from '../database/database.ts'
import { type DocumentedDecision, SEGMENT_OF_WANTED } from './documents.ts'
import { packSegment, unpackSegment } from './segment.ts'

interface FoundSegment {
  is_packed: boolean
  flush: number
  part: number
  content: Uint8Array
}

/**
 * Takes the documents of a decision out of its segment for good, as an erasure does; those of the other decisions stay. False
 * if no segment has them. Throws if the segment cannot be unpacked.
 */
export async function takeOutDocuments(database: Database, decision: DocumentedDecision): Promise<boolean> {
  for (;;) {
    const segment = await findSegment(database, decision)
    if (!segment) return false
    if (await replaceContent(database, decision, segment)) return true
    // Upkeep has packed the segment meanwhile.
  }
}

async function findSegment(database: Database, { org_id, id, flush }: DocumentedDecision) {
  const [segment] = await database.query<FoundSegment & Row>(
    `SELECT segment.is_packed, segment.flush, segment.part, segment.content
     FROM (SELECT $1::text AS org_id, $2::text AS id, $3::bigint AS flush) AS wanted
     CROSS JOIN LATERAL ${SEGMENT_OF_WANTED} AS found
     JOIN document_segments AS segment ON segment.org_id = found.org_id AND segment.is_packed = found.is_packed
       AND segment.flush = found.flush AND segment.part = found.part`,
    [org_id, id, flush],
  )
  return segment
}

/** False if the segment has changed since it was read. */
async function replaceContent(
  database: Database,
  { org_id, id }: DocumentedDecision,
  { is_packed, flush, part, content }: FoundSegment,
): Promise<boolean> {
  const others = unpackSegment(content).filter(({ decision_id }) => decision_id !== id)
  const replaced = await database.query(
    `UPDATE document_segments SET content = $6::bytea, decision_ids = array_remove(decision_ids, $7)
     WHERE org_id = $1 AND is_packed = $2 AND flush = $3 AND part = $4 AND content = $5::bytea RETURNING 1`,
    [org_id, is_packed, flush, part, content, await packSegment(others, 'later'), id],
  )
  return replaced.length > 0
}
