/** The days before a decision that facts about flows look back over, the longest window of a fact. */
export const YEAR_DAYS = 365
/** The days that facts about balances look back over. */
export const HALF_YEAR_DAYS = 180
/** The longer one of the windows in which overdrawn days are counted. */
export const QUARTER_DAYS = 90
/** The shorter one of the windows in which overdrawn days are counted, and the length of a month in facts. */
export const MONTH_DAYS = 30

/** The windows of the facts, all of which end at the decision, with what is computed over each. */
export const FACT_WINDOWS: readonly { days: number; what: string }[] = [
  { days: YEAR_DAYS, what: 'income, spending, returned payments' },
  { days: HALF_YEAR_DAYS, what: 'balances, reserve, leanest weeks' },
  { days: QUARTER_DAYS, what: 'overdrawn days' },
  { days: MONTH_DAYS, what: 'overdrawn days' },
]
