import { objectIn } from '../../core/stored-json.ts'
import type { Database, Row } from '../database/database.ts'
import { type Documents, type DocumentsOfDecision, unpackSegment } from './segment.ts'

/** Names a decision whose documents are wanted: its id, and the statement that wrote it. */
export interface DocumentedDecision {
  org_id: string
  id: string
  flush: number
}

/** The documents of a decision; null where they were deleted, empty where they were altered so that they cannot be unpacked. */
export type StoredDocuments = { [Name in keyof Documents]: string | null }

const MISSING: StoredDocuments = { body: null, facts: null, trace: null, graph: null }
const UNREADABLE: Documents = { body: '', facts: '', trace: '', graph: '' }

/** The most decisions whose segments one statement reads: their contents are in memory at once. */
const DECISIONS_PER_READ = 100

/** The documents of these decisions, in their order. */
export async function readDocuments(
  database: Database,
  decisions: readonly DocumentedDecision[],
): Promise<StoredDocuments[]> {
  const found = new Map<string, Documents>()
  for (let start = 0; start < decisions.length; start += DECISIONS_PER_READ) {
    const segments = await readSegments(database, decisions.slice(start, start + DECISIONS_PER_READ))
    for (const { org_id, decision_id, ...documents } of segments) found.set(`${org_id} ${decision_id}`, documents)
  }
  return decisions.map(({ org_id, id }) => found.get(`${org_id} ${id}`) ?? MISSING)
}

/** Adds its documents to each of these decisions. */
export async function withDocuments<R extends DocumentedDecision>(
  database: Database,
  decisions: readonly R[],
): Promise<(R & StoredDocuments)[]> {
  const documents = await readDocuments(database, decisions)
  return decisions.map((decision, index) => ({ ...decision, ...documents[index]! }))
}

/**
 * SQL: the key of the segment that holds the documents of the decision `wanted`: a segment of its own statement, or the
 * packed segment whose range has that statement.
 */
export const SEGMENT_OF_WANTED = `(
    (SELECT org_id, is_packed, flush, part FROM document_segments AS own WHERE own.org_id = wanted.org_id
      AND NOT own.is_packed AND own.flush = wanted.flush AND wanted.id = ANY(own.decision_ids) LIMIT 1)
    UNION ALL
    (SELECT org_id, is_packed, flush, part FROM (SELECT * FROM document_segments AS each WHERE each.org_id = wanted.org_id
      AND each.is_packed AND each.flush >= wanted.flush ORDER BY each.flush LIMIT 1) AS packed
      WHERE wanted.id = ANY(packed.decision_ids)))`

/** Reads the documents of decisions, each segment once. */
async function readSegments(
  database: Database,
  decisions: readonly DocumentedDecision[],
): Promise<(DocumentsOfDecision & { org_id: string })[]> {
  const segments = await database.query<Segment & Row>(
    `WITH found AS MATERIALIZED (
       SELECT segment.org_id, segment.is_packed, segment.flush, segment.part, array_agg(wanted.id) AS ids
       FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wanted (org_id, id, flush)
       CROSS JOIN LATERAL ${SEGMENT_OF_WANTED} AS segment
       GROUP BY segment.org_id, segment.is_packed, segment.flush, segment.part
     )
     SELECT found.org_id, array_to_json(found.ids) AS wanted, segment.content FROM found
     CROSS JOIN LATERAL (SELECT content FROM document_segments AS each
       WHERE each.org_id = found.org_id AND each.is_packed = found.is_packed AND each.flush = found.flush
         AND each.part = found.part LIMIT 1) AS segment`,
    [decisions.map(({ org_id }) => org_id), decisions.map(({ id }) => id), decisions.map(({ flush }) => flush)],
    { keepPlan: true },
  )
  return segments.flatMap((segment) =>
    documentsIn(segment).map((documents) => ({ ...documents, org_id: segment.org_id })),
  )
}

interface Segment {
  org_id: string
  /** The decisions that the segment was looked up for. */
  wanted: string[]
  content: Uint8Array
}

/** INVARIANT: only documents of decisions that the segment was looked up for. With SQL, any other could be put into it. */
function documentsIn({ wanted, content }: Segment): DocumentsOfDecision[] {
  try {
    return unpackSegment(content, wanted)
  } catch {
    return wanted.map((decision_id) => ({ decision_id, ...UNREADABLE }))
  }
}

/** The entities whose facts a decision was made from, as its documents name them; none if there was only one. */
export function mergedIn({ facts }: Pick<StoredDocuments, 'facts'>): readonly string[] {
  const merged = objectIn(facts ?? '')?.merged
  return Array.isArray(merged) ? merged.filter((id) => typeof id === 'string') : []
}
