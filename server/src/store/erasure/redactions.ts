import { canonicalSha256, sha256 } from '../../core/canonical-json.ts'
import { ERASED_TEXT, isSpelledBy, takeOutTexts } from '../../core/decide/take-out-texts.ts'
import { isObject, objectIn } from '../../core/stored-json.ts'
import type { Database, Row } from '../database/database.ts'
import { mergedIn, readDocuments, type StoredDocuments } from '../documents/documents.ts'
import { DOCUMENTS, type Documents } from '../documents/segment.ts'
import { replaceDocuments, takeOutDocuments } from '../documents/take-out-documents.ts'
import { DECISION_COLUMNS, type DecisionRow } from '../environment/decisions.ts'
import { columnsOf, type NewRow, type RowOf } from '../schema/tables.ts'
import { dataOf, type EntryData } from '../write-path/entry-data.ts'
import { recordSha256 } from '../write-path/record-hash.ts'
import { changeRecords, type ErasureTarget } from './erase-rows.ts'

/** The tables of whose rows an erasure takes texts, and leaves the rest. */
export const REDACTED_TABLES = ['reviews', 'outcomes', 'outcome_retractions', 'entity_merges'] as const
export type RedactedTable = (typeof REDACTED_TABLES)[number]

/** A record of which texts are to be taken. */
export interface Redaction {
  /** What kind of object it is on the log. */
  subject: { type: string; id: string }
  /**
   * The hash of the record as it is left; null if it is deleted. Undefined if the stored record is not the one that the log
   * knows: then no entry may vouch for what is left of it.
   */
  record_sha256: string | null | undefined
  /** Writes what is left. */
  write(): Promise<void>
}

/** How many records are read at a time: the documents of as many decisions are in memory. */
const RECORDS_PER_READ = 50

const SUBJECTS: Record<RedactedTable, string> = {
  reviews: 'review',
  outcomes: 'outcome',
  outcome_retractions: 'outcome_retraction',
  entity_merges: 'entity_merge',
}

/** The column with texts, and what is left of it; of a review, under the policy of its decision as canonical JSON. */
const TEXTS: Record<RedactedTable, { column: 'body' | 'reason'; without: (text: string, policy: string) => string }> = {
  reviews: { column: 'body', without: withoutTextsOfReview },
  outcomes: { column: 'body', without: withoutTextsOfOutcome },
  outcome_retractions: { column: 'reason', without: () => ERASED_TEXT },
  entity_merges: { column: 'reason', without: () => ERASED_TEXT },
}

/** The records of a table that still have texts about the entity, in pages. */
export async function* recordsWithTexts(
  database: Database,
  target: ErasureTarget,
  table: RedactedTable,
): AsyncGenerator<Redaction[]> {
  const { column, without } = TEXTS[table]
  for await (const rows of pagesOf(database, target, table)) {
    const policies = table === 'reviews' ? await policiesOfReviews(database, target, rows) : undefined
    const left = rows.map((row) => ({
      was: row,
      row: { ...row, [column]: without(textIn(row, column), policies?.get(row.id) ?? '') },
    }))
    const changed = left.filter(({ was, row }) => textIn(was, column) !== textIn(row, column))
    const known = await knownHashes(
      database,
      target.org_id,
      changed.map(({ row }) => row.id),
    )
    yield changed.map(({ was, row }) => ({
      subject: { type: SUBJECTS[table], id: row.id },
      record_sha256: known.get(row.id)?.has(hashOf(table, target, was)) ? hashOf(table, target, row) : undefined,
      write: async () => {
        const change = `UPDATE ${table} SET ${column} = $3 ->> 'text' WHERE org_id = $1 AND id = $3 ->> 'id'`
        await changeRecords(database, target, { change, given: { id: row.id, text: textIn(row, column) } })
      },
    }))
  }
}

/**
 * Decisions whose row or documents have texts of callers, in pages: those about the entity, and those about others that were made
 * while the entity was merged with them. The latter keep their reference, which is of another person.
 */
export async function* decisionsWithTexts(database: Database, target: ErasureTarget): AsyncGenerator<Redaction[]> {
  yield* textsInDecisions(database, target, target.entity_id)
  for (const other of await mergedOnce(database, target)) yield* textsInDecisions(database, target, other)
}

/** The entities that an entity was ever merged with, by the steps that they keep. */
async function mergedOnce(database: Database, { org_id, entity_id }: ErasureTarget): Promise<string[]> {
  const rows = await database.query<{ entity_id: string }>(
    `SELECT DISTINCT entity_id FROM entity_merges
     WHERE org_id = $1 AND step = 'approved' AND entity_id <> $2 AND $2 = ANY (string_to_array(members, ' ')) ORDER BY entity_id`,
    [org_id, entity_id],
  )
  return rows.map((row) => row.entity_id)
}

async function* textsInDecisions(
  database: Database,
  target: ErasureTarget,
  about: string,
): AsyncGenerator<Redaction[]> {
  const isOthers = about !== target.entity_id
  for await (const decisions of pagesOfDecisions(database, { org_id: target.org_id, entity_id: about })) {
    const documents = await readDocuments(database, decisions)
    const policies = await policiesOf(database, target.org_id, decisions)
    const known = await knownDocuments(database, target.org_id, decisions)
    yield decisions.flatMap((decision, index) => {
      const stored = documents[index]!
      if (isOthers && !mergedIn(stored).includes(target.entity_id)) return []
      const policy = policies.get(decision.policy_version) ?? ''
      const left = isComplete(stored) ? takeOutTexts(stored, policy, { keepsReference: isOthers }) : stored
      if ((isOthers || decision.reference === null) && left === stored) return []
      const isKnown = known.get(decision.id)!(stored)
      const isWritten = isKnown && left !== null
      return [
        {
          subject: { type: 'decision', id: decision.id },
          record_sha256: isWritten ? documentsSha256(left) : undefined,
          write: async () => {
            // Which texts are in documents that were altered cannot be known.
            if (left === null) await takeOutDocuments(database, decision)
            else if (left !== stored) await replaceDocuments(database, decision, left as Documents)
            if (isOthers) return
            const change = "UPDATE decisions SET reference = NULL WHERE org_id = $1 AND id = $3 ->> 'id'"
            await changeRecords(database, target, { change, given: { id: decision.id } })
          },
        },
      ]
    })
  }
}

/** The columns of a decision once only its hashes are left. */
export const NO_FIGURES = {
  risk_tier: '',
  requested_amount: null,
  currency: null,
  recommended_limit: null,
  score: null,
  score_cutoff: null,
  term_months: null,
  reason_codes: '',
  reference: null,
} as const satisfies Partial<RowOf<'decisions'>>

/** The tables of what was reported about a decision, which go with its figures. */
const REPORTED_TABLES = ['outcome_retractions', 'outcomes', 'reviews'] as const

/**
 * Decisions about the entity that were made before a moment, as they are left once only hashes stay: without documents and
 * figures, and without what was reported about them. In pages.
 */
export async function* expiredDecisions(
  database: Database,
  target: ErasureTarget,
  madeBefore: string,
): AsyncGenerator<Redaction[]> {
  for await (const decisions of pagesOfDecisions(database, target)) {
    const expired = decisions.filter((one) => one.created_at < madeBefore && one.risk_tier !== NO_FIGURES.risk_tier)
    const documents = await readDocuments(database, expired)
    const known = await knownDocuments(database, target.org_id, expired)
    const reports = await Promise.all(expired.map((decision) => reportsAbout(database, target, decision.id)))
    yield expired.flatMap((decision, index) => [
      ...reports[index]!,
      {
        subject: { type: 'decision', id: decision.id },
        record_sha256: known.get(decision.id)!(documents[index]!) ? documentsSha256(NO_DOCUMENTS) : undefined,
        write: async () => {
          await takeOutDocuments(database, decision)
          const assignments = Object.entries(NO_FIGURES).map(
            ([name, left]) => `${name} = ${left === null ? 'NULL' : "''"}`,
          )
          const change = `UPDATE decisions SET ${assignments.join(', ')} WHERE org_id = $1 AND id = $3 ->> 'id'`
          await changeRecords(database, target, { change, given: { id: decision.id } })
        },
      },
    ])
  }
}

/** Whether a decision about the entity still has its figures. */
export async function haveFigures(database: Database, { org_id, entity_id }: ErasureTarget): Promise<boolean> {
  const rows = await database.query(
    'SELECT 1 FROM decisions WHERE org_id = $1 AND entity_id = $2 AND risk_tier <> $3 LIMIT 1',
    [org_id, entity_id, NO_FIGURES.risk_tier],
  )
  return rows.length > 0
}

/** The reviews and outcomes of a decision, and the steps that took outcomes back, to be deleted. */
async function reportsAbout(database: Database, target: ErasureTarget, decisionId: string): Promise<Redaction[]> {
  const found = await Promise.all(
    REPORTED_TABLES.map(async (table) => {
      const ofDecision =
        table === 'outcome_retractions'
          ? 'outcome_id IN (SELECT id FROM outcomes WHERE org_id = $1 AND decision_id = $2)'
          : 'decision_id = $2'
      const columns = columnsOf(table).filter((column) => column !== 'org_id')
      const rows = await database.query<Row & { id: string }>(
        `SELECT ${columns.join(', ')} FROM ${table} WHERE org_id = $1 AND ${ofDecision} ORDER BY id`,
        [target.org_id, decisionId],
      )
      const known = await knownHashes(
        database,
        target.org_id,
        rows.map(({ id }) => id),
      )
      return rows.map((row): Redaction => {
        const isKnown = known.get(row.id)?.has(hashOf(table, target, row as unknown as NewRow<typeof table>))
        return {
          subject: { type: SUBJECTS[table], id: row.id },
          record_sha256: isKnown ? null : undefined,
          write: async () => {
            const change = `DELETE FROM ${table} WHERE org_id = $1 AND id = $3 ->> 'id'`
            await changeRecords(database, target, { change, given: { id: row.id } })
          },
        }
      })
    }),
  )
  return found.flat()
}

/** The hash of the documents of a decision, as the entry of its redaction has it; documents that are gone have one too. */
export function documentsSha256(documents: StoredDocuments): string {
  return canonicalSha256(Object.fromEntries(DOCUMENTS.map((name) => [name, documents[name]])))
}

const NO_DOCUMENTS: StoredDocuments = { body: null, facts: null, trace: null, graph: null }

function isComplete(documents: StoredDocuments): documents is Documents {
  return DOCUMENTS.every((name) => documents[name] !== null)
}

async function* pagesOf<T extends RedactedTable>(
  database: Database,
  { org_id, entity_id }: ErasureTarget,
  table: T,
): AsyncGenerator<NewRow<T>[]> {
  const columns = columnsOf(table).filter((column) => column !== 'org_id')
  // Other entities keep their steps of a merge with it.
  const about =
    table === 'entity_merges'
      ? "(subject_id = $2 OR $2 = ANY (string_to_array(members, ' '))) AND entity_id <> $2"
      : 'entity_id = $2'
  for (let after = ''; ; ) {
    const rows = await database.query<Row & { id: string }>(
      `SELECT ${columns.join(', ')} FROM ${table} WHERE org_id = $1 AND ${about} AND id > $3 ORDER BY id LIMIT ${RECORDS_PER_READ}`,
      [org_id, entity_id, after],
    )
    if (rows.length > 0) yield rows as unknown as NewRow<T>[]
    if (rows.length < RECORDS_PER_READ) return
    after = rows.at(-1)!.id
  }
}

async function* pagesOfDecisions(
  database: Database,
  { org_id, entity_id }: Pick<ErasureTarget, 'org_id' | 'entity_id'>,
): AsyncGenerator<DecisionRow[]> {
  for (let after = ''; ; ) {
    const rows = await database.query<DecisionRow & Row>(
      `SELECT ${DECISION_COLUMNS} FROM decisions AS decision
       WHERE decision.org_id = $1 AND decision.entity_id = $2 AND decision.id > $3 ORDER BY decision.id LIMIT ${RECORDS_PER_READ}`,
      [org_id, entity_id, after],
    )
    if (rows.length > 0) yield rows
    if (rows.length < RECORDS_PER_READ) return
    after = rows.at(-1)!.id
  }
}

function hashOf<T extends RedactedTable>(_table: T, { org_id }: ErasureTarget, row: NewRow<RedactedTable>): string {
  return recordSha256<T>(org_id, row as NewRow<T>)
}

function textIn(row: NewRow<RedactedTable>, column: 'body' | 'reason'): string {
  return (row as unknown as Record<'body' | 'reason', string>)[column]
}

type EntryOfRecord = EntryData & Pick<RowOf<'audit_entries'>, 'id'>

/** What entries say about these records: the one that recorded it, and those of earlier redactions. */
async function entriesOf(database: Database, organizationId: string, ids: readonly string[]): Promise<EntryOfRecord[]> {
  return database.query<EntryOfRecord & Row>(
    `SELECT id, type, trail_id, subject_id, data, hashes FROM audit_entries
     WHERE org_id = $1 AND (id = ANY ($3::text[]) OR (subject_id = ANY ($2::text[]) AND substr(id, 5) <> substr(subject_id, 5)))`,
    [organizationId, ids, ids.map((id) => `aud_${id.slice(id.indexOf('_') + 1)}`)],
  )
}

async function knownHashes(
  database: Database,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, Set<unknown>>> {
  if (ids.length === 0) return new Map()
  const entries = await entriesOf(database, organizationId, ids)
  const bySubject = Map.groupBy(entries, ({ subject_id }) => subject_id)
  return new Map([...bySubject].map(([id, own]) => [id, new Set(own.map((entry) => dataOf(entry).record_sha256))]))
}

/** Says of each decision whether documents are those that the log knows: as they were recorded, or left by a redaction. */
async function knownDocuments(
  database: Database,
  organizationId: string,
  decisions: readonly DecisionRow[],
): Promise<Map<string, (documents: StoredDocuments) => boolean>> {
  const entries = await entriesOf(
    database,
    organizationId,
    decisions.map(({ id }) => id),
  )
  const bySubject = Map.groupBy(entries, ({ subject_id }) => subject_id)
  return new Map(
    decisions.map(({ id }) => [
      id,
      (documents) =>
        (bySubject.get(id) ?? []).map(dataOf).some(
          (data) =>
            data.record_sha256 === documentsSha256(documents) ||
            [
              [documents.body, data.decision_sha256],
              [documents.facts, data.facts_sha256],
              [documents.trace, data.trace_sha256],
              [documents.graph, data.graph_sha256],
            ].every(([text, hash]) => typeof text === 'string' && sha256(text) === hash),
        ),
    ]),
  )
}

async function policiesOf(
  database: Database,
  organizationId: string,
  decisions: readonly DecisionRow[],
): Promise<Map<string, string>> {
  const versions = [...new Set(decisions.map(({ policy_version }) => policy_version))]
  const rows = await database.query<{ version: string; document: string }>(
    'SELECT version, document FROM policies WHERE org_id = $1 AND version = ANY ($2::text[])',
    [organizationId, versions],
  )
  return new Map(rows.map(({ version, document }) => [version, document]))
}

/** The policies, as canonical JSON, of the decisions that reviews are about, by the id of the review. */
async function policiesOfReviews(
  database: Database,
  { org_id }: ErasureTarget,
  reviews: readonly { id: string }[],
): Promise<Map<string, string>> {
  const rows = await database.query<{ id: string; document: string }>(
    `SELECT review.id, policy.document FROM reviews AS review
     JOIN decisions AS decision ON decision.org_id = $1 AND decision.id = review.decision_id
     JOIN policies AS policy ON policy.org_id = $1 AND policy.version = decision.policy_version
     WHERE review.org_id = $1 AND review.id = ANY ($2::text[])`,
    [org_id, reviews.map(({ id }) => id)],
  )
  return new Map(rows.map(({ id, document }) => [id, document]))
}

/** Who reviewed it, the verdict, and the codes that the policy spells stay; the words and the reviewer's own codes go. */
function withoutTextsOfReview(body: string, policy: string): string {
  const review = objectIn(body)
  if (!review) return '{}'
  const { reason_codes: codes, conditions } = review
  const code = (own: unknown) => (typeof own === 'string' && isSpelledBy(policy, own) ? own : ERASED_TEXT)
  const condition = (own: unknown) =>
    isObject(own) ? { ...own, code: code(own.code), label: ERASED_TEXT } : ERASED_TEXT
  return JSON.stringify({
    ...review,
    reason: ERASED_TEXT,
    ...(Array.isArray(codes) && { reason_codes: codes.map(code) }),
    ...(Array.isArray(conditions) && { conditions: conditions.map(condition) }),
  })
}

function withoutTextsOfOutcome(body: string): string {
  const outcome = objectIn(body)
  if (!outcome) return '{}'
  const { note, ...others } = outcome
  return note === undefined ? body : JSON.stringify(others)
}
