import type { Static, TObject } from 'typebox'
import { invalid, notFound } from '../../admin/problem.ts'
import { recordExport } from '../../admin/record-export.ts'
import { keyId } from '../../core/audit/checkpoint.ts'
import { NOT_BLANK, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { OUTCOME_TYPES, VERDICTS } from '../../core/vocabularies.ts'
import { lowestIdAt } from '../../ids/new-id.ts'
import { REVIEW_STATES } from '../../store/environment/decision-list.ts'
import type { RecordedDecision } from '../../store/environment/decisions.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { entryOf } from '../../store/environment/stored-entry.ts'
import { proveEntry } from '../../underwriting/prove-entry.ts'
import { type RecordedReplay, replayRecorded } from '../../underwriting/replay-recorded.ts'
import { newestReviews } from '../decision-view/describe-review.ts'
import { describeSince } from '../decision-view/describe-since.ts'
import { describeView } from '../decision-view/describe-view.ts'
import { defineOperation } from '../define-operation.ts'
import { listedDecision } from '../figures/newest-decisions.ts'

const DECISIONS_PER_PAGE_MAX = 500
const id = Type.String({ minLength: 1, maxLength: 64 })
const Word = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength, pattern: NOT_BLANK }))

const Filter = {
  verdict: Type.Optional(OneOf(VERDICTS)),
  tier: Word(100),
  policy_version: Word(100),
  product: Word(100),
  entity_id: Word(64),
  review: Type.Optional(OneOf(REVIEW_STATES)),
  outcome: Type.Optional(OneOf(OUTCOME_TYPES)),
  from: Word(40),
  before: Word(40),
  cursor: Word(64),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: DECISIONS_PER_PAGE_MAX })),
}

/** Lists decisions, newest first, by every filter of the page. */
const listDecisions = defineOperation({
  summary: 'List decisions, newest first',
  access: 'see the console',
  input: Strict(Filter),
  audit: [],
  handle: ({ input, store, organizationId }) => pageOf(store, organizationId, input),
})

/** Reads decisions for a file, page by page. The first page puts on the log who exports, and what. */
const exportDecisions = defineOperation({
  summary: 'Read decisions for a file',
  access: recordExport.permission,
  input: Strict(Filter),
  audit: ['data.exported'],
  async handle({ input, store, organizationId, installation, act }) {
    const { cursor, limit: _, ...filter } = input
    if (cursor === undefined) await recordExport(installation, act, { list: 'decisions', filter })
    return pageOf(store, organizationId, input)
  },
})

async function pageOf(store: EnvironmentStore, organizationId: string, input: Static<TObject<typeof Filter>>) {
  const { verdict, tier, product, review, outcome, from, before, cursor, limit = 50 } = input
  const [fromMs, beforeMs] = [from, before].map((time) => (time === undefined ? undefined : Date.parse(time)))
  if (Number.isNaN(fromMs) || Number.isNaN(beforeMs))
    throw invalid('date_malformed', 'A date of the filter cannot be read.')
  const filter = {
    verdict,
    tier,
    product,
    review,
    outcome,
    policyVersion: input.policy_version,
    entityId: input.entity_id,
    fromId: fromMs === undefined ? undefined : lowestIdAt('dec', fromMs),
    beforeId: beforeMs === undefined ? undefined : lowestIdAt('dec', beforeMs),
  }
  const page = await store.decisions.page(organizationId, filter, { after: cursor, limit })
  const reviews = await newestReviews(store, organizationId, page.decisions)
  return {
    decisions: page.decisions.map((row) => ({
      ...listedDecision(row, reviews),
      policy_version: row.policy_version,
      reference: row.reference,
      outcome: row.outcome,
    })),
    next_cursor: page.next,
    /** The page is not full because one call looks at a bounded number of decisions; more may match further back. */
    is_cut_short: page.is_cut_short,
  }
}

/** Reads the values that the list of decisions can be filtered by. */
const readDecisionFilters = defineOperation({
  summary: 'The tiers, policy versions and products that decisions can be filtered by',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ store, organizationId }) {
    const { tiers, policyVersions, products } = await store.decisions.vocabulary(organizationId)
    return { tiers, policy_versions: policyVersions, products }
  },
})

/** Shows a decision with everything that led to it. The evidence is replayed for that, and compared with the recorded one. */
const showDecision = defineOperation({
  summary: 'Show a decision with its evidence',
  access: 'see the console',
  input: Strict({ id }),
  audit: [],
  async handle({ input, store, organizationId, now }) {
    const recorded = await findRecorded(store, organizationId, input.id)
    const replay = replayRecorded(recorded)
    const { entity_id: entityId, product, created_at: decidedAt } = recorded
    return {
      id: recorded.id,
      decided_at: decidedAt,
      request_id: String(replay.decision?.request_id ?? ''),
      /** The caller's own name for the request; null if it was sent without one. */
      reference: referenceIn(replay.decision),
      view: await describeView(replay, { store, organizationId, entityId, product, decidedAt, now }),
      replay: describeReplay(recorded, replay, now),
      since: await describeSince(store, organizationId, recorded.id),
      /** The decision as the API returned it; null if the stored text is no JSON object any more. */
      raw: replay.decision,
    }
  },
})

/** Decides again from the stored evidence and compares byte for byte, as `GET /v1/decisions/{id}/replay` does. */
const replayAgain = defineOperation({
  summary: 'Replay a decision and compare it byte for byte',
  access: 'see the console',
  input: Strict({ id }),
  audit: [],
  async handle({ input, store, organizationId, now }) {
    const recorded = await findRecorded(store, organizationId, input.id)
    return describeReplay(recorded, replayRecorded(recorded), now)
  },
})

/** Hands out what a browser needs to check by itself that a decision is on the signed log: texts, entry, path, head and key. */
const proveDecision = defineOperation({
  summary: 'The texts, the entry, the inclusion proof and the signed head of a decision',
  access: 'see free text',
  input: Strict({ id }),
  audit: [],
  async handle({ input, store, organizationId, environment, installation }) {
    const recorded = await findRecorded(store, organizationId, input.id)
    const { entry, body, facts, trace, graph, policy } = recorded
    const proved = await proveEntry(store, organizationId, entry)
    const { publicKey } = installation.masterKey.auditSigningKey(environment)
    return {
      log: { environment, organization_id: organizationId },
      /** The stored texts, of which the entry has the hashes; null where a row was deleted. */
      texts: { decision: body, facts, trace, graph, policy },
      entry: entry && entryOf(entry),
      /** Null until the entry is sealed, within five seconds. */
      leaf_index: proved?.leafIndex ?? null,
      inclusion_proof: proved?.proof ?? null,
      checkpoint: proved?.checkpoint ?? null,
      public_key: {
        key_id: keyId(publicKey),
        spki: publicKey.export({ type: 'spki', format: 'der' }).toString('hex'),
      },
    }
  },
})

function referenceIn(decision: RecordedReplay['decision']): string | null {
  return typeof decision?.reference === 'string' ? decision.reference : null
}

async function findRecorded(
  { decisions }: EnvironmentStore,
  organizationId: string,
  decisionId: string,
): Promise<RecordedDecision> {
  const recorded = await decisions.recorded(organizationId, decisionId)
  if (!recorded) throw notFound('decision_not_found', 'There is no such decision in this environment.')
  return recorded
}

function describeReplay(recorded: RecordedDecision, { differences, replayed }: RecordedReplay, now: string) {
  return {
    matches: differences.length === 0,
    differences: differences.map(({ path, recorded: was, replayed: is }) => ({
      path,
      recorded: was ?? null,
      replayed: is ?? null,
    })),
    /** How many bytes of decision and trace were compared; null if it could not be decided again. */
    bytes: replayed && Buffer.byteLength(recorded.body ?? '') + Buffer.byteLength(recorded.trace ?? ''),
    replayed_at: now,
  }
}

/** The operations `decisions.<verb>`. */
export const decisions = {
  list: listDecisions,
  export: exportDecisions,
  'list-filters': readDecisionFilters,
  show: showDecision,
  replay: replayAgain,
  prove: proveDecision,
}
