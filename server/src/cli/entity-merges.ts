import {
  describeMerges,
  type EntityMerges,
  type MergeStanding,
  mergeEntities,
  separateEntity,
} from '../admin/merge-entities.ts'
import { findEntity } from '../admin/show-entity.ts'
import { defineCommand, renderTable } from './command.ts'
import {
  actorNames,
  environmentOperatorOptions,
  OPERATOR_USAGE,
  readOperatorActIn,
  readTarget,
  TARGET_USAGE,
  targetOptions,
} from './shared-options.ts'

const stepOptions = {
  ...environmentOperatorOptions,
  reason: {
    type: 'string',
    description: 'why; kept with the step, and not in the audit log, because it may name a person',
  },
} as const

export const entitiesMerges = defineCommand<EntityMerges>({
  name: 'entities merges',
  summary: 'Show which entities an entity is merged with, and what was proposed about it',
  usage: `entities merges <entity id or external id> ${TARGET_USAGE}`,
  arguments: ['entity id or external id'],
  options: targetOptions,
  async run(installation, { options, positionals }) {
    const target = await readTarget(installation, options)
    const entity = await findEntity(installation.stores[target.environment], target.organizationId, positionals[0]!)
    const merges = await describeMerges(installation, target, entity)
    const nameOf = await actorNames(installation, target.organizationId)
    return { ...merges, proposals: merges.proposals.map((one) => ({ ...one, proposed_by: nameOf(one.proposed_by) })) }
  },
  render: ({ members, proposals }) =>
    [
      members.length === 1 ? `${members[0]} is not merged.` : `Read as one: ${members.join(', ')}`,
      ...(proposals.length === 0
        ? []
        : [
            renderTable(
              ['PROPOSED', 'ENTITY', 'READ AS ONE AFTER IT', 'BY', 'BECAUSE'],
              proposals.map(({ effect, entity_id, members: after, proposed_by, reason }) => [
                effect === 'merged' ? 'merge' : 'separate',
                entity_id,
                after.join(' '),
                proposed_by,
                reason,
              ]),
            ),
          ]),
    ].join('\n'),
})

export const entitiesMerge = defineCommand<MergeStanding>({
  name: 'entities merge',
  summary:
    'Make two entities that are one person read as one; nothing changes until a second operator runs this as well',
  usage: `entities merge <entity id or external id> <the other> ${OPERATOR_USAGE}`,
  arguments: ['entity id or external id', 'the other'],
  options: stepOptions,
  async run(installation, input) {
    const [entity, other] = input.positionals as [string, string]
    return mergeEntities(installation, await readOperatorActIn(installation, input), { entity, other })
  },
  render: ({ state, members }) =>
    state === 'done'
      ? `Merged: ${members.join(', ')} are read as one from now on.`
      : `Proposed to merge ${members.join(', ')}. Nothing changes until another operator runs the same command, with their own --as, --code and --reason.`,
})

export const entitiesSeparate = defineCommand<MergeStanding>({
  name: 'entities separate',
  summary: 'Tell a merged entity apart again; nothing changes until a second operator runs this as well',
  usage: `entities separate <entity id or external id> ${OPERATOR_USAGE}`,
  arguments: ['entity id or external id'],
  options: stepOptions,
  async run(installation, input) {
    return separateEntity(installation, await readOperatorActIn(installation, input), input.positionals[0]!)
  },
  render: ({ state, entity_id, members }) =>
    state === 'done'
      ? `Told ${entity_id} apart from ${members.join(', ')}.`
      : `Proposed to tell ${entity_id} apart from ${members.join(', ')}. Nothing changes until another operator runs the same command, with their own --as, --code and --reason.`,
})
