import type { Installation } from '../installation/installation.ts'
import type { Operator } from '../store/control/operators.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import {
  type EntityStanding,
  type StepEffect,
  type StepState,
  stepEntryType,
} from '../store/environment/entity-steps.ts'
import type { Change } from '../store/write-path/change.ts'
import { auditEntryRow, type RecordContext } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { actorOf, contextOf, type EnvironmentAct, type OperatorActor, type Reasoned, viaOf } from './act.ts'
import { isSamePerson, type Permission } from './permissions.ts'
import { conflict, forbidden } from './problem.ts'
import { findEntity } from './show-entity.ts'
import { standingOperator } from './standing-operator.ts'

/** An act that takes two operators: one proposes, another approves, and either withdraws. */
export type SteppingAct = Reasoned<EnvironmentAct<OperatorActor>>

/** What an operator does with a step. */
export const STEP_MOVES = ['propose', 'approve', 'withdraw'] as const
export type StepMove = (typeof STEP_MOVES)[number]

/** What an operator does, and about which entity. */
export interface NamedStep {
  /** The id of the entity, or the caller's own. */
  entity: string
  move: StepMove
}

/** What became of a step. */
export interface StepStanding {
  effect: StepEffect
  state: StepState
  entity_id: string
  /** The id of the operator who proposed it. */
  proposed_by: string
}

/** What a step does once it is approved. */
export interface StepKind {
  effect: StepEffect
  permission: Permission
  /** How messages name it, such as “the erasure”. */
  name: string
  /** Throws what stands against it, when it is proposed and again when it is approved. */
  requirePossible(installation: Installation, act: SteppingAct, entity: EntityRow): Promise<void>
  /** Everything that its approval writes; each kind that leaves it out writes the step alone. */
  approval?(context: RecordContext, act: SteppingAct, taken: { entity: EntityRow; proposer: Operator }): Change
}

/** How often a step is computed again because facts about the entity were recorded at the same moment. */
const ATTEMPTS_MAX = 20

/** Takes a step about an entity. With the next version of the entity it loses to whatever is recorded meanwhile. */
export async function takeStep(
  installation: Installation,
  act: SteppingAct,
  { entity: name, move, kind }: NamedStep & { kind: StepKind },
): Promise<StepStanding> {
  const { environment, organizationId } = act
  const { operator } = act.by
  const store = installation.stores[environment]
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const entity = await findEntity(store, organizationId, name)
    const proposer = await proposerOf(installation, act, { entity, kind })
    if (move === 'propose' && proposer)
      throw conflict(
        'step_proposed',
        `${proposer.email} has proposed ${kind.name} of ${entity.id}. Another operator approves it, or either withdraws it.`,
      )
    if (move !== 'propose' && !proposer)
      throw conflict('step_not_proposed', `No operator has proposed ${kind.name} of ${entity.id}.`)
    if (move === 'approve' && isSamePerson(proposer!, operator))
      throw forbidden(
        'own_step',
        `${operator.email} proposed ${kind.name} of ${entity.id}. Another operator approves it.`,
      )
    if (move !== 'withdraw') await kind.requirePossible(installation, act, entity)
    const { lost } = await store.commit(changeOf(installation, act, { entity, move, kind, proposer }))
    if (lost) continue
    return { effect: kind.effect, state: STATES[move], entity_id: entity.id, proposed_by: (proposer ?? operator).id }
  }
  throw conflict('entity_busy', 'Facts about this entity are being recorded too fast.')
}

const STATES = { propose: 'proposed', approve: 'approved', withdraw: 'withdrawn' } as const satisfies Record<
  StepMove,
  StepState
>

/** What stands about an entity, without proposals of operators who were removed or lost the role. */
export async function standingOf(
  installation: Installation,
  { environment, organizationId }: Pick<EnvironmentAct, 'environment' | 'organizationId'>,
  { entityId, permissions }: { entityId: string; permissions: Readonly<Record<StepEffect, Permission>> },
): Promise<EntityStanding> {
  const { hold, proposals } = await installation.stores[environment].entitySteps.standing(organizationId, entityId)
  const standing = await Promise.all(
    proposals.map(async (one) => {
      const proposer = { organizationId, id: one.actor_id, permission: permissions[one.effect] }
      return (await standingOperator(installation, proposer)) ? [one] : []
    }),
  )
  return { hold, proposals: standing.flat() }
}

/** The operator whose proposal of the step waits for a second one. */
async function proposerOf(
  installation: Installation,
  { environment, organizationId }: EnvironmentAct,
  { entity, kind }: { entity: EntityRow; kind: StepKind },
): Promise<Operator | undefined> {
  const { proposals } = await installation.stores[environment].entitySteps.standing(organizationId, entity.id)
  const proposal = proposals.find(({ effect }) => effect === kind.effect)
  return (
    proposal && standingOperator(installation, { organizationId, id: proposal.actor_id, permission: kind.permission })
  )
}

function changeOf(
  installation: Installation,
  act: SteppingAct,
  step: { entity: EntityRow; move: StepMove; kind: StepKind; proposer: Operator | undefined },
): Change {
  const { entity, move, kind, proposer } = step
  const context = contextOf(installation, act)
  if (move === 'approve' && kind.approval) return kind.approval(context, act, { entity, proposer: proposer! })
  const { organizationId, reason } = act
  const actor = actorOf(act)
  const row = {
    id: context.newId('stp'),
    entity_id: entity.id,
    effect: kind.effect,
    step: STATES[move],
    reason,
    actor_type: actor.type,
    actor_id: actor.id,
    taken_at: context.now,
  }
  const data = {
    entity_id: entity.id,
    record_sha256: recordSha256<'entity_steps'>(organizationId, row),
    ...viaOf(act),
    ...(proposer && { proposed_by: proposer.id }),
  }
  const type = stepEntryType(kind.effect, STATES[move])
  const entry = { type, trailId: entity.id, subject: { type: 'entity_step', id: row.id }, data }
  return {
    organizationId,
    rows: { entity_steps: [row] },
    changedEntities: [{ ...entity, version: entity.version + 1 }],
    auditEntries: [auditEntryRow(context, entry as Parameters<typeof auditEntryRow<'entity.hold_set'>>[1])],
  }
}
