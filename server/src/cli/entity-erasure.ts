import type { StepStanding } from '../admin/entity-steps.ts'
import { describeErasure, type ErasureStanding, eraseEntity } from '../admin/erase-entity.ts'
import { findEntity } from '../admin/show-entity.ts'
import { defineCommand, renderTable } from './command.ts'
import { printable } from './printable.ts'
import { actorNames, readOperatorActIn, readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'
import { readMove, SECOND_OPERATOR, STEP_USAGE, stepOptions } from './step-moves.ts'

const PROPOSED = { erased: 'erase it', held: 'set a legal hold', lifted: 'lift the legal hold' } as const

export const entitiesErasure = defineCommand<ErasureStanding>({
  name: 'entities erasure',
  summary: 'Show what stands against erasing an entity, and what was proposed about it',
  usage: `entities erasure <entity id or external id> ${TARGET_USAGE}`,
  arguments: ['entity id or external id'],
  options: targetOptions,
  async run(installation, { options, positionals }) {
    const target = await readTarget(installation, options)
    const entity = await findEntity(installation.stores[target.environment], target.organizationId, positionals[0]!)
    const erasure = await describeErasure(installation, target, entity)
    const nameOf = await actorNames(installation, target.organizationId)
    return { ...erasure, proposals: erasure.proposals.map((one) => ({ ...one, proposed_by: nameOf(one.proposed_by) })) }
  },
  render: ({ entity_id, obstacles, proposals }) =>
    [
      obstacles.length === 0 ? `Nothing stands against erasing ${entity_id}.` : `${entity_id} cannot be erased:`,
      ...obstacles.map(({ message }) => `  ${printable(message)}`),
      ...(proposals.length === 0
        ? []
        : [
            '',
            renderTable(
              ['PROPOSED', 'BY', 'AT', 'BECAUSE'],
              proposals.map(({ effect, proposed_by, proposed_at, reason }) => [
                PROPOSED[effect],
                proposed_by,
                proposed_at,
                printable(reason ?? '(altered)'),
              ]),
            ),
          ]),
    ].join('\n'),
})

export const entitiesErase = defineCommand<StepStanding>({
  name: 'entities erase',
  summary:
    'Erase the person behind an entity for good: propose it, and another operator approves it with --approve. The reason of the approval stays on the audit log, so it must not name the person',
  usage: `entities erase <entity id or external id> ${STEP_USAGE}`,
  arguments: ['entity id or external id'],
  options: stepOptions,
  async run(installation, input) {
    const step = { entity: input.positionals[0]!, move: readMove(input.options) }
    return eraseEntity(installation, await readOperatorActIn(installation, input), step)
  },
  render: ({ state, entity_id }) =>
    ({
      proposed: `Proposed to erase ${entity_id}. ${SECOND_OPERATOR}`,
      approved: `Erased ${entity_id}: it is unknown from now on, and its external id is free. What was stored of it is deleted within minutes.`,
      withdrawn: `Withdrew the proposal to erase ${entity_id}.`,
    })[state],
})
