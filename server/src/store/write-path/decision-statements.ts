import { packSegment, splitIntoSegments } from '../documents/segment.ts'
import { columnsOf, type Params, unnestAs, unnestRows } from '../schema/tables.ts'
import type { NewDecision } from './change.ts'
import { FLUSH } from './flush-number.ts'

/** Ids come from the clocks of nodes, so the latest decision need not have the highest; it is among this many. */
const LATEST_SOUGHT_AMONG = 20

type WrittenDecision = NewDecision & { org_id: string }

/** `INSERT` of decisions, each with the number of the statement. */
export function insertDecisions(decisions: readonly WrittenDecision[], params: Params): string {
  return `INSERT INTO decisions (${columnsOf('decisions').join(', ')}, flush)
    SELECT row.*, ${FLUSH} FROM ${unnestRows('decisions', decisions, params)} AS row`
}

/** `INSERT` of the documents of decisions, those of each organization packed together. */
export function insertDocuments(decisions: readonly WrittenDecision[], params: Params): string {
  const segments = [...Map.groupBy(decisions, ({ org_id }) => org_id)].flatMap(([org_id, own]) =>
    splitIntoSegments(own).map((part, index) => ({
      org_id,
      part: index,
      decision_ids: part.map(({ id }) => id).join(' '),
      content: packSegment(part.map(({ id, documents }) => ({ decision_id: id, ...documents }))),
    })),
  )
  const columns = { org_id: 'text', part: 'integer', decision_ids: 'text', content: 'bytea' }
  return `INSERT INTO document_segments (org_id, is_packed, flush, part, first_flush, decision_ids, content)
    SELECT org_id, false, ${FLUSH}, part, ${FLUSH}, string_to_array(decision_ids, ' '), content
    FROM ${unnestAs('segment', segments, columns, params)}`
}

/** SQL: whether there is a decision about an entity. */
export function hasDecision(organization: string, entity: string): string {
  return `EXISTS (SELECT 1 FROM decisions AS made WHERE made.org_id = ${organization} AND made.entity_id = ${entity})`
}

/** SQL: the latest decision about an entity: the one on its newest version, and of several the one of the latest statement. */
export function latestDecision(organization: string, entity: string): string {
  return `(SELECT * FROM (
      SELECT * FROM decisions AS made WHERE made.org_id = ${organization} AND made.entity_id = ${entity}
      ORDER BY made.id DESC LIMIT ${LATEST_SOUGHT_AMONG}) AS newest
    ORDER BY newest.entity_version DESC, newest.flush DESC, newest.id DESC LIMIT 1)`
}
