import type { RowOf, TableName } from '../schema/tables.ts'

/** Tables that only ever gain rows and that ask nothing of the batch. */
export type PlainTable = Exclude<
  TableName,
  | 'idempotency_keys'
  | 'entities'
  | 'audit_entries'
  | 'latest_decisions'
  | 'graph_links'
  | 'graph_claims'
  | 'graph_track_records'
  | 'payment_flows'
  | 'consequences'
  | 'webhook_deliveries'
  | 'usage_by_day'
>

/** Everything one request changes. It is written whole or not at all. */
export interface Change {
  /** The answer of the request under its idempotency key; an equal key written first makes this change lose. */
  idempotencyKey?: RowOf<'idempotency_keys'>
  /** Entities seen for the first time; a known `external_id` makes this change lose. */
  newEntities?: RowOf<'entities'>[]
  /** Entities with their next version; a version in between makes this change lose. Their latest decision is looked at again. */
  changedEntities?: RowOf<'entities'>[]
  /** Track records of entities, each with its next version; a version written in between makes this change lose. */
  changedTrackRecords?: RowOf<'graph_track_records'>[]
  /** What is spoken of, with its next version; somebody who spoke of it in between makes this change lose. */
  claims?: RowOf<'graph_claims'>[]
  /** Keys that end; one that is unknown or has ended before makes this change lose. */
  revokedKeys?: Pick<RowOf<'api_keys'>, 'org_id' | 'id' | 'revoked_at'>[]
  /** Events among them are on their way to their endpoints with the same statement. */
  rows?: { [T in PlainTable]?: RowOf<T>[] }
  /** Webhook endpoints with their next version; a version in between makes this change lose. */
  changedEndpoints?: RowOf<'webhook_endpoints'>[]
  /** Deliveries that are to be made, or made again, from the first attempt on. */
  queuedDeliveries?: RowOf<'webhook_deliveries'>[]
  /** The decision that an entity was told last. */
  latestDecisions?: RowOf<'latest_decisions'>[]
  /** Verdicts that new facts have turned; one that was announced in between makes this change lose. */
  turnedVerdicts?: (RowOf<'latest_decisions'> & { was: string })[]
  /** Links of the trust graph, as all that was said of them makes them. */
  links?: RowOf<'graph_links'>[]
  /** Links that a failed verification takes back. */
  removedLinks?: Pick<RowOf<'graph_links'>, 'org_id' | 'entity_id' | 'neighbour_id' | 'type'>[]
  paymentFlows?: RowOf<'payment_flows'>[]
  consequences?: RowOf<'consequences'>[]
  /** Consequences that are done. Written alone, because another change may write one of them anew. */
  doneConsequences?: RowOf<'consequences'>[]
  auditEntries?: RowOf<'audit_entries'>[]
  usage?: RowOf<'usage_by_day'>[]
}

/** What another node or request had written first. */
export type Lost =
  | 'idempotency_key'
  | 'new_entity'
  | 'entity_version'
  | 'claim_version'
  | 'api_key'
  | 'turned_verdict'
  | 'endpoint_version'

/** The fate of a change: on disk, or not written at all because another was first. */
export type Committed = { lost?: Lost }

/** What at most one change of a batch may touch: the second would otherwise collide with the first inside one statement. */
export function claimsOf({
  idempotencyKey,
  newEntities = [],
  changedEntities = [],
  changedTrackRecords = [],
  claims = [],
  changedEndpoints = [],
}: Change): string[] {
  return [
    ...(idempotencyKey ? [`key ${idempotencyKey.org_id} ${idempotencyKey.route} ${idempotencyKey.key}`] : []),
    ...newEntities.map((entity) => `external_id ${entity.org_id} ${entity.external_id}`),
    ...changedEntities.map((entity) => `entity ${entity.org_id} ${entity.id}`),
    ...changedTrackRecords.map(({ org_id, entity_id }) => `track record ${org_id} ${entity_id}`),
    ...claims.map(({ org_id, claim }) => `claim ${org_id} ${claim}`),
    ...changedEndpoints.map((endpoint) => `endpoint ${endpoint.org_id} ${endpoint.id}`),
  ]
}

/** All that two changes may not touch in two statements at once: what they claim, and the entities and trails they write about. */
export function touchedBy(change: Change): string[] {
  const {
    auditEntries = [],
    latestDecisions = [],
    turnedVerdicts = [],
    changedEntities = [],
    consequences = [],
  } = change
  return [
    ...claimsOf(change),
    ...auditEntries.map(({ org_id, trail_id }) => `${org_id} ${trail_id}`),
    ...changedEntities.map(({ org_id, id }) => `${org_id} ${id}`),
    ...[...latestDecisions, ...turnedVerdicts, ...consequences].map(
      ({ org_id, entity_id }) => `${org_id} ${entity_id}`,
    ),
  ]
}

/** How many rows a change writes, about. */
export function countRows({
  rows = {},
  auditEntries = [],
  links = [],
  claims = [],
  consequences = [],
  queuedDeliveries = [],
}: Change): number {
  return Object.values(rows).reduce(
    (sum, tableRows) => sum + tableRows.length,
    1 + auditEntries.length + links.length + claims.length + consequences.length + queuedDeliveries.length,
  )
}
