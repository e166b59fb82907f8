import { REVIEW_BOUNDS_MAX, type ReviewBounds } from '../core/review-bounds.ts'
import { actorOf, type OperatorActor, type OrganizationAct, permitted, type Reasoned } from './act.ts'
import { conflict, invalid } from './problem.ts'
import { recordOnProduction } from './record-on-production.ts'

/** Changes how far reviewers of an organization may go from what was asked, or what the policy could lend: the log has it. */
export const changeReviewBounds = permitted(
  'set review bounds',
  async (installation, act: Reasoned<OrganizationAct<OperatorActor>>, to: ReviewBounds): Promise<ReviewBounds> => {
    requirePossible(to)
    const { organizationId, reason } = act
    const from = await installation.stores.production.reviews.bounds(organizationId)
    if (BOUNDS.every((bound) => from[bound] === to[bound]))
      throw conflict('bounds_unchanged', 'These are the bounds already.')
    await recordOnProduction(
      installation,
      { organizationId, actor: actorOf(act) },
      {
        type: 'review_bounds.changed',
        trailId: organizationId,
        subject: { type: 'organization', id: organizationId },
        data: { from, to, reason },
      },
    )
    return to
  },
)

const BOUNDS = Object.keys(REVIEW_BOUNDS_MAX) as (keyof ReviewBounds)[]

function requirePossible({ ask_above_percent, refuse_above_times, ask_below_percent }: ReviewBounds): void {
  const requireWithin = (value: number, [least, most]: [number, number], otherwise: string) => {
    if (!Number.isInteger(value) || value < least || value > most) throw invalid('bounds_out_of_range', otherwise)
  }
  const { ask_above_percent: percentMax, refuse_above_times: timesMax, ask_below_percent: lowMax } = REVIEW_BOUNDS_MAX
  requireWithin(
    ask_above_percent,
    [0, percentMax],
    `Limits can be let through up to ${percentMax} % above, in whole percent.`,
  )
  requireWithin(refuse_above_times, [1, timesMax], `Limits can be refused above 1 to ${timesMax} times what was asked.`)
  requireWithin(
    ask_below_percent,
    [0, lowMax],
    `Limits can be asked about below 0 to ${lowMax} % of what was asked, in whole percent.`,
  )
  if (100 + ask_above_percent > 100 * refuse_above_times)
    throw invalid('bounds_contradictory', 'A limit would be refused before it is asked about.')
}
