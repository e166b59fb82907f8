import type { Installation } from '../installation/installation.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { ConfirmedStep } from '../store/environment/entity-steps.ts'
import { type EnvironmentAct, permitted } from './act.ts'
import { type NamedStep, type StepKind, type SteppingAct, type StepStanding, takeStep } from './entity-steps.ts'
import { conflict } from './problem.ts'

/** A legal hold that was set and not lifted. */
export interface EntityHold {
  entity_id: string
  /** Null if the stored reason was altered or deleted with SQL. */
  reason: string | null
  /** The operator who proposed it, and the one who approved it, from when on it stands. */
  proposed_by: string | null
  set_by: string
  set_at: string
}

/** Who may set and lift legal holds. */
export const HOLD_PERMISSION = 'set and lift legal holds'

const HOLD: StepKind = {
  effect: 'held',
  permission: HOLD_PERMISSION,
  name: 'a legal hold',
  async requirePossible(installation, act, entity) {
    if (await holdOn(installation, act, entity)) throw conflict('entity_held', `${entity.id} is on legal hold already.`)
  },
}

const LIFT: StepKind = {
  effect: 'lifted',
  permission: HOLD_PERMISSION,
  name: 'to lift the legal hold',
  async requirePossible(installation, act, entity) {
    if (!(await holdOn(installation, act, entity)))
      throw conflict('entity_not_held', `${entity.id} is not on legal hold.`)
  },
}

/** Sets a legal hold: while it stands, the entity is not erased. One operator proposes it, another approves it. */
export const holdEntity = permitted(
  HOLD_PERMISSION,
  (installation, act: SteppingAct, step: NamedStep): Promise<StepStanding> =>
    takeStep(installation, act, { ...step, kind: HOLD }),
)

/** Lifts a legal hold, with the same two operators. */
export const liftHold = permitted(
  HOLD_PERMISSION,
  (installation, act: SteppingAct, step: NamedStep): Promise<StepStanding> =>
    takeStep(installation, act, { ...step, kind: LIFT }),
)

/** All legal holds of an organization. */
export async function listHolds(
  { stores }: Installation,
  { environment, organizationId }: Pick<EnvironmentAct, 'environment' | 'organizationId'>,
): Promise<EntityHold[]> {
  const holds = await stores[environment].entitySteps.holds(organizationId)
  return [...holds].map(([entityId, hold]) => shownHold(entityId, hold))
}

/** A hold, as people see it. */
export function shownHold(entity_id: string, { reason, proposed_by, actor_id, taken_at }: ConfirmedStep): EntityHold {
  return { entity_id, reason, proposed_by, set_by: actor_id, set_at: taken_at }
}

async function holdOn({ stores }: Installation, { environment, organizationId }: EnvironmentAct, { id }: EntityRow) {
  return (await stores[environment].entitySteps.standing(organizationId, id)).hold
}
