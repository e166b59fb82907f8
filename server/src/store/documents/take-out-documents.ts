import type { Database, Row } from '../database/database.ts'
import { type DocumentedDecision, SEGMENT_OF_WANTED } from './documents.ts'
import { type Documents, packSegment, unpackSegment } from './segment.ts'

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
export function takeOutDocuments(database: Database, decision: DocumentedDecision): Promise<boolean> {
  return changeDocuments(database, decision, null)
}

/** Writes other documents of a decision in place of the stored ones; otherwise like `takeOutDocuments`. */
export function replaceDocuments(
  database: Database,
  decision: DocumentedDecision,
  documents: Documents,
): Promise<boolean> {
  return changeDocuments(database, decision, documents)
}

async function changeDocuments(
  database: Database,
  decision: DocumentedDecision,
  documents: Documents | null,
): Promise<boolean> {
  for (;;) {
    const segment = await findSegment(database, decision)
    if (!segment) return false
    if (await replaceContent(database, decision, { segment, documents })) return true
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
  { segment, documents }: { segment: FoundSegment; documents: Documents | null },
): Promise<boolean> {
  const { is_packed, flush, part, content } = segment
  const left = unpackSegment(content).flatMap((stored) => {
    if (stored.decision_id !== id) return [stored]
    return documents ? [{ decision_id: id, ...documents }] : []
  })
  const key = [org_id, is_packed, flush, part, content]
  const found = 'WHERE org_id = $1 AND is_packed = $2 AND flush = $3 AND part = $4 AND content = $5::bytea RETURNING 1'
  if (left.length === 0) return (await database.query(`DELETE FROM document_segments ${found}`, key)).length > 0
  const replaced = await database.query(
    `UPDATE document_segments SET content = $6::bytea, decision_ids = string_to_array($7, ' ') ${found}`,
    [...key, await packSegment(left, 'later'), left.map(({ decision_id }) => decision_id).join(' ')],
  )
  return replaced.length > 0
}
