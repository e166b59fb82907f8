import { conflict, notFound } from '../admin/problem.ts'
import type { Installation } from '../installation/installation.ts'
import type { RecordedDecision } from '../store/environment/decisions.ts'
import { describeEvidence, type Evidence, parseBodies } from '../underwriting/describe-evidence.ts'
import { type RecordedReplay, replayRecorded } from '../underwriting/replay-recorded.ts'
import { type CommandInput, defineCommand } from './command.ts'
import { explainLines, type RecordedSince, showLines } from './decision-text.ts'
import { printable } from './printable.ts'
import { readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'

/** A decision as it was recorded, and what was recorded about it since. */
export interface ShownDecision extends RecordedSince {
  decision: Record<string, unknown>
  entity_id: string
  product: string
}

/** A decision with the evidence that its replay found. */
export interface ExplainedDecision extends ShownDecision {
  matches: boolean
  differences: RecordedReplay['differences']
  evidence: Evidence
}

export const decisionsShow = defineCommand<ShownDecision>({
  name: 'decisions show',
  summary: 'Show a decision with the reviews and outcomes recorded since',
  usage: `decisions show <decision id> ${TARGET_USAGE}`,
  arguments: ['decision id'],
  options: targetOptions,
  async run(installation, input) {
    return (await readDecision(installation, input)).shown
  },
  render: (shown) => showLines(shown).map(printable).join('\n'),
})

export const decisionsExplain = defineCommand<ExplainedDecision>({
  name: 'decisions explain',
  summary: 'Replay a decision, and say in words how its verdict came about',
  usage: `decisions explain <decision id> ${TARGET_USAGE}`,
  arguments: ['decision id'],
  options: targetOptions,
  async run(installation, input) {
    const found = await readDecision(installation, input)
    const replay = replayRecorded(found.recorded)
    const { differences } = replay
    return { ...found.shown, matches: differences.length === 0, differences, evidence: describeEvidence(replay) }
  },
  render: (explained) => explainLines(explained).map(printable).join('\n'),
  isBad: ({ matches }) => !matches,
})

async function readDecision(
  installation: Installation,
  { options, positionals }: CommandInput,
): Promise<{ recorded: RecordedDecision; shown: ShownDecision }> {
  const target = await readTarget(installation, options)
  const { organizationId, environment } = target
  const id = positionals[0]!
  const store = installation.stores[environment]
  const recorded = await store.decisions.recorded(organizationId, id)
  if (!recorded) throw notFound('decision_not_found', `There is no decision ${JSON.stringify(id)} in ${environment}.`)
  const since = await store.decisions.recordedSince(organizationId, id)
  const [decision] = parseBodies(recorded.body === null ? [] : [recorded.body])
  if (!decision) throw conflict('decision_altered', `The stored decision ${id} was altered and cannot be read.`)
  const reviews = parseBodies(since.reviews)
  const keys = await store.reviews.keys(
    organizationId,
    reviews.map((review) => String(review.id)),
  )
  return {
    recorded,
    shown: {
      decision,
      entity_id: recorded.entity_id,
      product: recorded.product,
      reviews: reviews.map((review) => {
        const key = keys.get(String(review.id))
        return { ...review, api_key: key ? (key.name ?? key.id) : null }
      }),
      outcomes: parseBodies(since.outcomes),
    },
  }
}
