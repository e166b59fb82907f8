import { listOutcomes, type RetractionStanding, retractOutcome } from '../admin/retract-outcome.ts'
import { defineCommand, renderTable } from './command.ts'
import {
  actorNames,
  environmentOption,
  operatorOptions,
  readOperatorActIn,
  readTarget,
  TARGET_USAGE,
  targetOptions,
} from './shared-options.ts'

type ListedOutcome = RetractionStanding & { by: string }

const STATES: Record<RetractionStanding['state'], string> = {
  counts: 'counts',
  retraction_proposed: 'counts; retraction proposed',
  retracted: 'retracted',
}

export const outcomesList = defineCommand<ListedOutcome[]>({
  name: 'outcomes list',
  summary: 'List the outcomes of a decision, and which of them were retracted',
  usage: `outcomes list <decision id> ${TARGET_USAGE}`,
  arguments: ['decision id'],
  options: targetOptions,
  async run(installation, { options, positionals }) {
    const target = await readTarget(installation, options)
    const outcomes = await listOutcomes(installation, target, positionals[0]!)
    const nameOf = await actorNames(installation, target.organizationId)
    return outcomes.map((outcome) => ({
      ...outcome,
      by: [outcome.proposed_by, outcome.retracted_by].flatMap((id) => (id === null ? [] : [nameOf(id)])).join(', '),
    }))
  },
  render: (outcomes) =>
    renderTable(
      ['OUTCOME', 'TYPE', 'OCCURRED', 'STATE', 'BY', 'PROPOSED BECAUSE'],
      outcomes.map(({ outcome_id, type, occurred_at, state, by, proposed_reason }) => [
        outcome_id,
        type,
        occurred_at,
        STATES[state],
        by,
        proposed_reason ?? '',
      ]),
    ),
})

export const outcomesRetract = defineCommand<RetractionStanding>({
  name: 'outcomes retract',
  summary: 'Take back an outcome that was reported by mistake; it counts until a second operator runs this as well',
  usage: `outcomes retract <outcome id> --as <email> --code <code> --reason <text> ${TARGET_USAGE}`,
  arguments: ['outcome id'],
  options: { ...operatorOptions, environment: environmentOption },
  async run(installation, input) {
    return retractOutcome(installation, await readOperatorActIn(installation, input), input.positionals[0]!)
  },
  render: ({ outcome_id, type, entity_id, state }) =>
    state === 'retracted'
      ? `Retracted ${outcome_id} (${type}). The trust of ${entity_id} and of its neighbours follows within seconds.`
      : `Proposed to retract ${outcome_id} (${type}). It counts until another operator runs the same command, with their own --as, --code and --reason.`,
})
