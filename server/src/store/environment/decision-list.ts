import type { OutcomeType, Verdict } from '../../core/vocabularies.ts'
import type { Database, Row } from '../database/database.ts'
import { Params } from '../schema/tables.ts'
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

/** Policies bound the kinds of decisions (verdict, tier, version); this bounds what a stored policy of any size costs. */
const KINDS_MAX = 2_000
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
      const search = searchOf(organizationId, { filter, after, limit, params })
      const found = await database.query<{ id: string; is_match: boolean }>(search, params.values)
      const ids = found.filter(({ is_match }) => is_match).map(({ id }) => id)
      const decisions = await readRows(database, organizationId, ids.slice(0, limit))
      if (ids.length > limit) return { decisions, next: ids[limit - 1]!, is_cut_short: false }
      const last = found.find(({ is_match }) => !is_match)
      return { decisions, next: last?.id ?? null, is_cut_short: last !== undefined }
    },

    /** The tiers, policy versions and products that occur in decisions, by one index look-up each. */
    async vocabulary(organizationId: string): Promise<DecisionVocabulary> {
      const params = new Params()
      const organization = params.add(organizationId, 'text')
      const kinds = await database.query<{ risk_tier: string; policy_version: string }>(
        `WITH RECURSIVE ${kindsOf(organization)} SELECT DISTINCT risk_tier, policy_version FROM kinds`,
        params.values,
      )
      const next = (after: string) =>
        `(SELECT product FROM decisions WHERE org_id = $1 ${after} ORDER BY product LIMIT 1)`
      const products = await database.query<{ product: string }>(
        `WITH RECURSIVE found (product) AS (
           SELECT ${next('')} UNION ALL SELECT ${next('AND product > found.product')} FROM found WHERE found.product IS NOT NULL
         ) SELECT product FROM found WHERE product IS NOT NULL LIMIT ${PRODUCTS_MAX}`,
        [organizationId],
      )
      return {
        tiers: [...new Set(kinds.map(({ risk_tier }) => risk_tier))].sort(),
        policyVersions: [...new Set(kinds.map(({ policy_version }) => policy_version))].sort(),
        products: products.map(({ product }) => product),
      }
    },
  }
}

interface Search {
  filter: DecisionFilter
  after: string | undefined
  limit: number
  params: Params
}

/**
 * Selects the ids of a page and one more, newest first; then, if it looked at as many decisions as one call may, the last of
 * these with `is_match` false.
 */
function searchOf(organizationId: string, { filter, after, limit, params }: Search): string {
  const organization = params.add(organizationId, 'text')
  const within = (id: string) =>
    [
      ...(after ? [`${id} < ${params.add(after, 'text')}`] : []),
      ...(filter.fromId ? [`${id} >= ${params.add(filter.fromId, 'text')}`] : []),
      ...(filter.beforeId ? [`${id} < ${params.add(filter.beforeId, 'text')}`] : []),
    ].map((condition) => ` AND ${condition}`)
  const size = params.add(limit + 1, 'bigint')
  if (isByKind(filter)) return searchByKind(filter, { organization, size, params, within })
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

/** What `decisions_by_kind` has, by its columns. */
const KIND_COLUMNS = { verdict: 'verdict', tier: 'risk_tier', policyVersion: 'policy_version' } as const satisfies {
  [Name in Criterion]?: string
}

/** Whether the filter names only what `decisions_by_kind` has. */
function isByKind(filter: DecisionFilter): boolean {
  const given = criteriaOf(filter)
  return given.length > 0 && given.every((name) => name in KIND_COLUMNS)
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

/** Reads the newest decisions of each kind that matches, and merges them: no decision is looked at in vain. */
function searchByKind(
  filter: DecisionFilter,
  { organization, size, params, within }: Parts & { size: string },
): string {
  const wanted = (Object.keys(KIND_COLUMNS) as (keyof typeof KIND_COLUMNS)[]).filter((name) => filter[name])
  const matching = wanted.map((name) => `kinds.${KIND_COLUMNS[name]} = ${params.add(filter[name], 'text')}`)
  return `WITH RECURSIVE ${kindsOf(organization)}
    SELECT decision.id, true AS is_match FROM kinds CROSS JOIN LATERAL (
      SELECT id FROM decisions WHERE org_id = ${organization} AND verdict = kinds.verdict AND risk_tier = kinds.risk_tier
        AND policy_version = kinds.policy_version${within('id').join('')} ORDER BY id DESC LIMIT ${size}) AS decision
    WHERE ${['true', ...matching].join(' AND ')} ORDER BY decision.id DESC LIMIT ${size}`
}

/**
 * The kinds of decisions that occur, by one look-up in `decisions_by_kind` each. All of them, also if only one verdict is
 * wanted: with `verdict = …` beside the comparison of rows, each look-up read all decisions with that verdict.
 */
function kindsOf(organization: string): string {
  const kind = 'verdict, risk_tier, policy_version'
  const next = (after: string) =>
    `SELECT ${kind} FROM decisions WHERE org_id = ${organization} ${after} ORDER BY ${kind} LIMIT 1`
  return `kinds (verdict, risk_tier, policy_version, number) AS (
      (SELECT found.*, 1 FROM (${next('')}) AS found)
      UNION ALL
      SELECT following.*, kinds.number + 1 FROM kinds CROSS JOIN LATERAL (
        ${next('AND (verdict, risk_tier, policy_version) > (kinds.verdict, kinds.risk_tier, kinds.policy_version)')}
      ) AS following WHERE kinds.number < ${KINDS_MAX})`
}

/** The criterion that the searched list already meets; a retraction of an outcome is still to be looked up. */
type Source = Criterion | undefined

/** The list of ids that is searched: the one that names the fewest decisions. */
function sourceOf(filter: DecisionFilter, { organization, params, within }: Parts): { source: string; by: Source } {
  const { entityId, review, outcome, product } = filter
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
  if (product)
    return {
      source: `SELECT id FROM decisions WHERE ${of('id')} AND product = ${params.add(product, 'text')}`,
      by: 'product',
    }
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
    `SELECT decision.id, decision.entity_id, entity.display_name AS entity_name, entity.external_id, decision.product,
       decision.verdict, decision.risk_tier, decision.policy_version, ${FIGURE_COLUMNS},
       decision.created_at, ${REVIEW_COLUMNS}, outcomes_newest.type AS outcome
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
