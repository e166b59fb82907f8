import type { Database } from '../src/store/database/database.ts'
import { type Documents, type DocumentsOfDecision, packSegment, unpackSegment } from '../src/store/documents/segment.ts'

/** Alters one document of a stored decision, as a database administrator could who unpacks its segment. */
export async function alterDocument(
  database: Database,
  decisionId: string,
  name: keyof Documents,
  altered: string | ((stored: string) => string),
): Promise<void> {
  await alterSegment(database, decisionId, (documents) =>
    documents.map((each) =>
      each.decision_id === decisionId
        ? { ...each, [name]: typeof altered === 'string' ? altered : altered(each[name]) }
        : each,
    ),
  )
}

/** Adds documents to the segment of a decision; they need not be its own. */
export async function addDocuments(database: Database, decisionId: string, added: DocumentsOfDecision): Promise<void> {
  await alterSegment(database, decisionId, (documents) => [...documents, added])
}

/** Takes the documents of a decision out of its segment; those of the other decisions stay. */
export async function deleteDocuments(database: Database, decisionId: string): Promise<void> {
  await alterSegment(database, decisionId, (documents) =>
    documents.filter(({ decision_id }) => decision_id !== decisionId),
  )
}

/** The documents of a decision, as they are stored. */
export async function storedDocuments(database: Database, decisionId: string): Promise<DocumentsOfDecision> {
  const { content } = await segmentOf(database, decisionId)
  return unpackSegment(content).find(({ decision_id }) => decision_id === decisionId)!
}

async function alterSegment(
  database: Database,
  decisionId: string,
  alter: (documents: DocumentsOfDecision[]) => DocumentsOfDecision[],
): Promise<void> {
  const { content, ctid } = await segmentOf(database, decisionId)
  const packed = await packSegment(alter(unpackSegment(content)))
  await database.query('UPDATE document_segments SET content = $2::bytea WHERE ctid = $1::tid', [ctid, packed])
}

async function segmentOf(database: Database, decisionId: string): Promise<{ content: Uint8Array; ctid: string }> {
  const [segment] = await database.query<{ content: Uint8Array; ctid: string }>(
    'SELECT content, ctid::text AS ctid FROM document_segments WHERE $1 = ANY(decision_ids)',
    [decisionId],
  )
  if (!segment) throw new Error(`the documents of ${decisionId} are in no segment`)
  return segment
}
