import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { NOT_RETRACTED } from './outcomes.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** The audit entry of a decision, with the hash of its leaf once it is sealed, and whether this service wrote it so. */
export type DecisionEntry = StoredEntry & { seq: number; sealed_hash: string | null; is_authentic: boolean }

/** A decision with its evidence, its policy and its audit entry; null where the stored row was deleted. */
export type RecordedDecision = RowOf<'decisions'> &
  Record<'facts' | 'trace' | 'graph' | 'policy' | 'audit_entry_id', string | null> & { entry: DecisionEntry | null }

const COLUMNS = columnsOf('decisions')
  .map((column) => `decision.${column}`)
  .join(', ')

/** How many reviews, and how many outcomes, of a decision are read at once; the audit trail lists them all. */
const SINCE_MAX = 100

/** Reads of decisions. */
export function decisionQueries(database: Database, isAuthentic: IsAuthentic) {
  return {
    /** The decision with this id, if the organization has it. */
    find: batchedRead<{ organizationId: string; id: string }, RowOf<'decisions'>>({
      keyText: ({ organizationId, id }) => `${organizationId} ${id}`,
      async load(keys) {
        const rows = await database.query<RowOf<'decisions'> & Row>(
          `SELECT ${COLUMNS} FROM decisions AS decision
           JOIN unnest($1::text[], $2::text[]) AS wanted (org_id, id) ON decision.org_id = wanted.org_id AND decision.id = wanted.id`,
          [keys.map(({ organizationId }) => organizationId), keys.map(({ id }) => id)],
          { keepPlan: true },
        )
        return new Map(rows.map((row) => [`${row.org_id} ${row.id}`, row]))
      },
    }),

    /** The decision with this id, as far as its evidence, its policy and its audit entry are still stored. */
    async recorded(organizationId: string, id: string): Promise<RecordedDecision | undefined> {
      const [row] = await database.query<Omit<RecordedDecision, 'entry'> & Row>(
        `SELECT ${COLUMNS}, evidence.facts, evidence.trace, evidence.graph, evidence.audit_entry_id, policy.document AS policy
         FROM decisions AS decision
         LEFT JOIN decision_evidence AS evidence ON evidence.org_id = decision.org_id AND evidence.decision_id = decision.id
         LEFT JOIN policies AS policy ON policy.org_id = decision.org_id AND policy.version = decision.policy_version
         WHERE decision.org_id = $1 AND decision.id = $2`,
        [organizationId, id],
      )
      if (!row) return undefined
      const entry = await readEntry(database, row)
      return { ...row, entry: entry && { ...entry, is_authentic: isAuthentic(entry) } }
    },

    /** The index of an audit entry's leaf, once it is sealed. */
    async leaf(organizationId: string, entryId: string): Promise<number | undefined> {
      const [row] = await database.query<{ leaf_index: number }>(
        'SELECT leaf_index FROM audit_leaves WHERE org_id = $1 AND entry_id = $2',
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
    latest: batchedRead<{ organizationId: string; entityId: string }, RowOf<'latest_decisions'>>({
      keyText: ({ organizationId, entityId }) => `${organizationId} ${entityId}`,
      async load(keys) {
        const rows = await database.query<RowOf<'latest_decisions'> & Row>(
          `SELECT latest.* FROM latest_decisions AS latest
           JOIN unnest($1::text[], $2::text[]) AS wanted (org_id, entity_id)
             ON latest.org_id = wanted.org_id AND latest.entity_id = wanted.entity_id`,
          [keys.map(({ organizationId }) => organizationId), keys.map(({ entityId }) => entityId)],
          { keepPlan: true },
        )
        return new Map(rows.map((row) => [`${row.org_id} ${row.entity_id}`, row]))
      },
    }),
  }
}

/**
 * The audit entry of a decision: the one that its evidence names, if that entry is about the decision; otherwise the
 * first entry about it on the entity's trail.
 */
async function readEntry(
  database: Database,
  { org_id, id, entity_id, audit_entry_id }: Omit<RecordedDecision, 'entry'>,
): Promise<Omit<DecisionEntry, 'is_authentic'> | null> {
  const find = async (where: string, key: string) => {
    const [entry] = await database.query<Omit<DecisionEntry, 'is_authentic'> & Row>(
      `SELECT ${ENTRY_COLUMNS}, entry.seq, leaf.leaf_hash AS sealed_hash, ${sealedLeaf('entry')} AS sealed_leaf
       FROM audit_entries AS entry
       LEFT JOIN audit_leaves AS leaf ON leaf.org_id = entry.org_id AND leaf.entry_id = entry.id
       WHERE entry.org_id = $1 AND entry.type = 'decision.created' AND entry.subject_type = 'decision' AND entry.subject_id = $2
         AND ${where} = $3 ORDER BY entry.seq LIMIT 1`,
      [org_id, id, key],
    )
    return entry ?? null
  }
  const named = audit_entry_id === null ? null : await find('entry.id', audit_entry_id)
  // Reached only if the evidence was altered; otherwise a replay never scans the trail.
  return named ?? find('entry.trail_id', entity_id)
}
