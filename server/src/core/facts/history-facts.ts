import { moneyNumber } from '../money.ts'
import { type Fact, type FactSet, known, missing } from './facts.ts'
import type { HistoryState } from './history-state.ts'
import type { OutcomeType } from './outcome-course.ts'

/** The features of the entity's own history; what is outstanding is told in the currency of the request. */
export function historyFacts(history: HistoryState, currency: string | undefined): FactSet {
  const { outcomes, worstDaysPastDue } = history
  const count = (...types: OutcomeType[]) => known(types.reduce((sum, type) => sum + (outcomes[type] ?? 0), 0))
  return {
    'history.repaid': count('repaid'),
    'history.late': count('late'),
    'history.settled': count('settled'),
    'history.defaults': count('default', 'charged_off'),
    'history.abuse': count('fraud_confirmed', 'access_abused'),
    'history.worst_days_past_due': known(worstDaysPastDue),
    ...outstandingFacts(history, currency),
  }
}

function outstandingFacts({ openCredits }: HistoryState, currency: string | undefined): Record<string, Fact> {
  const credits = Object.values(openCredits)
  if (currency === undefined) {
    return {
      'history.outstanding': missing('not_requested'),
      'history.open_in_other_currency': missing('not_requested'),
    }
  }
  const same = credits.filter((credit) => credit.currency === currency)
  const units = same.reduce((sum, credit) => sum + BigInt(credit.units), 0n)
  return {
    'history.outstanding': known(moneyNumber(units)),
    'history.open_in_other_currency': known(credits.length - same.length),
  }
}
