import type { OutcomeType, Verdict } from '../../core/vocabularies.ts'
import type { Database, Row } from '../database/database.ts'
import { Params } from '../schema/tables.ts'
import { erasedName } from './erasures.ts'
import { NOT_RETRACTED } from './outcomes.ts'
import { FIGURE_COLUMNS, type NewestDecision } from './overview.ts'
import { NEWEST_REVIEW, REVIEW_COLUMNS } from './reviews.ts'

/** Whether a person has looked at a decision: it waits for its first review, or it has one. */
export const REVIEW_STATES = ['waiting', 'reviewed'] as const

/** Which decisions are wanted. */
export interface DecisionFilter {
  verdict?: Verdict | undefined
  tier?: string | undefined
  policyVersion?: string | undefined
  product?: string | undefined
  entityId?: string | undefined
  review?: (typeof REVIEW_STATES)[number] | undefined
  /** An outcome that counts was recorded with this type, whichever came after it. */
  outcome?: OutcomeType | undefined
  /** Ids, which sort by time. */
  fromId?: string | undefined
  beforeId?: string | undefined
}

/** A decision as a list shows it. */
export interface DecisionRow extends NewestDecision {
  policy_version: string
  reference: string | null
  /** The type of the newest outcome. */
  outcome: string | null
}

/** One page of a list of decisions, newest first. */
export interface DecisionPage {
  decisions: DecisionRow[]
  /** The id after which the next page begins. */
  next: string | null
  /** The search ended at `next` because it had looked at as many decisions as one call may. */
  is_cut_short: boolean
}

/** The values that decisions can be filtered by. */
export interface DecisionVocabulary {
  tiers: string[]
  policyVersions: string[]
  products: string[]
}

/** The most decisions that one call looks at where no index has the whole filter: about 30 ms of a PostgreSQL server. */
export const DECISIONS_SEARCHED_MAX = 10_000

/** The most kinds of decisions that are looked up. An organization with more of them, such as of products, has its lists searched. */
export const KINDS_MAX = 2_000
const PRODUCTS_MAX = 200

/** Reads of decisions for lists. None of them counts, and each looks at a bounded number of rows. */
export function decisionListQueries(database: Database) {
  return {
    /** Lists decisions, newest first. */
    async page(
      organizationId: string,
      filter: DecisionFilter,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<DecisionPage> {
      const params = new Params()
      const kinds = await matchingKinds(database, organizationId, filter)
      if (kinds?.length === 0) return { decisions: [], next: null, is_cut_short: false }
      const search = searchOf(organizationId, { filter, kinds, after, limit, params })
      const found = await database.query<{ id: string; is_match: boolean }>(search, params.values)
      const ids = found.filter(({ is_match }) => is_match).map(({ id }) => id)
      const decisions = await readRows(database, organizationId, ids.slice(0, limit))
      if (ids.length > limit) return { decisions, next: ids[limit - 1]!, is_cut_short: false }
      const last = found.find(({ is_match }) => !is_match)
      return { decisions, next: last?.id ?? null, is_cut_short: last !== undefined }
    },

    /** The tiers, policy versions and products that occur in decisions. */
    async vocabulary(organizationId: string): Promise<DecisionVocabulary> {
      const kinds = await readKinds(database, organizationId)
      const namesOf = (column: keyof Kind) => [...new Set(kinds.map((kind) => kind[column]))].sort()
      return {
        tiers: namesOf('risk_tier'),
        policyVersions: namesOf('policy_version'),
        products: namesOf('product').slice(0, PRODUCTS_MAX),
      }
    },
  }
}

/** What the decisions of one kind have in common. */
type Kind = Record<'verdict' | 'risk_tier' | 'policy_version' | 'product', string>

/** The kinds of decisions that occur, by two look-ups in `decisions_by_kind` each; `KINDS_MAX` of them if there are more. */
async function readKinds(database: Database, organizationId: string): Promise<(Kind & { kind: string })[]> {
  const next = (after: string) => `(SELECT kind FROM decisions WHERE org_id = $1 ${after} ORDER BY kind LIMIT 1)`
  return database.query<Kind & { kind: string } & Row>(
    `WITH RECURSIVE kinds (kind, number) AS (
       SELECT ${next('')}, 1
       UNION ALL SELECT ${next('AND kind > kinds.kind')}, number + 1 FROM kinds WHERE kind IS NOT NULL AND number < ${KINDS_MAX})
     SELECT kinds.kind::text, one.verdict, one.risk_tier, one.policy_version, one.product FROM kinds CROSS JOIN LATERAL (
       SELECT * FROM decisions WHERE org_id = $1 AND kind = kinds.kind LIMIT 1) AS one`,
    [organizationId],
  )
}

interface Search {
  filter: DecisionFilter
  /** The kinds that the filter wants, if nothing else matters. */
  kinds: readonly string[] | undefined
  after: string | undefined
  limit: number
  params: Params
}

/**
 * Selects the ids of a page and one more, newest first; then, if it looked at as many decisions as one call may, the last of
 * these with `is_match` false.
 */
function searchOf(organizationId: string, { filter, kinds, after, limit, params }: Search): string {
  const organization = params.add(organizationId, 'text')
  const within = (id: string) =>
    [
      ...(after ? [`${id} < ${params.add(after, 'text')}`] : []),
      ...(filter.fromId ? [`${id} >= ${params.add(filter.fromId, 'text')}`] : []),
      ...(filter.beforeId ? [`${id} < ${params.add(filter.beforeId, 'text')}`] : []),
    ].map((condition) => ` AND ${condition}`)
  const size = params.add(limit + 1, 'bigint')
  if (kinds) return searchByKind(kinds, { organization, size, params, within })
  const { source, by } = sourceOf(filter, { organization, params, within })
  const conditions = conditionsOf(filter, { by, organization, params })
  return `WITH searched AS MATERIALIZED (${source} ORDER BY id DESC LIMIT ${DECISIONS_SEARCHED_MAX}),
    found AS (
      SELECT searched.id FROM (SELECT id FROM searched ORDER BY id DESC) AS searched CROSS JOIN LATERAL (
        SELECT * FROM decisions WHERE org_id = ${organization} AND id = searched.id LIMIT 1) AS decision
      WHERE ${['true', ...conditions].join(' AND ')} ORDER BY searched.id DESC LIMIT ${size})
    SELECT id, true AS is_match FROM found
    UNION ALL (SELECT min(id), false FROM searched HAVING count(*) >= ${DECISIONS_SEARCHED_MAX})
    ORDER BY is_match DESC, id DESC`
}

/** The names of a filter on what a decision is, as opposed to when it was made. */
type Criterion = Exclude<keyof DecisionFilter, 'fromId' | 'beforeId'>

/** The criteria that are parts of a kind, and their columns. */
const KIND_COLUMNS = {
  verdict: 'verdict',
  tier: 'risk_tier',
  policyVersion: 'policy_version',
  product: 'product',
} as const satisfies { [Name in Criterion]?: keyof Kind }

/** The kinds that a filter wants, if it names nothing else; undefined if it does, or if there are too many kinds to know all. */
async function matchingKinds(
  database: Database,
  organizationId: string,
  filter: DecisionFilter,
): Promise<string[] | undefined> {
  const given = criteriaOf(filter)
  if (given.length === 0 || !given.every((name) => name in KIND_COLUMNS)) return undefined
  const wanted = given as (keyof typeof KIND_COLUMNS)[]
  const kinds = await readKinds(database, organizationId)
  if (kinds.length === KINDS_MAX) return undefined
  return kinds
    .filter((kind) => wanted.every((name) => kind[KIND_COLUMNS[name]] === filter[name]))
    .map(({ kind }) => kind)
}

function criteriaOf(filter: DecisionFilter): Criterion[] {
  return (Object.keys(CONDITIONS) as Criterion[]).filter((name) => filter[name])
}

interface Parts {
  organization: string
  params: Params
  /** Conditions on an id: after the page before, and within the dates. */
  within: (id: string) => string[]
}

/** Reads the newest decisions of each of these kinds, and merges them: no decision is looked at in vain. */
function searchByKind(
  kinds: readonly string[],
  { organization, size, params, within }: Parts & { size: string },
): string {
  return `SELECT decision.id, true AS is_match FROM unnest(${params.add(kinds, 'bigint[]')}) AS wanted (kind) CROSS JOIN LATERAL (
      SELECT id FROM decisions WHERE org_id = ${organization} AND kind = wanted.kind${within('id').join('')}
      ORDER BY id DESC LIMIT ${size}) AS decision
    ORDER BY decision.id DESC LIMIT ${size}`
}

/** The criterion that the searched list already meets; a retraction of an outcome is still to be looked up. */
type Source = Criterion | undefined

/** The list of ids that is searched: the one that names the fewest decisions. */
function sourceOf(filter: DecisionFilter, { organization, params, within }: Parts): { source: string; by: Source } {
  const { entityId, review, outcome } = filter
  const of = (id: string) => `org_id = ${organization}${within(id).join('')}`
  if (entityId)
    return {
      source: `SELECT id FROM decisions WHERE ${of('id')} AND entity_id = ${params.add(entityId, 'text')}`,
      by: 'entityId',
    }
  if (review === 'waiting')
    return { source: `SELECT decision_id AS id FROM waiting_reviews WHERE ${of('decision_id')}`, by: 'review' }
  if (outcome)
    return {
      source: `SELECT DISTINCT decision_id AS id FROM outcomes WHERE ${of('decision_id')} AND type = ${params.add(outcome, 'text')}`,
      by: 'outcome',
    }
  if (review === 'reviewed')
    return { source: `SELECT DISTINCT decision_id AS id FROM reviews WHERE ${of('decision_id')}`, by: 'review' }
  return { source: `SELECT id FROM decisions WHERE ${of('id')}`, by: undefined }
}

/** The condition of each criterion on the rows `decision` and `searched`, with its value as a parameter. */
const CONDITIONS: {
  readonly [Name in Criterion]: (value: NonNullable<DecisionFilter[Name]>, parts: ConditionParts) => string
} = {
  verdict: (verdict, { params }) => `decision.verdict = ${params.add(verdict, 'text')}`,
  tier: (tier, { params }) => `decision.risk_tier = ${params.add(tier, 'text')}`,
  policyVersion: (version, { params }) => `decision.policy_version = ${params.add(version, 'text')}`,
  product: (product, { params }) => `decision.product = ${params.add(product, 'text')}`,
  entityId: (entityId, { params }) => `decision.entity_id = ${params.add(entityId, 'text')}`,
  review: (review, { has }) => has(review === 'waiting' ? 'waiting_reviews' : 'reviews'),
  outcome: (outcome, { has, params }) =>
    has('outcomes', `AND type = ${params.add(outcome, 'text')} AND ${NOT_RETRACTED}`),
}

interface ConditionParts {
  params: Params
  /** That a table has a row about the searched decision. */
  has: (table: string, more?: string) => string
}

/** What the searched decisions still have to be. */
function conditionsOf(
  filter: DecisionFilter,
  { by, organization, params }: { by: Source; organization: string; params: Params },
): string[] {
  const has = (table: string, more = '') =>
    `EXISTS (SELECT 1 FROM ${table} WHERE ${table}.org_id = ${organization} AND ${table}.decision_id = searched.id ${more})`
  // Of the searched outcomes too: a retraction is looked up for those that are shown alone.
  return criteriaOf(filter)
    .filter((name) => name !== by || name === 'outcome')
    .map((name) => CONDITIONS[name](filter[name] as never, { params, has }))
}

/** One index look-up for each row, by LIMIT 1: for 500 ids of 40,000 decisions the planner would read all of them. */
async function readRows(database: Database, organizationId: string, ids: readonly string[]): Promise<DecisionRow[]> {
  if (ids.length === 0) return []
  const one = (table: string, id: string, is: string) =>
    `(SELECT * FROM ${table} WHERE org_id = $1 AND ${id} = ${is} LIMIT 1)`
  return database.query<DecisionRow & Row>(
    `SELECT decision.id, decision.entity_id, CASE WHEN entity.id IS NULL THEN ${erasedName('$1', 'decision.entity_id')} ELSE entity.display_name END AS entity_name,
       entity.external_id, decision.product,
       decision.verdict, decision.risk_tier, decision.policy_version, ${FIGURE_COLUMNS},
       decision.reference, decision.created_at, ${REVIEW_COLUMNS}, outcomes_newest.type AS outcome
     FROM unnest($2::text[]) AS wanted (id)
     CROSS JOIN LATERAL ${one('decisions', 'id', 'wanted.id')} AS decision
     LEFT JOIN LATERAL ${one('entities', 'id', 'decision.entity_id')} AS entity ON true
     ${NEWEST_REVIEW}
     LEFT JOIN LATERAL (SELECT type FROM outcomes WHERE outcomes.org_id = $1 AND outcomes.decision_id = decision.id
       AND ${NOT_RETRACTED} ORDER BY id DESC LIMIT 1) AS outcomes_newest ON true
     ORDER BY decision.id DESC`,
    [organizationId, ids],
  )
}
