import { moneyNumber } from '../money.ts'
import type { OutcomeType } from '../vocabularies.ts'
import { type Fact, type FactSet, known, missing } from './facts.ts'
import type { HistoryState } from './history-state.ts'
import { ownProperty } from './own-property.ts'

/** The features of the entity's own history; open credits are counted in the currency of the request and in others. */
export function historyFacts(history: HistoryState, currency: string | undefined): FactSet {
  const { outcomes, worstDaysPastDue } = history
  const count = (...types: OutcomeType[]) => known(types.reduce((sum, type) => sum + (outcomes[type] ?? 0), 0))
  const { outstanding, openInOthers } = openCreditFacts(history, currency)
  return {
    'history.abuse': count('fraud_confirmed', 'access_abused'),
    'history.defaults': count('default', 'charged_off'),
    'history.late': count('late'),
    'history.open_in_other_currency': openInOthers,
    'history.outstanding': outstanding,
    'history.repaid': count('repaid'),
    'history.settled': count('settled'),
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
