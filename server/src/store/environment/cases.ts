import type { Database, Row } from '../database/database.ts'
import { readDocuments, type StoredDocuments, withDocuments } from '../documents/documents.ts'
import { Params, type RowOf } from '../schema/tables.ts'
import type { DecisionRow } from './decisions.ts'

/** The states of a case. */
export const CASE_STATES = ['open', 'decided'] as const

/** Whose cases to list: all, of one operator, those that one could sign second, or those that no operator has taken. */
export type CaseHolder = { assigneeId: string } | { secondSignerId: string } | 'free' | 'all'

/** Which cases to list: open ones oldest first, decided ones newest review first. */
export interface CaseFilter {
  organizationId: string
  state: (typeof CASE_STATES)[number]
  holder: CaseHolder
  /** Only cases that were opened before this time. */
  openedBefore?: string | undefined
  /** The cursor of the last case of the page before: its id, or the id of the review of a decided one. */
  after?: string | undefined
  limit: number
}

/** A case with the decision that it is about now: the newest that waits, or the one whose review closed it. */
export type CaseWithDecision = RowOf<'cases'> & {
  entity_name: string | null
  external_id: string
  entity_type: string | null
  country: string | null
  entity_since: string
  decision_id: string
  product: string
  risk_tier: string
  decided_at: string
  requested_amount: number | null
  currency: string | null
  /** The documents of the decision; null where they were deleted or altered. */
  documents: StoredDocuments
  /** The shares in millionths that the policy asks for; null where the policy was deleted. */
  confidence_min_ppm: number | null
  completeness_min_ppm: number | null
  /** The review that closed the case, as returned to its caller. */
  review_body: string | null
  /** Reviews of earlier decisions about the entity, counted up to `PRIOR_COUNTED_MAX`. */
  prior_reviews: number
  /** Entities that links of the trust graph lead to, and those of them with bad outcomes; counted up to `LINKS_COUNTED_MAX`. */
  neighbours: number
  bad_neighbours: number
}

/** A decision that waits for a review, with its documents. */
export type WaitingDecision = DecisionRow & StoredDocuments

/** A decision of a case, with the newest review of it, as returned to its caller. */
export type DecisionOfCase = RowOf<'decisions'> & {
  is_waiting: boolean
  review_body: string | null
}

/** How many open cases an organization has; counted up to `CASES_COUNTED_MAX`. */
export interface CaseCounts {
  all: number
  mine: number
  free: number
  /** Those that wait for a second signature, which this operator did not begin. */
  to_sign: number
  overdue: number
  oldest_opened_at: string | null
}

/** Counting stops here, so that a long queue does not slow the page. */
export const CASES_COUNTED_MAX = 10_000
const PRIOR_COUNTED_MAX = 100
const LINKS_COUNTED_MAX = 200
const DECISIONS_LISTED_MAX = 50
const NOTES_LISTED_MAX = 200

/** Queries of the review queue. */
export function caseQueries(database: Database) {
  return {
    /** Lists cases, each with the decision that it is about now. */
    async page(filter: CaseFilter, today: number): Promise<CaseWithDecision[]> {
      const params = new Params()
      const page = pageStatement(filter, params)
      const sql = describeStatement(page, params.add(today, 'integer'))
      const order = filter.state === 'open' ? 'page.id' : 'page.review_id DESC'
      return withDecisions(
        database,
        await database.query<DescribedCase & Row>(`${sql} ORDER BY ${order}`, params.values),
      )
    },

    /** The case with this id, open or decided. */
    async find(organizationId: string, id: string, today: number): Promise<CaseWithDecision | undefined> {
      const page = 'SELECT * FROM cases WHERE org_id = $1 AND id = $2'
      const rows = await database.query<DescribedCase & Row>(describeStatement(page, '$3::integer'), [
        organizationId,
        id,
        today,
      ])
      return (await withDecisions(database, rows))[0]
    },

    /** The row of a case alone. */
    async row(organizationId: string, id: string): Promise<RowOf<'cases'> | undefined> {
      const [row] = await database.query<RowOf<'cases'> & Row>('SELECT * FROM cases WHERE org_id = $1 AND id = $2', [
        organizationId,
        id,
      ])
      return row
    },

    /** The id of the open case of an entity. */
    async openOf(organizationId: string, entityId: string): Promise<string | undefined> {
      const [row] = await database.query<{ id: string }>(
        'SELECT id FROM cases WHERE org_id = $1 AND entity_id = $2 AND review_id IS NULL',
        [organizationId, entityId],
      )
      return row?.id
    },

    /** The oldest open case that no operator has taken, and that this one could decide or sign second. */
    async oldestFree(organizationId: string, operatorId: string): Promise<RowOf<'cases'> | undefined> {
      const [row] = await database.query<RowOf<'cases'> & Row>(
        'SELECT * FROM cases WHERE org_id = $1 AND review_id IS NULL AND assignee_id IS NULL AND signer_id IS DISTINCT FROM $2 ORDER BY id LIMIT 1',
        [organizationId, operatorId],
      )
      return row
    },

    /** Counts open cases: all, those of an operator, free ones, and those that were opened before a time. */
    async counts(
      organizationId: string,
      { operatorId, openedBefore }: { operatorId: string; openedBefore: string },
    ): Promise<CaseCounts> {
      const [row] = await database.query<CaseCounts & Row>(
        `SELECT count(*) AS all, count(*) FILTER (WHERE assignee_id = $2) AS mine, count(*) FILTER (WHERE assignee_id IS NULL) AS free,
           count(*) FILTER (WHERE signature_id IS NOT NULL AND signer_id <> $2) AS to_sign,
           count(*) FILTER (WHERE opened_at < $3::timestamptz) AS overdue, min(opened_at) AS oldest_opened_at
         FROM (SELECT assignee_id, signature_id, signer_id, opened_at FROM cases WHERE org_id = $1 AND review_id IS NULL ORDER BY id LIMIT $4) AS counted`,
        [organizationId, operatorId, openedBefore, CASES_COUNTED_MAX],
      )
      return row!
    },

    /** The decisions of a case that wait for a review, newest first. */
    async waitingDecisions(organizationId: string, caseId: string, limit: number): Promise<WaitingDecision[]> {
      const decisions = await database.query<DecisionRow & Row>(
        `SELECT decision.* FROM (SELECT decision_id FROM waiting_reviews WHERE org_id = $1 AND case_id = $2 ORDER BY decision_id DESC LIMIT $3) AS waiting
         JOIN decisions AS decision ON decision.org_id = $1 AND decision.id = waiting.decision_id
         ORDER BY decision.id DESC`,
        [organizationId, caseId, limit],
      )
      return withDocuments(database, decisions)
    },

    /** Decisions about the entity of a case since it was opened, and until it was closed, newest first. */
    async decisions({ org_id, entity_id, id }: RowOf<'cases'>, closedAt: string | null): Promise<DecisionOfCase[]> {
      return database.query<DecisionOfCase & Row>(
        `SELECT decision.*, waiting.decision_id IS NOT NULL AS is_waiting, review.body AS review_body
         FROM (SELECT * FROM decisions WHERE org_id = $1 AND entity_id = $2 AND id >= $3
           AND ($4::timestamptz IS NULL OR created_at <= $4) ORDER BY id DESC LIMIT ${DECISIONS_LISTED_MAX}) AS decision
         LEFT JOIN waiting_reviews AS waiting ON waiting.org_id = decision.org_id AND waiting.decision_id = decision.id
         LEFT JOIN LATERAL (SELECT body FROM reviews WHERE reviews.org_id = decision.org_id
           AND reviews.decision_id = decision.id ORDER BY id DESC LIMIT 1) AS review ON true
         ORDER BY decision.id DESC`,
        [org_id, entity_id, `dec_${id.slice(4)}`, closedAt],
      )
    },

    /** The review with this id, as returned to its caller. */
    async reviewBody(organizationId: string, id: string): Promise<string | undefined> {
      const [row] = await database.query<{ body: string }>('SELECT body FROM reviews WHERE org_id = $1 AND id = $2', [
        organizationId,
        id,
      ])
      return row?.body
    },

    /** The newest reviews of decisions about an entity, newest first, as returned to their callers. */
    async reviewsOfEntity(organizationId: string, entityId: string, limit: number): Promise<string[]> {
      const rows = await database.query<{ body: string }>(
        'SELECT body FROM reviews WHERE org_id = $1 AND entity_id = $2 ORDER BY id DESC LIMIT $3',
        [organizationId, entityId, limit],
      )
      return rows.map(({ body }) => body)
    },

    /** The newest notes of a case, oldest first. */
    async notes(organizationId: string, caseId: string): Promise<RowOf<'case_notes'>[]> {
      const rows = await database.query<RowOf<'case_notes'> & Row>(
        `SELECT * FROM case_notes WHERE org_id = $1 AND case_id = $2 ORDER BY id DESC LIMIT ${NOTES_LISTED_MAX}`,
        [organizationId, caseId],
      )
      return rows.reverse()
    },
  }
}

/** A case as it is read, before the documents of its decision are. */
type DescribedCase = Omit<CaseWithDecision, 'documents'> & { flush: number }

async function withDecisions(database: Database, rows: readonly DescribedCase[]): Promise<CaseWithDecision[]> {
  const documents = await readDocuments(
    database,
    rows.map(({ org_id, decision_id, flush }) => ({ org_id, id: decision_id, flush })),
  )
  return rows.map(({ flush: _, ...row }, index) => ({ ...row, documents: documents[index]! }))
}

/** The page of cases that a filter selects, by an index that has their order. */
function pageStatement(
  { organizationId, state, holder, openedBefore, after, limit }: CaseFilter,
  params: Params,
): string {
  const isOpen = state === 'open'
  const conditions = [
    `org_id = ${params.add(organizationId, 'text')}`,
    `review_id IS ${isOpen ? 'NULL' : 'NOT NULL'}`,
    ...(holder === 'free' ? ['assignee_id IS NULL'] : []),
    ...(typeof holder === 'object' && 'assigneeId' in holder
      ? [`assignee_id = ${params.add(holder.assigneeId, 'text')}`]
      : []),
    ...(typeof holder === 'object' && 'secondSignerId' in holder
      ? [`signature_id IS NOT NULL AND signer_id <> ${params.add(holder.secondSignerId, 'text')}`]
      : []),
    ...(openedBefore === undefined ? [] : [`opened_at < ${params.add(openedBefore, 'timestamptz')}`]),
    ...(after === undefined ? [] : [`${isOpen ? 'id >' : 'review_id <'} ${params.add(after, 'text')}`]),
    // Of an erased entity there is nothing to show; what is not shown must not count towards the page.
    'EXISTS (SELECT FROM entities WHERE entities.org_id = cases.org_id AND entities.id = cases.entity_id)',
  ]
  const order = isOpen ? 'id' : 'review_id DESC'
  return `SELECT * FROM cases WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${params.add(limit, 'integer')}`
}

/** Everything that a row of the queue shows about each case of a page; `today` is in days since 1970. */
function describeStatement(page: string, today: string): string {
  const minimum = (name: string) => `(policy.document::json #>> '{verdicts,${name}}')::integer AS ${name}`
  return `SELECT page.*, entity.display_name AS entity_name, entity.external_id, entity.type AS entity_type, entity.country,
      entity.created_at AS entity_since, decision.id AS decision_id, decision.product, decision.risk_tier,
      decision.created_at AS decided_at, decision.requested_amount, decision.currency, decision.flush,
      ${minimum('confidence_min_ppm')}, ${minimum('completeness_min_ppm')}, review.body AS review_body,
      (SELECT count(*) FROM (SELECT 1 FROM reviews AS prior WHERE prior.org_id = page.org_id AND prior.entity_id = page.entity_id
        AND (page.review_id IS NULL OR prior.id < page.review_id) LIMIT ${PRIOR_COUNTED_MAX}) AS counted) AS prior_reviews,
      coalesce(links.neighbours, 0) AS neighbours, coalesce(links.bad_neighbours, 0) AS bad_neighbours
    FROM (${page}) AS page
    JOIN entities AS entity ON entity.org_id = page.org_id AND entity.id = page.entity_id
    LEFT JOIN reviews AS review ON review.org_id = page.org_id AND review.id = page.review_id
    LEFT JOIN LATERAL (SELECT decision_id FROM waiting_reviews AS waiting
      WHERE waiting.org_id = page.org_id AND waiting.case_id = page.id ORDER BY decision_id DESC LIMIT 1) AS newest ON true
    JOIN decisions AS decision ON decision.org_id = page.org_id AND decision.id = coalesce(newest.decision_id, review.decision_id)
    LEFT JOIN policies AS policy ON policy.org_id = decision.org_id AND policy.version = decision.policy_version
    LEFT JOIN LATERAL (SELECT count(DISTINCT neighbour_id) AS neighbours, count(DISTINCT neighbour_id) FILTER (WHERE to_adverse) AS bad_neighbours
      FROM (SELECT neighbour_id, to_adverse FROM graph_links AS link WHERE link.org_id = page.org_id AND link.entity_id = page.entity_id
        AND link.expires > ${today} LIMIT ${LINKS_COUNTED_MAX}) AS counted) AS links ON true`
}
