import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import { mergedIn, type StoredDocuments, withDocuments } from '../documents/documents.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { latestDecision } from '../write-path/decision-statements.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { entryIdOf } from '../write-path/record.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { erasureQueries } from './erasures.ts'
import { NOT_RETRACTED } from './outcomes.ts'
import { hashAt, type IsAuthentic, LEAF_INDEX, SEALED_FLUSH, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** The audit entry of a decision, with the hash of its leaf once it is sealed, and whether this service wrote it so. */
export type DecisionEntry = StoredEntry & { seq: number; sealed_hash: string | null; is_authentic: boolean }

/** The row of a decision, which names the statement that wrote it. */
export type DecisionRow = RowOf<'decisions'> & { flush: number }

/** A decision with its documents, its policy and its audit entry; null where what was stored is gone. */
export type RecordedDecision = DecisionRow &
  StoredDocuments & { policy: string | null; entry: DecisionEntry | null; erased: ErasedDecision | null }

/**
 * That the entity of a decision was erased, or one that it was merged with at the time, and what the log says of what is left of
 * its documents.
 */
export interface ErasedDecision {
  /** Whether the entity of the decision is there, and only another one was erased. */
  isOthers: boolean
  approvedAt: string
  /** Hashes of the documents as erasures left them. */
  leftHashes: unknown[]
}

/** The columns of a decision, for queries that alias its table as `decision`. */
export const DECISION_COLUMNS = [...columnsOf('decisions'), 'flush'].map((column) => `decision.${column}`).join(', ')

/** An entity's latest decision, with its request, and the verdict that was announced of it last. */
export type LatestDecision = Pick<
  RowOf<'decisions'>,
  'org_id' | 'entity_id' | 'id' | 'product' | 'requested_amount' | 'currency' | 'term_months' | 'verdict'
> & { flush: number; announced_verdict: string }

/** How many reviews, and how many outcomes, of a decision are read at once; the audit trail lists them all. */
const SINCE_MAX = 100

/** Reads of decisions. */
export function decisionQueries(database: Database, isAuthentic: IsAuthentic) {
  const erasures = erasureQueries(database, isAuthentic)

  async function readErased(
    { org_id, id, entity_id }: DecisionRow,
    documents: StoredDocuments,
  ): Promise<ErasedDecision | null> {
    const erased = await erasures.ofEntities(org_id, [entity_id, ...mergedIn(documents)])
    const erasure = erased.get(entity_id) ?? erased.values().next().value
    if (!erasure) return null
    const entries = await database.query<StoredEntry & Row>(
      `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf FROM audit_entries AS entry
       WHERE org_id = $1 AND subject_id = $2 AND type = 'record.redacted' AND actor_type <> 'api_key'`,
      [org_id, id],
    )
    const leftHashes = entries.filter(isAuthentic).map((entry) => dataOf(entry).record_sha256)
    return { isOthers: erasure.entity_id !== entity_id, approvedAt: erasure.approved_at, leftHashes }
  }

  return {
    /** The decision with this id, if the organization has it. */
    find: batchedRead<{ organizationId: string; id: string }, DecisionRow>({
      keyText: ({ organizationId, id }) => `${organizationId} ${id}`,
      async load(keys) {
        const rows = await database.query<DecisionRow & Row>(
          `SELECT ${DECISION_COLUMNS} FROM decisions AS decision
           JOIN unnest($1::text[], $2::text[]) AS wanted (org_id, id) ON decision.org_id = wanted.org_id AND decision.id = wanted.id`,
          [keys.map(({ organizationId }) => organizationId), keys.map(({ id }) => id)],
          { keepPlan: true },
        )
        return new Map(rows.map((row) => [`${row.org_id} ${row.id}`, row]))
      },
    }),

    /** The decision with this id, as far as its evidence, its policy and its audit entry are still stored. */
    async recorded(organizationId: string, id: string): Promise<RecordedDecision | undefined> {
      const [row] = await database.query<DecisionRow & Row & { policy: string | null }>(
        `SELECT ${DECISION_COLUMNS}, policy.document AS policy
         FROM decisions AS decision
         LEFT JOIN policies AS policy ON policy.org_id = decision.org_id AND policy.version = decision.policy_version
         WHERE decision.org_id = $1 AND decision.id = $2`,
        [organizationId, id],
      )
      if (!row) return undefined
      const [documented] = await withDocuments(database, [row])
      const entry = await readEntry(database, row)
      const erased = await readErased(row, documented!)
      return { ...documented!, entry: entry && { ...entry, is_authentic: isAuthentic(entry) }, erased }
    },

    /** What was answered with a decision; null if that was deleted or altered so that it cannot be read. */
    async body(decision: DecisionRow): Promise<string | null> {
      const [documented] = await withDocuments(database, [decision])
      return documented!.body
    },

    /** The index of an audit entry's leaf, once it is sealed. */
    async leaf(organizationId: string, entryId: string): Promise<number | undefined> {
      const [row] = await database.query<{ leaf_index: number }>(
        `SELECT ${LEAF_INDEX} FROM audit_entries AS entry ${SEALED_FLUSH}
         WHERE entry.org_id = $1 AND entry.id = $2 AND flush.first_leaf IS NOT NULL`,
        [organizationId, entryId],
      )
      return row?.leaf_index
    },

    /** The response bodies of a decision's reviews and outcomes that count: the newest 100 of each, oldest first. */
    async recordedSince(organizationId: string, decisionId: string): Promise<Record<'reviews' | 'outcomes', string[]>> {
      const newest = async (table: 'reviews' | 'outcomes', filter = '') => {
        const rows = await database.query<{ body: string }>(
          `SELECT body FROM ${table} WHERE org_id = $1 AND decision_id = $2 ${filter} ORDER BY id DESC LIMIT ${SINCE_MAX}`,
          [organizationId, decisionId],
        )
        return rows.map(({ body }) => body).reverse()
      }
      const [reviews, outcomes] = await Promise.all([newest('reviews'), newest('outcomes', `AND ${NOT_RETRACTED}`)])
      return { reviews, outcomes }
    },

    /** The latest decision about an entity, if there is one. */
    latest: batchedRead<{ organizationId: string; entityId: string }, LatestDecision>({
      keyText: ({ organizationId, entityId }) => `${organizationId} ${entityId}`,
      async load(keys) {
        const rows = await database.query<LatestDecision & Row>(
          `SELECT latest.org_id, latest.entity_id, latest.id, latest.product, latest.requested_amount, latest.currency, latest.term_months,
             latest.verdict, latest.flush, coalesce(turned.verdict, latest.verdict) AS announced_verdict
           FROM unnest($1::text[], $2::text[]) AS wanted (org_id, entity_id)
           CROSS JOIN LATERAL ${latestDecision('wanted.org_id', 'wanted.entity_id')} AS latest
           LEFT JOIN turned_verdicts AS turned ON turned.org_id = latest.org_id AND turned.decision_id = latest.id`,
          [keys.map(({ organizationId }) => organizationId), keys.map(({ entityId }) => entityId)],
          { keepPlan: true },
        )
        return new Map(rows.map((row) => [`${row.org_id} ${row.entity_id}`, row]))
      },
    }),
  }
}

/** The audit entry that recorded a decision. */
async function readEntry(
  database: Database,
  { org_id, id }: DecisionRow,
): Promise<Omit<DecisionEntry, 'is_authentic'> | null> {
  const [entry] = await database.query<Omit<DecisionEntry, 'is_authentic'> & Row>(
    `SELECT ${ENTRY_COLUMNS}, entry.seq, ${hashAt('entry.place')} AS sealed_hash, ${sealedLeaf('entry')} AS sealed_leaf
     FROM audit_entries AS entry
     ${SEALED_FLUSH}
     WHERE entry.org_id = $1 AND entry.id = $2 AND entry.subject_id = $3 AND entry.type = 'decision.created'
       AND entry.subject_type = 'decision'`,
    [org_id, entryIdOf(id), id],
  )
  return entry ?? null
}
