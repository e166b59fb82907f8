import { REVIEW_BOUNDS_MAX, type ReviewBounds } from '../core/review-bounds.ts'
import type { Installation } from '../service/installation.ts'
import { actorOf, type OperatorAct, refusal } from './operator-act.ts'
import { recordOnProduction } from './record-on-production.ts'

/** Changes how far reviewers of an organization may go above what was asked, or what the policy could lend: the log has it. */
export async function changeReviewBounds(
  installation: Installation,
  act: OperatorAct,
  to: ReviewBounds,
): Promise<ReviewBounds | { problem: string }> {
  const refused = refusal(act, 'set review bounds') ?? boundsProblem(to)
  if (refused) return refused
  const { organizationId, reason } = act
  const from = await installation.stores.production.reviewBounds(organizationId)
  if (from.ask_above_percent === to.ask_above_percent && from.refuse_above_times === to.refuse_above_times)
    return { problem: 'these are the bounds already' }
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

function boundsProblem({ ask_above_percent, refuse_above_times }: ReviewBounds): { problem: string } | undefined {
  const isWithin = (value: number, least: number, most: number) =>
    Number.isInteger(value) && value >= least && value <= most
  const { ask_above_percent: percentMax, refuse_above_times: timesMax } = REVIEW_BOUNDS_MAX
  if (!isWithin(ask_above_percent, 0, percentMax))
    return { problem: `limits can be let through up to ${percentMax} % above, in whole percent` }
  if (!isWithin(refuse_above_times, 1, timesMax))
    return { problem: `limits can be refused above 1 to ${timesMax} times what was asked` }
  if (100 + ask_above_percent > 100 * refuse_above_times)
    return { problem: 'a limit would be refused before it is asked about: raise the multiple or lower the percentage' }
  return undefined
}
