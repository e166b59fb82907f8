import { packSegment, splitIntoSegments } from '../documents/segment.ts'
import { columnsOf, ofOrganization, type Params, unnestAs, unnestRows } from '../schema/tables.ts'
import type { AuthenticatedChange, NewDecision } from './change.ts'
import { FLUSH } from './flush-number.ts'

/** Ids come from the clocks of nodes, so the latest decision need not have the highest; it is among this many. */
const LATEST_SOUGHT_AMONG = 20

type WrittenDecision = NewDecision & { org_id: string }

/** `INSERT` of decisions, each with the number of the statement. One about an entity that was erased meanwhile is not written. */
export function insertDecisions(decisions: readonly WrittenDecision[], params: Params): string {
  const columns = columnsOf('decisions').join(', ')
  return `INSERT INTO decisions (${columns}, flush)
    SELECT row.*, ${FLUSH} FROM ${unnestRows('decisions', decisions, params)} AS row (${columns})
    WHERE NOT EXISTS (SELECT FROM erasures WHERE erasures.org_id = row.org_id AND erasures.entity_id = row.entity_id) RETURNING 1`
}

/** The documents of decisions of one organization, packed together. */
export interface PackedDocuments {
  org_id: string
  part: number
  decision_ids: string
  content: Uint8Array
}

/** Packs the documents of the decisions that some changes write, those of each organization together. */
export async function packDocuments(
  changes: readonly Pick<AuthenticatedChange, 'organizationId' | 'decisions'>[],
): Promise<PackedDocuments[]> {
  const decisions = changes.flatMap(({ organizationId, decisions = [] }) => ofOrganization(organizationId, decisions))
  const parts = [...Map.groupBy(decisions, ({ org_id }) => org_id)].flatMap(([org_id, own]) =>
    splitIntoSegments(own).map((part, index) => ({ org_id, part: index, decisions: part })),
  )
  return Promise.all(
    parts.map(async ({ org_id, part, decisions }) => ({
      org_id,
      part,
      decision_ids: decisions.map(({ id }) => id).join(' '),
      content: await packSegment(decisions.map(({ id, documents }) => ({ decision_id: id, ...documents }))),
    })),
  )
}

/** `INSERT` of the packed documents of decisions. */
export function insertDocuments(segments: readonly PackedDocuments[], params: Params): string {
  const columns = { org_id: 'text', part: 'integer', decision_ids: 'text', content: 'bytea' }
  return `INSERT INTO document_segments (org_id, is_packed, flush, part, first_flush, decision_ids, content)
    SELECT org_id, false, ${FLUSH}, part, ${FLUSH}, string_to_array(decision_ids, ' '), content
    FROM ${unnestAs('segment', segments, columns, params)}`
}

/** `INSERT` of what decisions were made on, a row for each organization. A fact committed meanwhile did not see them, so it queued no re-evaluation. */
export function queueChecks(decisions: readonly WrittenDecision[], params: Params): string {
  const checks = [...Map.groupBy(decisions, ({ org_id }) => org_id)].map(([org_id, own]) => ({
    org_id,
    made_on: own.map(({ madeOn }) => madeOn).join(' '),
  }))
  return `INSERT INTO unchecked_decisions (org_id, flush, made_on)
    SELECT org_id, ${FLUSH}, made_on FROM ${unnestAs('made', checks, { org_id: 'text', made_on: 'text' }, params)}`
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
