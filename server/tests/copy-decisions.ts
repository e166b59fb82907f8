import type { Database } from '../src/store/database/database.ts'
import { type DocumentsOfDecision, packSegment, unpackSegment } from '../src/store/documents/segment.ts'
import { columnsOf } from '../src/store/schema/tables.ts'

/** Segments that one statement inserts. */
const SEGMENTS_PER_INSERT = 200

/** A segment to write; its numbers are those of the statements that wrote its decisions. */
interface NewSegment {
  is_packed: boolean
  flush: number
  part: number
  first_flush: number
  documents: readonly DocumentsOfDecision[]
}

/** Inserts packed segments of one organization, many with each statement. */
export async function insertSegments(
  query: (sql: string, params: readonly unknown[]) => Promise<unknown>,
  organizationId: string,
  segments: Iterable<NewSegment>,
): Promise<void> {
  let waiting: NewSegment[] = []
  const insert = async () => {
    await query(
      `INSERT INTO document_segments (org_id, is_packed, flush, part, first_flush, decision_ids, content)
       SELECT $1, is_packed, flush, part, first_flush, string_to_array(ids, ' '), content
       FROM unnest($2::boolean[], $3::bigint[], $4::integer[], $5::bigint[], $6::text[], $7::bytea[])
         AS segment (is_packed, flush, part, first_flush, ids, content)`,
      [
        organizationId,
        waiting.map(({ is_packed }) => is_packed),
        waiting.map(({ flush }) => flush),
        waiting.map(({ part }) => part),
        waiting.map(({ first_flush }) => first_flush),
        waiting.map(({ documents }) => documents.map(({ decision_id }) => decision_id).join(' ')),
        await Promise.all(waiting.map(({ documents }) => packSegment(documents))),
      ],
    )
    waiting = []
  }
  for (const segment of segments) {
    waiting.push(segment)
    if (waiting.length === SEGMENTS_PER_INSERT) await insert()
  }
  if (waiting.length > 0) await insert()
}

/**
 * Copies the decisions of an organization with their documents, `copies` times. The ids of the copies, and the numbers of
 * their statements, sort before those of the originals; each copy of a segment is a segment of its own.
 */
export async function copyDecisions(
  database: Database,
  { from, to, copies }: { from: string; to: string; copies: number },
): Promise<void> {
  const segments = await database.query<Omit<NewSegment, 'documents'> & { content: Uint8Array }>(
    'SELECT is_packed, flush, part, first_flush, content FROM document_segments WHERE org_id = $1 ORDER BY flush',
    [from],
  )
  // No copy has the number of another one, or of an original.
  const span = segments.at(-1)!.flush + 1
  const columns = columnsOf('decisions').filter((column) => column !== 'org_id' && column !== 'id')
  await database.query(
    `INSERT INTO decisions (org_id, id, ${columns}, flush)
     SELECT $1, 'dec_0' || lpad(copy::text, 4, '0') || substr(id, 10), ${columns}, flush - copy * $3::bigint
     FROM decisions, generate_series(1, $4::bigint) AS copy WHERE org_id = $2`,
    [to, from, span, copies],
  )
  await insertSegments(
    (sql, params) => database.query(sql, params),
    to,
    segments.flatMap(({ flush, first_flush, content, ...segment }) => {
      const documents = unpackSegment(content)
      return Array.from({ length: copies }, (_, index) => ({
        ...segment,
        flush: flush - (index + 1) * span,
        first_flush: first_flush - (index + 1) * span,
        documents: documents.map((each) => ({ ...each, decision_id: copiedId(each.decision_id, index + 1) })),
      }))
    }),
  )
}

function copiedId(id: string, copy: number): string {
  return `dec_0${String(copy).padStart(4, '0')}${id.slice(9)}`
}
