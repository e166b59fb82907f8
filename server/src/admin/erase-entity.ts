import type { EntityState } from '../core/facts/entity-state.ts'
import { openAt } from '../core/facts/open-offers.ts'
import { debtsOf } from '../core/facts/outcome-course.ts'
import { outcomeFact, type RecordedOutcome } from '../core/facts/recorded-outcome.ts'
import type { Installation } from '../installation/installation.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { EntityStanding, StepEffect } from '../store/environment/entity-steps.ts'
import { auditEntryRow, eventRow } from '../store/write-path/record.ts'
import { nextOffers, offersOf } from '../underwriting/entity-offers.ts'
import { membersOf } from '../underwriting/read-entity.ts'
import { type EnvironmentAct, permitted, reasonOf, viaOf } from './act.ts'
import {
  type NamedStep,
  type StepKind,
  type SteppingAct,
  type StepStanding,
  standingOf,
  takeStep,
} from './entity-steps.ts'
import { type EntityHold, HOLD_PERMISSION, shownHold } from './hold-entity.ts'
import { conflict } from './problem.ts'
import { openCreditsOf } from './show-entity.ts'

/** What stands against the erasure of an entity. */
export interface Obstacle {
  code: 'open_credit' | 'open_offer' | 'open_case' | 'legal_hold' | 'hold_proposed' | 'merged'
  /** A clause that begins in lower case and names it, such as “the case cas_… is open”. */
  message: string
  /** The decisions, the case or the entities that it is about. */
  ids: string[]
}

/** A step that waits for a second operator. */
export interface ProposedStep {
  effect: StepEffect
  reason: string | null
  proposed_by: string
  proposed_at: string
}

/** How far the erasure of an entity has come, and what stands against it. */
export interface ErasureStanding {
  entity_id: string
  obstacles: Obstacle[]
  hold: EntityHold | null
  proposals: ProposedStep[]
}

type Target = Pick<EnvironmentAct, 'environment' | 'organizationId'>

const PERMISSIONS = { erased: 'erase entities', held: HOLD_PERMISSION, lifted: HOLD_PERMISSION } as const

const ERASURE: StepKind = {
  effect: 'erased',
  permission: PERMISSIONS.erased,
  name: 'the erasure',
  async requirePossible(installation, act, entity) {
    const obstacles = await obstaclesOf(installation, act, entity, await standing(installation, act, entity))
    if (obstacles.length > 0)
      throw conflict(
        'erasure_refused',
        `${entity.id} cannot be erased: ${obstacles.map(({ message }) => message).join('; ')}.`,
      )
  },
  approval(context, act, { entity, proposer }) {
    const { organizationId } = act
    const entry = auditEntryRow(context, {
      type: 'entity.erased',
      trailId: entity.id,
      subject: { type: 'entity', id: entity.id },
      data: { entity_id: entity.id, ...reasonOf(act), proposed_by: proposer.id, ...viaOf(act) },
    })
    const { id: entity_id, version } = entity
    return {
      organizationId,
      newErasures: [{ entity_id, version, entry_id: entry.id, approved_at: context.now }],
      // Loses to a decision that offers credit at the same moment, which does not change the entity.
      changedOffers: [nextOffers(entity, [])],
      rows: { events: [eventRow(context, 'entity.erased', { entity_id })] },
      auditEntries: [entry],
    }
  },
}

/**
 * Erases the person behind an entity. One operator proposes it and another approves it, each with a reason; from the approval on
 * the entity is unknown, and nothing brings it back.
 */
export const eraseEntity = permitted(
  PERMISSIONS.erased,
  (installation, act: SteppingAct, step: NamedStep): Promise<StepStanding> =>
    takeStep(installation, act, { ...step, kind: ERASURE }),
)

/** What was proposed about the erasure of an entity, and what stands against it. */
export async function describeErasure(
  installation: Installation,
  target: Target,
  entity: EntityRow,
): Promise<ErasureStanding> {
  const { hold, proposals } = await standing(installation, target, entity)
  return {
    entity_id: entity.id,
    obstacles: await obstaclesOf(installation, target, entity, { hold, proposals }),
    hold: hold ? shownHold(entity.id, hold) : null,
    proposals: proposals.map(({ effect, reason, actor_id, taken_at }) => ({
      effect,
      reason,
      proposed_by: actor_id,
      proposed_at: taken_at,
    })),
  }
}

function standing(installation: Installation, target: Target, { id }: EntityRow): Promise<EntityStanding> {
  return standingOf(installation, target, { entityId: id, permissions: PERMISSIONS })
}

/** Everything that stands against an erasure: the operators settle it first. */
async function obstaclesOf(
  { stores, nowMs }: Installation,
  { environment, organizationId }: Target,
  entity: EntityRow,
  { hold, proposals }: EntityStanding,
): Promise<Obstacle[]> {
  const store = stores[environment]
  const [credits, openCase, members] = await Promise.all([
    openCredit(entity, () => store.outcomes.ofEntity(organizationId, entity.id)),
    store.cases.openOf(organizationId, entity.id),
    membersOf(store, organizationId, entity),
  ])
  const others = members.map(({ id }) => id).filter((id) => id !== entity.id)
  const obstacles: (Obstacle | false | undefined)[] = [
    credits,
    openOffers(entity, new Date(nowMs()).toISOString()),
    openCase !== undefined && { code: 'open_case', message: `the case ${openCase} is open`, ids: [openCase] },
    hold && {
      code: 'legal_hold',
      message: `it is on legal hold since ${hold.taken_at}${hold.reason === null ? '' : ` (“${hold.reason}”)`}`,
      ids: [],
    },
    proposals.some(({ effect }) => effect === 'held') && {
      code: 'hold_proposed',
      message: 'a legal hold was proposed, which is approved or withdrawn first',
      ids: [],
    },
    others.length > 0 && { code: 'merged', message: `it is merged with ${others.join(', ')}`, ids: others },
  ]
  return obstacles.filter((one): one is Obstacle => one !== false && one !== undefined)
}

/** What the entity was offered and may still take up. */
function openOffers(entity: EntityRow, now: string): Obstacle | undefined {
  const open = openAt(offersOf(entity), now)
  if (open.length === 0) return undefined
  const offered = open.map(
    ({ amount, currency, expiresAt, decisionId }) => `${amount} ${currency} until ${expiresAt}, by ${decisionId}`,
  )
  const ids = open.map(({ decisionId }) => decisionId)
  return {
    code: 'open_offer',
    message: `${open.length === 1 ? 'an offer is' : 'offers are'} open: ${offered.join(', ')}`,
    ids,
  }
}

/** What the entity owes, with the decisions of which it is. */
async function openCredit(entity: EntityRow, readOutcomes: () => Promise<string[]>): Promise<Obstacle | undefined> {
  const { history } = JSON.parse(entity.state) as EntityState
  const credits = openCreditsOf(history)
  if (credits.length === 0) return undefined
  const outcomes = (await readOutcomes()).map((body) => outcomeFact(JSON.parse(body) as RecordedOutcome))
  const byDecision = Map.groupBy(outcomes, ({ decisionId }) => decisionId)
  const ids = [...byDecision].filter(([, reports]) => debtsOf(reports).open.length > 0).map(([id]) => id)
  const owed = credits.map(({ amount, currency }) => `${amount} ${currency}`).join(' and ')
  return { code: 'open_credit', message: `${owed} of credit is open, by ${ids.sort().join(', ')}`, ids }
}
