import type { Static } from 'typebox'
import { compileValidation } from '../../http/validation.ts'
import type { DecisionEntry } from '../../store/environment/decisions.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import type { NewRow } from '../../store/schema/tables.ts'
import { describeEvidence, parseBodies } from '../../underwriting/describe-evidence.ts'
import { proveEntry } from '../../underwriting/prove-entry.ts'
import { replayRecorded } from '../../underwriting/replay-recorded.ts'
import { fail } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { describeAuditEntry } from '../describe-audit-entry.ts'
import { AuditEntry } from '../schemas/audit-trail.ts'
import { DecisionPath, Outcome, Review, UnderwritingDecision } from '../schemas/decision.ts'
import { DecisionReplay, GraphEvidence } from '../schemas/replay.ts'

/** Stored data is checked for added fields too; the schemas of answers allow them, for later versions. */
const closed = <S extends object>(schema: S) => ({ ...schema, additionalProperties: false })
const violationsOf = compileValidation(closed(UnderwritingDecision), { pointers: 'body' })
const violationsOfEntry = compileValidation(closed(AuditEntry), { pointers: 'body' })

const violationsOfGraph = compileValidation(GraphEvidence, { pointers: 'body' })
const violationsOfReview = compileValidation(Review, { pointers: 'body' })
const violationsOfOutcome = compileValidation(Outcome, { pointers: 'body' })
const isReview = (stored: object): stored is Review => violationsOfReview(stored).length === 0
const isOutcome = (stored: object): stored is Outcome => violationsOfOutcome(stored).length === 0

/** Decides again from the stored evidence, under the policy with the recorded checksum, and compares byte for byte. */
export const replayDecision = defineEndpoint({
  operationId: 'replayDecision',
  summary: 'Replay the policy evaluation for audit',
  description:
    'Evaluates the stored facts again, under the policy with the recorded checksum, and compares the decision and its trace byte for byte. Every stored part is also compared with its hash on the audit log. `matches` is true if there is no difference; `differences` lists them. ' +
    '`evidence` explains the verdict: the step that settled it, the score, the values and thresholds of each rule, the limit and the nearest amount with a better verdict. ' +
    '`erased` is there if two operators erased the entity, or one that it was merged with at the time, and says what is left of the evidence. ' +
    '`reviews` and `outcomes` were recorded since the decision and have no part in it; they are not compared here, but by `audit verify`. ' +
    '`audit` proves that the decision is on the signed log. Its fields are null until the entry is sealed, within five seconds; a replay of an unsealed decision hurries the sealing. `inclusion_proof` is also null, and a difference, if the stored hashes no longer lead to the signed head.',
  tag: 'Decisions',
  method: 'GET',
  path: '/v1/decisions/{decision_id}/replay',
  scope: 'decisions:read',
  params: DecisionPath,
  succeeds: { 200: DecisionReplay },
  fails: ['decision_not_found'],

  async handle({ params, caller, store, environment, now, requestSeal }) {
    const { organizationId } = caller
    const recorded = await store.decisions.recorded(organizationId, params.decision_id)
    if (!recorded) return fail('decision_not_found')

    const replay = replayRecorded(recorded)
    const { differences, decision, replayed } = replay
    const evidence = describeEvidence(replay)
    const [since, sources] = await Promise.all([
      store.decisions.recordedSince(organizationId, recorded.id),
      store.transactions.sources(organizationId, replay.merged ?? [recorded.entity_id], recorded.created_at),
    ])
    const audit = await auditOf(store, organizationId, recorded.entry)
    if (audit.entry_id && !audit.checkpoint) requestSeal(organizationId)
    if (audit.checkpoint && !audit.inclusion_proof)
      differences.push({ path: '/audit/inclusion_proof', recorded: audit.checkpoint.root_hash, replayed: null })
    return {
      status: 200,
      body: {
        object: 'decision_replay',
        decision_id: recorded.id,
        matches: differences.length === 0,
        differences: differences.map(({ path, recorded: was, replayed: is }) => ({
          path,
          recorded: was ?? null,
          replayed: is ?? null,
        })),
        ...(replay.erased && {
          erased: { approved_at: replay.erased.approvedAt, evidence: replay.erased.evidence },
        }),
        decision: violationsOf(decision).length === 0 ? (decision as Static<typeof UnderwritingDecision>) : null,
        replayed: replayed && { ...replayed },
        evidence: {
          ...evidence,
          graph: violationsOfGraph(evidence.graph).length === 0 ? evidence.graph : null,
          sources: sources.map(describeSource),
        },
        reviews: parseBodies(since.reviews).filter(isReview),
        outcomes: parseBodies(since.outcomes).filter(isOutcome),
        audit: { ...audit, log: { environment, organization_id: organizationId } },
        replayed_at: now,
      },
    }
  },
})

function describeSource({ provides, kind, name, address, phone, first_at }: NewRow<'data_sources'>) {
  return {
    provides,
    kind,
    ...(name !== null && { name }),
    ...(address !== null && { address }),
    ...(phone !== null && { phone }),
    first_at,
  }
}

/** The place of an entry on the log, as the API shows it; the proof is null if the stored hashes do not lead to the head. */
async function auditOf(store: EnvironmentStore, organizationId: string, entry: DecisionEntry | null) {
  const entry_id = entry?.id ?? null
  const proved = await proveEntry(store, organizationId, entry)
  if (!proved)
    return { entry_id, entry: describe(entry, null), leaf_index: null, inclusion_proof: null, checkpoint: null }
  const { leafIndex, checkpoint, proof, isValid } = proved
  return {
    entry_id,
    entry: describe(entry, leafIndex),
    leaf_index: leafIndex,
    inclusion_proof: isValid ? proof : null,
    checkpoint,
  }
}

/** The entry as the API shows it; null if it was altered so that it does not fit the schema. */
function describe(entry: DecisionEntry | null, leaf_index: number | null): AuditEntry | null {
  const described = entry && describeAuditEntry({ ...entry, leaf_index })
  return described && violationsOfEntry(described).length === 0 ? described : null
}
