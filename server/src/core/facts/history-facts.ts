import { moneyNumber } from '../money.ts'
import { ownProperty } from '../stored-json.ts'
import { OUTCOME_TYPES, type OutcomeType } from '../vocabularies.ts'
import { type Fact, type FactSet, known, missing } from './facts.ts'
import type { HistoryState } from './history-state.ts'

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

/** The features of the entity's own history; open credits are counted in the currency of the request and in others. */
export function historyFacts(history: HistoryState, currency: string | undefined): FactSet {
  const { outcomes, worstDaysPastDue } = history
  const count = (feature: (typeof COUNTED_IN)[OutcomeType]) =>
    known(OUTCOME_TYPES.reduce((sum, type) => sum + (COUNTED_IN[type] === feature ? (outcomes[type] ?? 0) : 0), 0))
  const { outstanding, openInOthers } = openCreditFacts(history, currency)
  return {
    'history.abuse': count('history.abuse'),
    'history.defaults': count('history.defaults'),
    'history.late': count('history.late'),
    'history.open_in_other_currency': openInOthers,
    'history.outstanding': outstanding,
    'history.repaid': count('history.repaid'),
    'history.settled': count('history.settled'),
    'history.worst_days_past_due': known(worstDaysPastDue),
  }
}

function openCreditFacts(
  { openCredits }: HistoryState,
  currency: string | undefined,
): Record<'outstanding' | 'openInOthers', Fact> {
  if (currency === undefined) return { outstanding: missing('not_requested'), openInOthers: missing('not_requested') }
  const others = Object.entries(openCredits).filter(([other]) => other !== currency)
  const units = BigInt(ownProperty(openCredits, currency)?.units ?? 0)
  return {
    outstanding: known(moneyNumber(units)),
    openInOthers: known(others.reduce((sum, [, { credits }]) => sum + credits, 0)),
  }
}
