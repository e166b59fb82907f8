import { moneyNumber } from '../money.ts'
import { ownProperty } from '../stored-json.ts'
import { OUTCOME_TYPES, type OutcomeType } from '../vocabularies.ts'
import { ageInDays, type Fact, type FactSet, known, missing } from './facts.ts'
import type { HistoryState } from './history-state.ts'
import { type RequestTimes, velocityFacts } from './velocity-facts.ts'

/** The feature that counts the decisions with each outcome; null if none does. */
const COUNTED_IN: Readonly<
  Record<OutcomeType, `history.${'abuse' | 'defaults' | 'late' | 'repaid' | 'settled'}` | null>
> = {
  funded: null,
  current: null,
  late: 'history.late',
  default: 'history.defaults',
  charged_off: 'history.defaults',
  repaid: 'history.repaid',
  settled: 'history.settled',
  fraud_confirmed: 'history.abuse',
  access_abused: 'history.abuse',
  closed: null,
}

/** How many days since the last default are counted: ten years. */
export const DEFAULT_DAYS_MAX = 3650

/** The features of the entity's own history; credits are counted in the currency of the request and in others. */
export function historyFacts(
  history: HistoryState,
  { currency, now, requests }: { currency: string | undefined; now: string; requests: RequestTimes },
): FactSet {
  const { outcomes, worstDaysPastDue, lastDefaultAt } = history
  const count = (feature: (typeof COUNTED_IN)[OutcomeType]) =>
    known(OUTCOME_TYPES.reduce((sum, type) => sum + (COUNTED_IN[type] === feature ? (outcomes[type] ?? 0) : 0), 0))
  const { outstanding, openInOthers, largestRepaid } = creditFacts(history, currency)
  const { in7Days, in30Days } = velocityFacts(requests)
  return {
    'history.abuse': count('history.abuse'),
    'history.days_since_default': known(daysSince(lastDefaultAt, now)),
    'history.defaults': count('history.defaults'),
    'history.largest_repaid': largestRepaid,
    'history.late': count('history.late'),
    'history.open_in_other_currency': openInOthers,
    'history.outstanding': outstanding,
    'history.repaid': count('history.repaid'),
    'history.requests_30_days': in30Days,
    'history.requests_7_days': in7Days,
    'history.settled': count('history.settled'),
    'history.worst_days_past_due': known(worstDaysPastDue),
  }
}

/** An entity without a default is like one whose default is as long ago as is counted: it is over. */
function daysSince(lastDefaultAt: string | undefined, now: string): number {
  return lastDefaultAt === undefined ? DEFAULT_DAYS_MAX : Math.min(DEFAULT_DAYS_MAX, ageInDays(lastDefaultAt, now))
}

function creditFacts(
  { openCredits, largestRepaid = {} }: HistoryState,
  currency: string | undefined,
): Record<'outstanding' | 'openInOthers' | 'largestRepaid', Fact> {
  if (currency === undefined) {
    const fact = missing('not_requested')
    return { outstanding: fact, openInOthers: fact, largestRepaid: fact }
  }
  const others = Object.entries(openCredits).filter(([other]) => other !== currency)
  const units = BigInt(ownProperty(openCredits, currency)?.units ?? 0)
  return {
    outstanding: known(moneyNumber(units)),
    largestRepaid: known(moneyNumber(BigInt(ownProperty(largestRepaid, currency) ?? 0))),
    openInOthers: known(others.reduce((sum, [, { credits }]) => sum + credits, 0)),
  }
}
