import { applyRetraction, type EntityState, type OutcomeFact } from '../core/facts/entity-state.ts'
import { currentOutcome } from '../core/facts/outcome-course.ts'
import { outcomeFact, type RecordedOutcome } from '../core/facts/recorded-outcome.ts'
import { dayOf } from '../core/graph/decay.ts'
import { isAdverse, tallyOutcome, trackRecordOf, untallyOutcome } from '../core/graph/track-record.ts'
import type { Installation } from '../installation/installation.ts'
import { listOperators, type Operator } from '../store/control/operators.ts'
import { DatabaseError } from '../store/database/database.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { StoredTrackRecord } from '../store/environment/graph.ts'
import type { OutcomeWithRetraction } from '../store/environment/outcomes.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { Change } from '../store/write-path/change.ts'
import { auditEntryRow, eventRow, type RecordContext } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { offersAfterRetraction } from '../underwriting/entity-offers.ts'
import { actorOf, contextOf, type EnvironmentAct, type OperatorActor, permitted, type Reasoned, viaOf } from './act.ts'
import { isSamePerson } from './permissions.ts'
import { changedMeanwhile, conflict, entityErased, forbidden, notFound } from './problem.ts'
import { isStanding, standingOperator } from './standing-operator.ts'

/** An outcome, and how far its retraction has come. */
export interface RetractionStanding {
  outcome_id: string
  decision_id: string
  entity_id: string
  type: string
  occurred_at: string
  state: 'counts' | 'retraction_proposed' | 'retracted'
  proposed_by: string | null
  proposed_reason: string | null
  retracted_by: string | null
}

/** How often a retraction is computed again because other facts about the entity were recorded at the same moment. */
const ATTEMPTS_MAX = 20

/** All outcomes of a decision with their retractions. */
export async function listOutcomes(
  { stores, storage }: Installation,
  { environment, organizationId }: Pick<EnvironmentAct, 'environment' | 'organizationId'>,
  decisionId: string,
): Promise<RetractionStanding[]> {
  const store = stores[environment]
  if (!(await store.decisions.find({ organizationId, id: decisionId })))
    throw notFound('decision_not_found', `There is no decision ${JSON.stringify(decisionId)} in ${environment}.`)
  const operators = await listOperators(storage.control, organizationId)
  return (await store.outcomes.ofDecisionWithRetractions(organizationId, decisionId)).map((outcome) => {
    const proposer = operators.find(({ id }) => id === outcome.proposed_by)
    return standingOf(outcome, proposer && mayRetract(proposer) ? proposer : undefined)
  })
}

/** An act that takes two operators. */
type RetractingAct = Reasoned<EnvironmentAct<OperatorActor>>

/**
 * Takes an outcome back that was reported by mistake. The first operator proposes it; when a second one confirms, the
 * outcome stops counting for the entity and, within seconds, for its neighbours. Decisions that were made stay as they are.
 */
export const retractOutcome = permitted(
  'retract outcomes',
  async (installation, act: RetractingAct, outcomeId: string): Promise<RetractionStanding> => {
    const { environment, organizationId } = act
    const { operator } = act.by
    const store = installation.stores[environment]
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const outcome = await store.outcomes.withRetraction(organizationId, outcomeId)
      if (!outcome)
        throw notFound('outcome_not_found', `There is no outcome ${JSON.stringify(outcomeId)} in ${environment}.`)
      if (outcome.retracted_at)
        throw conflict('outcome_retracted', `This outcome was retracted at ${outcome.retracted_at}.`)
      const proposer = await standingProposer(installation, act, outcome)
      if (proposer && isSamePerson(proposer, operator))
        throw forbidden(
          'own_retraction',
          `${operator.email} proposed this retraction. Another operator has to confirm it.`,
        )
      const change = await nextStep(installation, act, { outcome, proposer })
      const written = await commitOnce(installation, act, change)
      if (written === 'taken') throw changedMeanwhile('the retraction of this outcome')
      if (written === 'written')
        return standingOf((await store.outcomes.withRetraction(organizationId, outcomeId))!, proposer ?? operator)
    }
    throw conflict('entity_busy', 'Facts about this entity are being recorded too fast.')
  },
)

/** The operator whose proposal waits for a second one. A proposal is void once its operator was removed or lost the role. */
async function standingProposer(
  installation: Installation,
  { organizationId, environment }: EnvironmentAct,
  { id, proposed_by }: OutcomeWithRetraction,
): Promise<Operator | undefined> {
  // A proposal that was inserted with SQL would let one operator do what takes two.
  if (
    proposed_by === null ||
    !(await installation.stores[environment].outcomes.isProposalConfirmed(organizationId, id))
  )
    return undefined
  return standingOperator(installation, { organizationId, id: proposed_by, permission: 'retract outcomes' })
}

const mayRetract = (operator: Operator) => isStanding(operator, 'retract outcomes')

/** The change of the next step: the proposal, or the confirmation with everything that it takes back. */
async function nextStep(
  installation: Installation,
  act: RetractingAct,
  { outcome, proposer }: { outcome: OutcomeWithRetraction; proposer: Operator | undefined },
): Promise<Change> {
  const { organizationId } = act
  const { entity_id, decision_id } = outcome
  const store = installation.stores[act.environment]
  // INVARIANT: the entity is read before its outcomes, as when an outcome is recorded. If another outcome is committed in
  // between, this change loses by the entity's version.
  const entity = await store.entities.find({ organizationId, id: entity_id })
  if (!entity) throw entityErased(entity_id)
  const others = otherThan(outcome, await store.outcomes.ofDecision(organizationId, decision_id))
  if (outcome.type === 'funded' && !others.some(({ type }) => type === 'funded')) {
    const repaid = others.find(({ type }) => type === 'repaid')
    if (repaid) throw conflict('outcome_repaid', `${repaid.id} reports that this money was repaid.`)
  }
  const context = contextOf(installation, act)
  const step = recordStep(context, act, { outcome, proposer, id: installation.newId('ret') })
  if (!proposer) return { organizationId, ...step }
  const allOthers = otherThan(outcome, await store.outcomes.ofEntity(organizationId, entity_id))
  const known = (await store.graph.trackRecords(organizationId, [entity_id])).get(entity_id)!
  const { now } = context
  const retracted = factOf(outcome.body)
  const about = { decisionId: decision_id, type: retracted.type, others }
  const { changedOffers, replacedOffers } = await offersAfterRetraction({ store, organizationId, now }, entity, about)
  return {
    organizationId,
    ...step,
    auditEntries: [...step.auditEntries, ...replacedOffers.map((entry) => auditEntryRow(context, entry))],
    changedOffers,
    changedEntities: [entityWithout(entity, retracted, { others, allOthers, now })],
    changedTrackRecords: [{ entity_id, ...trackRecordWithout(known, retracted, { others, now }) }],
    consequences: ['spread', 'exposure'].map((kind) => ({ kind, entity_id, mark: `retracted ${outcome.id}` })),
  }
}

function entityWithout(
  entity: EntityRow,
  retracted: OutcomeFact,
  { now, ...reports }: { others: readonly OutcomeFact[]; allOthers: readonly OutcomeFact[]; now: string },
): EntityRow {
  const state = applyRetraction(JSON.parse(entity.state) as EntityState, retracted, reports)
  // A clock that is behind must not date the change before the one that it follows.
  const updated_at = now > entity.updated_at ? now : new Date(Date.parse(entity.updated_at) + 1).toISOString()
  return { ...entity, state: JSON.stringify(state), version: entity.version + 1, updated_at }
}

function trackRecordWithout(
  { tallies, version }: StoredTrackRecord,
  retracted: OutcomeFact,
  { others, now }: { others: readonly OutcomeFact[]; now: string },
): Omit<NewRow<'graph_track_records'>, 'entity_id'> {
  const before = currentOutcome([...others, retracted])!
  const after = currentOutcome(others)
  const changed = after ? tallyOutcome(tallies, after, before) : untallyOutcome(tallies, before)
  const next = after === before ? tallies : changed
  return {
    tallies: JSON.stringify(next),
    is_adverse: isAdverse(trackRecordOf(next, dayOf(now))),
    version: version + 1,
  }
}

/** The row of a step with its audit entry and, for the second step, its event. */
function recordStep(
  context: RecordContext,
  act: RetractingAct,
  { outcome, proposer, id }: { outcome: OutcomeWithRetraction; proposer: Operator | undefined; id: string },
): Required<Pick<Change, 'rows' | 'auditEntries'>> {
  const { organizationId, reason } = act
  const actor = actorOf(act)
  const { id: outcome_id, entity_id, decision_id, type: outcome_type } = outcome
  const row = {
    id,
    outcome_id,
    entity_id,
    step: proposer ? 'approved' : 'proposed',
    reason,
    actor_type: actor.type,
    actor_id: actor.id,
    taken_at: context.now,
  }
  const record_sha256 = recordSha256<'outcome_retractions'>(organizationId, row)
  const about = { entity_id, decision_id, outcome_id, outcome_type, record_sha256 }
  const data = { ...about, ...viaOf(act) }
  const subject = { type: 'outcome_retraction', id: row.id }
  if (!proposer) {
    const proposed = { type: 'decision.outcome_retraction_proposed', trailId: entity_id, subject, data } as const
    return { rows: { outcome_retractions: [row] }, auditEntries: [auditEntryRow(context, proposed)] }
  }
  const retracted = { type: 'decision.outcome_retracted', trailId: entity_id, subject } as const
  return {
    rows: { outcome_retractions: [row], events: [eventRow(context, 'decision.outcome_retracted', about)] },
    auditEntries: [auditEntryRow(context, { ...retracted, data: { ...data, proposed_by: proposer.id } })],
  }
}

/** Writes a step; `taken` if a concurrent writer took the same step first, `lost` if the entity has changed. */
async function commitOnce(
  { stores }: Installation,
  { environment }: EnvironmentAct,
  change: Change,
): Promise<'written' | 'taken' | 'lost'> {
  try {
    const { lost } = await stores[environment].commit(change)
    return lost ? 'lost' : 'written'
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation) return 'taken'
    throw error
  }
}

function otherThan({ id }: OutcomeWithRetraction, bodies: readonly string[]): OutcomeFact[] {
  return bodies.map(factOf).filter((report) => report.id !== id)
}

function factOf(body: string): OutcomeFact {
  return outcomeFact(JSON.parse(body) as RecordedOutcome)
}

function standingOf(outcome: OutcomeWithRetraction, proposer: Operator | undefined): RetractionStanding {
  const { id, decision_id, entity_id, type, occurred_at, retracted_by } = outcome
  const state = retracted_by ? 'retracted' : proposer ? 'retraction_proposed' : 'counts'
  const { proposed_by, proposed_reason } = state === 'counts' ? { proposed_by: null, proposed_reason: null } : outcome
  return {
    outcome_id: id,
    decision_id,
    entity_id,
    type,
    occurred_at,
    state,
    proposed_by,
    proposed_reason,
    retracted_by,
  }
}
