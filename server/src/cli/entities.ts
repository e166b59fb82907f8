import { type ShownEntity, showEntity } from '../admin/show-entity.ts'
import { defineCommand } from './command.ts'
import { printable } from './printable.ts'
import { commandAct, readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'

export const entitiesShow = defineCommand<ShownEntity>({
  name: 'entities show',
  summary: 'Show an entity, by its id or your own, with its open credits and open offers',
  usage: `entities show <entity id or external id> ${TARGET_USAGE}`,
  arguments: ['entity id or external id'],
  options: targetOptions,
  async run(installation, input) {
    const target = await readTarget(installation, input.options)
    return showEntity(installation, commandAct(input, target), input.positionals[0]!)
  },
  render: (shown) => entityLines(shown).map(printable).join('\n'),
})

function entityLines({ id, external_id, merged, open_credits, open_offers, ...entity }: ShownEntity): string[] {
  const known = [
    ['external id', external_id],
    ['read with', merged?.filter((member) => member !== id).join(' ')],
    ['name', entity.display_name],
    ['type', entity.type],
    ['country', entity.country],
    ['created', entity.created_at],
    ['changed', entity.updated_at],
  ].flatMap(([label, value]) => (value == null ? [] : [`  ${label!.padEnd(12)} ${value}`]))
  const credits = open_credits.map(
    ({ currency, credits: count, amount }) =>
      `  ${amount} ${currency}, of ${count} ${count === 1 ? 'credit' : 'credits'}`,
  )
  const offers = open_offers.map(
    ({ currency, offers: count, amount }) => `  ${amount} ${currency}, in ${count} ${count === 1 ? 'offer' : 'offers'}`,
  )
  return [
    id,
    ...known,
    '',
    merged ? 'Open credits of all that are read as one:' : 'Open credits:',
    ...(credits.length > 0 ? credits : ['  none']),
    merged ? 'Open offers of all that are read as one:' : 'Open offers:',
    ...(offers.length > 0 ? offers : ['  none']),
  ]
}
