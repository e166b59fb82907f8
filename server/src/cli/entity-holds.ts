import type { StepStanding } from '../admin/entity-steps.ts'
import { type EntityHold, holdEntity, liftHold, listHolds } from '../admin/hold-entity.ts'
import { defineCommand, renderTable } from './command.ts'
import { printable } from './printable.ts'
import { actorNames, readOperatorActIn, readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'
import { readMove, SECOND_OPERATOR, STEP_USAGE, stepOptions } from './step-moves.ts'

export const entitiesHolds = defineCommand<EntityHold[]>({
  name: 'entities holds',
  summary: 'List the entities that are on legal hold, and so are not erased',
  usage: `entities holds ${TARGET_USAGE}`,
  options: targetOptions,
  async run(installation, { options }) {
    const target = await readTarget(installation, options)
    const nameOf = await actorNames(installation, target.organizationId)
    return (await listHolds(installation, target)).map((hold) => ({
      ...hold,
      proposed_by: hold.proposed_by && nameOf(hold.proposed_by),
      set_by: nameOf(hold.set_by),
    }))
  },
  render: (holds) =>
    holds.length === 0
      ? 'No entity is on legal hold.'
      : renderTable(
          ['ENTITY', 'SINCE', 'PROPOSED BY', 'APPROVED BY', 'BECAUSE'],
          holds.map(({ entity_id, set_at, proposed_by, set_by, reason }) => [
            ...[entity_id, set_at, proposed_by ?? '', set_by],
            printable(reason ?? '(altered)'),
          ]),
        ),
})

export const entitiesHold = defineCommand<StepStanding>({
  name: 'entities hold',
  summary:
    'Set a legal hold, so that an entity is not erased: propose it, and another operator approves it with --approve',
  usage: `entities hold <entity id or external id> ${STEP_USAGE}`,
  arguments: ['entity id or external id'],
  options: stepOptions,
  async run(installation, input) {
    const step = { entity: input.positionals[0]!, move: readMove(input.options) }
    return holdEntity(installation, await readOperatorActIn(installation, input), step)
  },
  render: ({ state, entity_id }) =>
    ({
      proposed: `Proposed a legal hold on ${entity_id}. ${SECOND_OPERATOR}`,
      approved: `${entity_id} is on legal hold: it is not erased until the hold is lifted.`,
      withdrawn: `Withdrew the proposal of a legal hold on ${entity_id}.`,
    })[state],
})

export const entitiesLiftHold = defineCommand<StepStanding>({
  name: 'entities lift-hold',
  summary: 'Lift a legal hold: propose it, and another operator approves it with --approve',
  usage: `entities lift-hold <entity id or external id> ${STEP_USAGE}`,
  arguments: ['entity id or external id'],
  options: stepOptions,
  async run(installation, input) {
    const step = { entity: input.positionals[0]!, move: readMove(input.options) }
    return liftHold(installation, await readOperatorActIn(installation, input), step)
  },
  render: ({ state, entity_id }) =>
    ({
      proposed: `Proposed to lift the legal hold on ${entity_id}. ${SECOND_OPERATOR}`,
      approved: `Lifted the legal hold on ${entity_id}.`,
      withdrawn: `Withdrew the proposal to lift the legal hold on ${entity_id}.`,
    })[state],
})
