/** What can become of a decision in the real world. */
export type OutcomeType =
  | 'funded'
  | 'current'
  | 'late'
  | 'default'
  | 'charged_off'
  | 'repaid'
  | 'settled'
  | 'fraud_confirmed'
  | 'access_abused'
  | 'closed'

/** What was reported of a decision, and when it happened. */
export interface Outcome {
  type: OutcomeType
  occurredAt: string
}

const NEUTRAL: readonly OutcomeType[] = ['funded', 'closed']
const FINAL: readonly OutcomeType[] = ['fraud_confirmed', 'access_abused']
const CREDIT_ENDS: readonly OutcomeType[] = ['repaid', 'settled', 'charged_off', 'closed']

/** What may follow an outcome that does not simply give way to whatever happens later. */
const MAY_FOLLOW: Partial<Record<OutcomeType, readonly OutcomeType[]>> = {
  default: ['repaid', 'settled', 'charged_off', ...FINAL],
  charged_off: ['repaid', 'settled', ...FINAL],
  fraud_confirmed: [],
  access_abused: [],
}

/**
 * The outcome a decision stands at after one more report; the reports may come in any order.
 *
 * | stands at                        | gives way to, if that happened later                         |
 * |----------------------------------|--------------------------------------------------------------|
 * | nothing yet                      | anything                                                     |
 * | funded, closed                   | anything but funded and closed, whenever it happened         |
 * | current, late, repaid, settled   | anything but funded and closed                               |
 * | default                          | repaid, settled (a cure), charged_off, fraud, abuse          |
 * | charged_off                      | repaid, settled (a cure), fraud, abuse                       |
 * | fraud_confirmed, access_abused   | nothing; and they replace anything else, whenever it happened |
 *
 * Of two reports of one instant, the one made later is the correction. A settled credit is no default any more, but it
 * was not repaid either.
 */
export function effectiveOutcome<Reported extends Outcome>(previous: Reported | undefined, next: Reported): Reported {
  if (previous === undefined) return next
  return next.occurredAt < previous.occurredAt ? laterStands(next, previous) : laterStands(previous, next)
}

function laterStands<Reported extends Outcome>(earlier: Reported, later: Reported): Reported {
  if (isNeutral(later.type)) return earlier
  const allowed = MAY_FOLLOW[earlier.type]
  return allowed === undefined || allowed.includes(later.type) ? later : earlier
}

/** Whether an outcome says neither good nor bad: it only opens or closes the books. */
export function isNeutral(type: OutcomeType): boolean {
  return NEUTRAL.includes(type)
}

/** Whether nothing of the credit is outstanding after this outcome. */
export function endsCredit(type: OutcomeType): boolean {
  return CREDIT_ENDS.includes(type)
}
