import type { Static } from 'typebox'
import { applyOutcome, type EntityState, type OutcomeFact } from '../../core/facts/entity-state.ts'
import { undoesRepayment } from '../../core/facts/history-state.ts'
import { currentOutcome } from '../../core/facts/outcome-course.ts'
import { outcomeFact } from '../../core/facts/recorded-outcome.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { isAdverse, tallyOutcome, trackRecordOf } from '../../core/graph/track-record.ts'
import { latestOf } from '../../core/latest-time.ts'
import type { Violation } from '../../http/violation.ts'
import type { EntityRow } from '../../store/environment/entities.ts'
import type { NewRow, RowOf } from '../../store/schema/tables.ts'
import { offersAfterOutcome } from '../../underwriting/entity-offers.ts'
import { reportOutcome } from '../../underwriting/report-outcome.ts'
import { fail, failErased, failValidation, failWith } from '../api-error.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { precedes, refuseFuture, reportedTime } from '../reported-time.ts'
import { DecisionPath, Outcome, RecordOutcomeRequest } from '../schemas/decision.ts'

/** Records what really happened after a decision, which changes the trust of the entity and of its neighbours. */
export const recordOutcome = defineEndpoint({
  operationId: 'recordOutcome',
  summary: 'Record a real-world outcome into the trust graph',
  description:
    'An outcome changes the trust of the entity and of its neighbours in the graph: of the nearest before the response, of all others within seconds. ' +
    'It cannot have happened before its decision; the clocks of both sides may differ by five minutes. `repaid` needs a `funded` that was reported before. ' +
    'An outcome that cannot belong to its decision is refused as `outcome_mismatch`: `funded` on a decision that stands as a decline or whose offer a later request with the same `reference` replaced, more than ten times the amount, or another currency. ' +
    'A decision stands as its newest review says, or else as it was made; its amount is the limit of that review if it names one, else its `recommended_limit`, else `requested_amount`. Send `override` with a `note` if the outcome is right all the same.',
  tag: 'Decisions',
  method: 'POST',
  path: '/v1/decisions/{decision_id}/outcomes',
  scope: 'outcomes:write',
  serializedBy: ({ params }) => [params.decision_id],
  params: DecisionPath,
  body: RecordOutcomeRequest,
  succeeds: { 201: Outcome },
  fails: ['decision_not_found', 'outcome_mismatch', 'validation_failed'],

  async handle(request) {
    const { params, caller, store } = request
    const { organizationId } = caller
    const decision = await store.decisions.find({ organizationId, id: params.decision_id })
    if (!decision) return fail('decision_not_found')
    const now = latestOf(request.now, decision.created_at)
    const context = { ...request, now }
    const occurred_at = reportedTime(request.body.occurred_at, now)
    const violations = [
      ...refuseFuture('/occurred_at', request.body.occurred_at, now),
      ...checkOutcome({ ...request.body, occurred_at }, decision),
    ]
    if (violations.length > 0) return failValidation(violations)
    // INVARIANT: the entity is read before what became of the decision and of its offer. If another outcome is committed in between,
    // this change loses by the entity's version, so the outcome it supersedes is always the one in the state; if a request replaces
    // the offer, it loses by the version of the offers.
    const entity = await store.entities.find({ organizationId, id: decision.entity_id })
    if (!entity) return failErased(decision.id)
    const review = await store.reviews.newest(organizationId, decision.id)
    const isReplaced =
      request.body.type === 'funded' && (await store.auditRecords.isReplaced(organizationId, decision.id))
    const reported = reportOutcome(context, { decision, review, isReplaced }, { ...request.body, occurred_at })
    if ('mismatches' in reported) return failWith('outcome_mismatch', reported.mismatches)

    const { outcome, row, domainEvent } = reported
    const { id, decision_id, entity_id, type } = outcome
    const report = outcomeFact(outcome)
    const earlier = (await store.outcomes.ofDecision(organizationId, decision_id)).map((text) =>
      outcomeFact(JSON.parse(text)),
    )
    if (type === 'repaid' && !earlier.some((other) => other.type === 'funded')) return failValidation([NOT_FUNDED])
    const near = await nearest(context, entity)
    const tools = { store, organizationId, now }
    const offers = await offersAfterOutcome(tools, entity, { decision, report, earlier })
    const cause = (kind: string, entityId: string) => ({ kind, entity_id: entityId, mark: id })
    const change = record(context, {
      changedEntities: [await nextEntityAfter(context, entity, { report, earlier })],
      changedTrackRecords: [await nextTrackRecord(context, entity_id, { report, earlier })],
      ...(offers && { changedOffers: [offers] }),
      rows: { outcomes: [row] },
      consequences: [cause('spread', entity_id), ...near.map((entityId) => cause('exposure', entityId))],
      domainEvents: [domainEvent],
    })
    return { status: 201, body: outcome, change, refreshBeforeReply: { entityId: entity_id, near, mark: id } }
  },
})

type OutcomeContext = RequestContext<unknown, unknown, Static<typeof RecordOutcomeRequest>>

/** The entity, and the ranked and adverse neighbours of all that it is merged with: the exposures that are refreshed before the reply. */
async function nearest({ caller, store, now }: OutcomeContext, entity: EntityRow): Promise<string[]> {
  const { organizationId } = caller
  const members = await store.entityMerges.membersOf(organizationId, entity)
  const links = await Promise.all(
    members.map((entityId) => store.graph.followedLinksOf({ organizationId, entityId, today: dayOf(now) })),
  )
  const near = links.flatMap((followed) => [...followed!.ranked, ...followed!.adverse])
  return [...new Set([entity.id, ...near.map(({ neighbour }) => neighbour)])]
}

/** The entity with this outcome. That a repayment bounced is rare, so only then all its outcomes are read. */
async function nextEntityAfter(
  { caller, store, now }: OutcomeContext,
  entity: EntityRow,
  { report, earlier }: { report: OutcomeFact; earlier: readonly OutcomeFact[] },
): Promise<EntityRow> {
  const { history } = JSON.parse(entity.state) as EntityState
  if (!undoesRepayment(history, report, earlier))
    return nextEntity(entity, now, (state) => applyOutcome(state, report, { earlier }))
  const others = await store.outcomes.ofEntity(caller.organizationId, entity.id)
  const allOthers = others.map((text) => outcomeFact(JSON.parse(text)))
  return nextEntity(entity, now, (state) => applyOutcome(state, report, { earlier, allOthers }))
}

/** The entity's track record with this outcome. A decision counts once, by its current outcome. */
async function nextTrackRecord(
  { caller, store, now }: OutcomeContext,
  entityId: string,
  { report, earlier }: { report: OutcomeFact; earlier: readonly OutcomeFact[] },
): Promise<NewRow<'graph_track_records'>> {
  const { organizationId } = caller
  const known = (await store.graph.trackRecords(organizationId, [entityId])).get(entityId)
  const tallies = known?.tallies ?? []
  const [before, after] = [currentOutcome(earlier), currentOutcome([...earlier, report])!]
  const next = after === before ? tallies : tallyOutcome(tallies, after, before)
  return {
    entity_id: entityId,
    tallies: JSON.stringify(next),
    is_adverse: isAdverse(trackRecordOf(next, dayOf(now))),
    version: (known?.version ?? 0) + 1,
  }
}

/** Only money that was paid out can be paid back, and a repayment raises the trust of the entity and its neighbours. */
const NOT_FUNDED: Violation = {
  param: '/type',
  message: 'repaid needs a funded outcome of the same decision. Report when the money was paid out first.',
}

function checkOutcome(
  { occurred_at, amount, currency, note, override }: Static<typeof RecordOutcomeRequest>,
  { created_at }: RowOf<'decisions'>,
): Violation[] {
  const violations: Violation[] = []
  if (precedes(occurred_at, created_at))
    violations.push({
      param: '/occurred_at',
      message: `occurred_at is before the decision, which was made at ${created_at}.`,
    })
  if (amount !== undefined && currency === undefined)
    violations.push({ param: '/currency', message: 'currency is required with amount.' })
  if (amount === undefined && currency !== undefined)
    violations.push({ param: '/amount', message: 'amount is required with currency.' })
  if (override === true && !note?.trim())
    violations.push({ param: '/note', message: 'note is required with override: say why the outcome is right.' })
  return violations
}
