import type { Documents } from '../documents/segment.ts'
import type { Seal } from '../power/row-mac.ts'
import type { NewRow, PlainTable, RowOf } from '../schema/tables.ts'
import type { AuditEntryRow, AuthenticatedEntryRow, EventRow } from './record.ts'

/**
 * Everything that one request or act writes for one organization: whole, or not at all if it loses a race. Rows carry no
 * `org_id`; the batch statement adds it (`ofOrganization`).
 */
export interface Change {
  organizationId: string
  /** The request's idempotency key, with what answers a retry; loses if the key was written first. */
  idempotencyKey?: NewRow<'idempotency_keys'>
  /** Set if the act is not done with this change: the idempotency key of a call comes with a later one. */
  isStep?: boolean
  /** Loses if an entity with the same `external_id` was written first. */
  newEntities?: NewRow<'entities'>[]
  /** Each with its next version; loses if that version was written first. Queues a re-evaluation of the latest decision. */
  changedEntities?: NewRow<'entities'>[]
  /** Recorded transactions as they are from now on; the version of their entity is the precondition of all of them. */
  changedTransactions?: NewRow<'transactions'>[]
  /** Accounts as the last that was said of them. */
  bankAccounts?: NewRow<'bank_accounts'>[]
  /** Sources of data; those that are known already stay as they are. */
  dataSources?: NewRow<'data_sources'>[]
  /** Each with its next version; loses if that version was written first. */
  changedTrackRecords?: NewRow<'graph_track_records'>[]
  /**
   * The open offers of every entity that the decision was made on, each with its next version; loses if that version was written
   * first, so that requests at the same time cannot each get the whole limit.
   */
  changedOffers?: NewRow<'open_offers'>[]
  /** The claims that were read, each with its next optimistic-lock version; loses if that version was written first. */
  claims?: NewRow<'graph_claims'>[]
  /** Keys with one time set or cleared; loses if another change of the key was written first. */
  changedKeys?: KeyChange[]
  /** Decisions with their documents. */
  decisions?: NewDecision[]
  /** Approved erasures: their entities are gone with this change. Loses if the entity was changed or erased first. */
  newErasures?: NewErasure[]
  /** Erasures that were carried out; loses if another node has ended one before. */
  endedErasures?: EndedErasure[]
  /** Rows without preconditions. The deliveries of events are queued by the same statement. */
  rows?: { [T in Exclude<PlainTable, 'events'>]?: NewRow<T>[] } & { events?: EventRow[] }
  /** Webhook endpoints, each with its next version; loses if that version was written first. */
  changedEndpoints?: NewRow<'webhook_endpoints'>[]
  /** Deliveries to make, or to make again, from the first step of the schedule. */
  queuedDeliveries?: NewRow<'webhook_deliveries'>[]
  /** Verdicts that changed on re-evaluation; loses if another was announced first, or the decision is no longer the latest. */
  turnedVerdicts?: TurnedVerdict[]
  /** Cases that an operator takes, gives back or decides; loses if the case is not as it was read. */
  changedCases?: CaseChange[]
  /** Scenarios of the playground to rename or replace; loses if one was removed. */
  changedScenarios?: ScenarioChange[]
  /** Loses if a scenario was removed first. */
  removedScenarios?: { id: string }[]
  /** Ends running backtests; loses if one has ended before. */
  endedBacktests?: EndedBacktest[]
  /** Results of backtests to delete; loses if one was deleted first. */
  deletedBacktests?: { id: string }[]
  /** Links of the trust graph as they stand after this change. */
  links?: NewRow<'graph_links'>[]
  removedLinks?: Pick<RowOf<'graph_links'>, 'entity_id' | 'neighbour_id' | 'type' | 'claim'>[]
  paymentFlows?: NewRow<'payment_flows'>[]
  /** Follow-up work to queue; the statement itself queues the re-evaluation of changed entities. */
  consequences?: NewRow<'consequences'>[]
  auditEntries?: AuditEntryRow[]
  /** Counts to add. */
  usage?: NewRow<'usage_by_day'>[]
}

/** The verdict of an entity's latest decision on current facts, and the one that was announced before. */
export type TurnedVerdict = NewRow<'turned_verdicts'> & { entity_id: string }

/** A row with its organization. */
export interface OfOrganization {
  org_id: string
}

/** A decision with what is written beside its row: the documents, and what the worker checks for facts recorded meanwhile. */
export type NewDecision = NewRow<'decisions'> & { documents: Documents; madeOn: string }

/** The next version of an API key; `was` is the entry of the version that it replaces. */
export type KeyChange = Pick<NewRow<'api_keys'>, 'id' | 'retires_at' | 'disabled_at' | 'revoked_at' | keyof Seal> & {
  was: string
}

/** Who works on a case from now on; `was` and `waiting` are what the operator saw. */
export interface CaseChange {
  id: string
  assignee_id: string | null
  assigned_at: string | null
  was: string | null
  /** The first of two signatures from now on, with who gave it; and what it was before. */
  signature_id: string | null
  signer_id: string | null
  was_signature: string | null
  /** How many decisions of the case waited for a review. */
  waiting: number
}

/** A scenario of the playground that an operator saves again; null leaves its name or its request as it is. */
export interface ScenarioChange {
  id: string
  name: string | null
  request: string | null
  saved_by: string
  saved_at: string
}

/** An erasure that two people approved. */
export interface NewErasure {
  entity_id: string
  /** The version of the entity that they saw. */
  version: number
  /** The audit entry `entity.erased`, which is written with the same change. */
  entry_id: string
  approved_at: string
}

/** How far an erasure was carried out; null where it is as before. */
export interface EndedErasure {
  entity_id: string
  /** When all was gone but what its decisions were made from. */
  done_at: string | null
  /** When that was gone too. */
  decisions_done_at: string | null
}

/** A backtest that ends, and why it has no result if it has none. */
export interface EndedBacktest {
  run_id: string
  failure: string | null
}

/** A change whose audit entries have their MAC, as it is written. */
export type AuthenticatedChange = Omit<Change, 'auditEntries'> & { auditEntries?: AuthenticatedEntryRow[] }

/** Why a change was not written: the precondition that it lost to a concurrent writer, or the lost answer. */
export type Lost =
  | 'idempotency_key'
  | 'new_entity'
  | 'entity_version'
  | 'claim_version'
  | 'open_offers'
  | 'api_key'
  | 'turned_verdict'
  | 'endpoint_version'
  | 'case'
  | 'scenario'
  | 'backtest'
  | 'erasure'
  /** The entity of a decision was erased. */
  | 'erased'
  /** PostgreSQL, or a proxy before it, did not name the precondition. */
  | 'unnamed'
  /** The database's answer was lost, and the change was then found not to be written. */
  | 'no_answer'

/** What became of a change: written, or lost and not written at all. */
export type Committed = { lost?: Lost }

/** A row that only this change writes, because its id was made for it. */
export interface OwnRow {
  table: 'audit_entries' | 'events'
  organizationId: string
  id: string
}

/** A row that shows whether a change was written, if the change has one. */
export function ownRowOf({ organizationId, auditEntries = [], rows }: Change): OwnRow | undefined {
  const [entry] = auditEntries
  if (entry) return { table: 'audit_entries', organizationId, id: entry.id }
  const event = rows?.events?.[0]
  return event && { table: 'events', organizationId, id: event.id }
}
