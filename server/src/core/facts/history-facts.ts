import { moneyNumber } from '../money.ts'
import { type Fact, type FactSet, known, missing } from './facts.ts'
import type { HistoryState } from './history-state.ts'
import type { OutcomeType } from './outcome-course.ts'
import { ownProperty } from './own-property.ts'

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
  if (currency === undefined) {
    return {
      'history.outstanding': missing('not_requested'),
      'history.open_in_other_currency': missing('not_requested'),
    }
  }
  const others = Object.entries(openCredits).filter(([other]) => other !== currency)
  const units = BigInt(ownProperty(openCredits, currency)?.units ?? 0)
  return {
    'history.outstanding': known(moneyNumber(units)),
    'history.open_in_other_currency': known(others.reduce((sum, [, { credits }]) => sum + credits, 0)),
  }
}
