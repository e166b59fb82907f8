import { REVIEW_BOUNDS_MAX, type ReviewBounds } from '../core/review-bounds.ts'
import type { Installation } from '../installation/installation.ts'
import { actorOf, type OperatorAct, refusal } from './operator-act.ts'
import { recordOnProduction } from './record-on-production.ts'

/** Changes how far reviewers of an organization may go from what was asked, or what the policy could lend: the log has it. */
export async function changeReviewBounds(
  installation: Installation,
  act: OperatorAct,
  to: ReviewBounds,
): Promise<ReviewBounds | { problem: string }> {
  const refused = refusal(act, 'set review bounds') ?? boundsProblem(to)
  if (refused) return refused
  const { organizationId, reason } = act
  const from = await installation.stores.production.reviews.bounds(organizationId)
  if (BOUNDS.every((bound) => from[bound] === to[bound])) return { problem: 'these are the bounds already' }
  await recordOnProduction(
    installation,
    { organizationId, actor: actorOf(act).actor },
    {
      type: 'review_bounds.changed',
      trailId: organizationId,
      subject: { type: 'organization', id: organizationId },
      data: { from, to, reason: reason.trim() },
    },
  )
  return to
}

const BOUNDS = Object.keys(REVIEW_BOUNDS_MAX) as (keyof ReviewBounds)[]

function boundsProblem({
  ask_above_percent,
  refuse_above_times,
  ask_below_percent,
}: ReviewBounds): { problem: string } | undefined {
  const isWithin = (value: number, least: number, most: number) =>
    Number.isInteger(value) && value >= least && value <= most
  const { ask_above_percent: percentMax, refuse_above_times: timesMax, ask_below_percent: lowMax } = REVIEW_BOUNDS_MAX
  if (!isWithin(ask_above_percent, 0, percentMax))
    return { problem: `limits can be let through up to ${percentMax} % above, in whole percent` }
  if (!isWithin(refuse_above_times, 1, timesMax))
    return { problem: `limits can be refused above 1 to ${timesMax} times what was asked` }
  if (!isWithin(ask_below_percent, 0, lowMax))
    return { problem: `limits can be asked about below 0 to ${lowMax} % of what was asked, in whole percent` }
  if (100 + ask_above_percent > 100 * refuse_above_times)
    return { problem: 'a limit would be refused before it is asked about: raise the multiple or lower the percentage' }
  return undefined
}
