import { dayOf } from '../../graph/decay.ts'
import { HALF_YEAR_DAYS, MONTH_DAYS, YEAR_DAYS } from '../fact-windows.ts'
import { type Fact, type FactSet, known, type MissingBecause, missing } from '../facts.ts'
import { ratioOf, shareAtLeast, sixDecimals } from '../units.ts'
import { holdsMoney, shareOf } from './accounts/account-terms.ts'
import { type AccountFigures, type CombinedAccounts, combineAccounts } from './accounts/combine-accounts.ts'
import { balanceFigures } from './balance-facts.ts'
import type { CashflowState, CurrencyCashflow } from './cashflow-state.ts'
import { conductFacts } from './conduct-facts.ts'
import { providerFacts } from './data-providers.ts'
import type { DayFigures } from './day-figures.ts'
import { incomeFigures, leanestIncome, lengthOf } from './income-facts.ts'
import { type ObservedSpan, type ObservedYear, observedSpan } from './observed-span.ts'

// Shorter than a month, an account shows no month of income or spending.
const FLOW_DAYS_MIN = 30

/** The cash-flow features in the order of their names: flows and balances in one currency, conduct in all. */
export function cashflowFacts(state: CashflowState, { currency, now }: { currency: string; now: string }): FactSet {
  const today = dayOf(now)
  const range = { after: today - YEAR_DAYS, until: today }
  const years = new Map(
    Object.entries(state.currencies).map(([name, flow]) => {
      const year = combineAccounts(flow, { terms: state.accounts, range })
      return [name, { year, span: observedSpan(year.days) }]
    }),
  )
  const conduct = conductFacts([...years.values()], today)
  const others = otherCurrencies(years, currency)
  const { observation, flow, balance } = currencyFacts(state, { currency, years, today, isOnlyCurrency: others === 0 })
  return {
    'cashflow.applicant_share': observation.applicantShare,
    'cashflow.average_balance': balance.averageBalance,
    'cashflow.balance_variation': balance.balanceVariation,
    'cashflow.balances_reconciled': observation.balancesReconciled,
    'cashflow.circular_share': observation.circularShare,
    'cashflow.days_observed': observation.daysObserved,
    'cashflow.days_since_last': observation.daysSinceLast,
    'cashflow.days_since_recurring': flow.daysSinceRecurring,
    'cashflow.debits_in_other_currencies': debitsInOthers(years, currency),
    'cashflow.debits_with_balance': observation.debitsWithBalance,
    'cashflow.deepest_overdraft': balance.deepestOverdraft,
    'cashflow.independent_share': observation.independentShare,
    'cashflow.last_balance': balance.lastBalance,
    'cashflow.low_balance_share': balance.lowBalanceShare,
    'cashflow.lowest_balance': balance.lowestBalance,
    'cashflow.lowest_income_to_outflow': flow.lowestIncomeToOutflow,
    'cashflow.monthly_debt_service': flow.monthlyDebtService,
    'cashflow.monthly_income': flow.monthlyIncome,
    'cashflow.monthly_spending': flow.monthlySpending,
    'cashflow.other_currencies': others === undefined ? missing('no_data') : known(others),
    'cashflow.other_income': flow.otherIncome,
    'cashflow.outflow_to_income': flow.outflowToIncome,
    'cashflow.overdrawn_days_30': conduct.overdrawnDays30,
    'cashflow.overdrawn_days_365': conduct.overdrawnDays365,
    'cashflow.overdrawn_days_90': conduct.overdrawnDays90,
    'cashflow.owed': balance.owed,
    'cashflow.recurring_income': flow.recurringIncome,
    'cashflow.reserve': balance.reserve,
    'cashflow.returned_payments': conduct.returnedPayments,
    'cashflow.stopped_income': flow.stoppedIncome,
  }
}

/** The facts of one currency: how much was seen, what came in and went out, and what was left. */
interface CurrencyFacts {
  observation: Record<ObservationFact, Fact>
  flow: Record<FlowFact, Fact>
  balance: Record<BalanceFact, Fact>
}

/** What the facts of one currency are computed from. */
interface Observed {
  cashflow: CurrencyCashflow
  /** The last year; of its days, `observed` are those within the observed span, `recent` those in its last half year. */
  year: CombinedAccounts
  observed: readonly DayFigures[]
  recent: readonly DayFigures[]
  span: ObservedSpan
  today: number
  /** The days since the span ended: the age of all its facts. */
  age: number
  /** Whether all income is in this currency. */
  isOnlyCurrency: boolean
}

// Income on so many days of a year is no accident of a journey.
const INCOME_DAYS_MIN = 3

/** How many other currencies have income; undefined if there are no transactions at all. */
function otherCurrencies(years: ReadonlyMap<string, ObservedYear>, currency: string): number | undefined {
  let count = 0
  let hasDays = false
  for (const [name, { year }] of years) {
    hasDays ||= year.days.length > 0
    const paid = year.days.filter(({ hasIncome }) => hasIncome).length
    if (name !== currency && paid >= INCOME_DAYS_MIN) count += 1
  }
  return hasDays ? count : undefined
}

/**
 * The share of the debits, by number, that are in other currencies: of whatever kind and account, so that neither a category nor
 * the kind of an account hides one. Amounts in two currencies cannot be compared, because nothing is converted.
 */
function debitsInOthers(years: ReadonlyMap<string, ObservedYear>, currency: string): Fact {
  let [all, others] = [0, 0]
  for (const [name, { year }] of years) {
    for (const { days } of year.accounts) {
      for (const { debits } of days) {
        all += debits
        if (name !== currency) others += debits
      }
    }
  }
  if (all === 0) return missing('no_data')
  return known(shareAtLeast(others, all))
}

const NO_YEAR: ObservedYear = { year: { accounts: [], days: [] }, span: undefined }

function currencyFacts(
  state: CashflowState,
  {
    currency,
    years,
    today,
    isOnlyCurrency,
  }: {
    currency: string
    years: ReadonlyMap<string, ObservedYear>
    today: number
    isOnlyCurrency: boolean
  },
): CurrencyFacts {
  const { year, span } = years.get(currency) ?? NO_YEAR
  if (span === undefined) {
    return allMissing([...years.values()].some((other) => other.year.days.length > 0) ? 'other_currency' : 'no_data')
  }
  const observed = year.days.filter(({ day }) => day >= span.first && day <= span.last)
  const recent = observed.filter(({ day }) => day > span.last - HALF_YEAR_DAYS)
  const cashflow = state.currencies[currency]!
  const account: Observed = { cashflow, year, observed, recent, span, today, age: today - span.last, isOnlyCurrency }
  return { observation: observationFacts(account), flow: flowFacts(account), balance: balanceFacts(account) }
}

type ObservationFact =
  | 'applicantShare'
  | 'independentShare'
  | 'daysObserved'
  | 'daysSinceLast'
  | 'circularShare'
  | 'debitsWithBalance'
  | 'balancesReconciled'

/** How much of the account was seen, and how far it can be believed. */
function observationFacts({ year, span, age }: Observed): Record<ObservationFact, Fact> {
  let [inflow, circular, debits, withBalance, checked, broken] = [0, 0, 0, 0, 0, 0]
  for (const day of year.days) {
    inflow += day.income + day.circularIn
    circular += day.circularIn
  }
  for (const account of year.accounts) {
    checked += account.checked
    broken += account.broken
    if (!holdsMoney(account.terms)) continue
    for (const day of account.days) {
      debits += day.debits
      withBalance += day.debitBalances
    }
  }
  return {
    daysObserved: known(lengthOf(span), age),
    daysSinceLast: known(age),
    circularShare: inflow === 0 ? missing('no_data') : known(ratioOf(circular, inflow), age),
    debitsWithBalance: debits === 0 ? missing('no_data') : known(ratioOf(withBalance, debits), age),
    balancesReconciled: checked === 0 ? missing('no_data') : known(ratioOf(checked - broken, checked), age),
    ...providerFacts(year.accounts, age),
  }
}

type FlowFact =
  | 'monthlyIncome'
  | 'recurringIncome'
  | 'otherIncome'
  | 'stoppedIncome'
  | 'daysSinceRecurring'
  | 'monthlySpending'
  | 'monthlyDebtService'
  | 'outflowToIncome'
  | 'lowestIncomeToOutflow'

function flowFacts(account: Observed): Record<FlowFact, Fact> {
  const { cashflow, observed, span, today, age } = account
  const days = lengthOf(span)
  if (days < FLOW_DAYS_MIN) return FLOWS_TOO_SHORT
  let [income, repaid, spends] = [0, 0, false]
  for (const day of observed) {
    income += day.income
    repaid += day.repaid
    spends ||= day.hasOutflow
  }
  const { recurring, other, stopped, lastPaid } = incomeFigures(cashflow, { income, span })
  const outflow = monthlyOf(observed, span, (figures) => figures.outflow)
  // Income that is partly in another currency is not known, and cannot be compared with spending.
  const allIncome = (fact: Fact) => (account.isOnlyCurrency ? fact : missing('other_currency'))
  return {
    monthlyIncome: allIncome(known(money(recurring + other), age)),
    recurringIncome: allIncome(known(money(recurring), age)),
    otherIncome: allIncome(known(money(other), age)),
    stoppedIncome: allIncome(known(money(stopped), age)),
    daysSinceRecurring: lastPaid === undefined ? missing('no_data') : known(Math.max(0, today - lastPaid)),
    monthlySpending: spends
      ? known(money(monthlyOf(observed, span, ({ outflow, repaid }) => outflow - repaid)), age)
      : missing('no_data'),
    monthlyDebtService: spends ? known(money(debtService(account, repaid)), age) : missing('no_data'),
    outflowToIncome: allIncome(
      spends ? known(ratioOf(outflow, (income * MONTH_DAYS) / days), age) : missing('no_data'),
    ),
    lowestIncomeToOutflow: allIncome(leanFact(account)),
  }
}

/**
 * What an amount of each day comes to in a month. Spending begins and ends a span, so its first and last day stand for half a
 * gap each: counted whole, two months of monthly payments had three of them.
 */
function monthlyOf(
  days: readonly DayFigures[],
  { first, last }: ObservedSpan,
  amountOf: (figures: DayFigures) => number,
): number {
  let sum = 0
  for (const figures of days) {
    const isEnd = figures.day === first || figures.day === last
    sum += isEnd ? amountOf(figures) / 2 : amountOf(figures)
  }
  return (sum * MONTH_DAYS) / (last - first)
}

// At most three payments of a monthly loan fall into 88 days.
const LOAN_DAYS = 88
const LOAN_MONTHS = 3

/** What loans cost a month now: over the last months or over the year, whichever is more, so that a new loan counts. */
function debtService({ observed, span }: Observed, repaidInAll: number): number {
  let recent = 0
  for (const { day, repaid } of observed) if (day > span.last - LOAN_DAYS) recent += repaid
  const months = Math.min(LOAN_MONTHS, lengthOf(span) / MONTH_DAYS)
  return Math.max(recent / months, (repaidInAll * MONTH_DAYS) / lengthOf(span))
}

function leanFact({ recent, span, age }: Observed): Fact {
  const halfYear = { first: Math.max(span.first, span.last - HALF_YEAR_DAYS + 1), last: span.last }
  const lean = leanestIncome(recent, halfYear)
  if (lean === undefined) return missing('too_short')
  const outflow = monthlyOf(recent, halfYear, (figures) => figures.outflow)
  return outflow === 0 ? missing('no_data') : known(ratioOf(lean, outflow), age)
}

type BalanceFact =
  | 'averageBalance'
  | 'balanceVariation'
  | 'lowBalanceShare'
  | 'lowestBalance'
  | 'lastBalance'
  | 'reserve'
  | 'deepestOverdraft'
  | 'owed'

function balanceFacts({ recent, year, span, today, age }: Observed): Record<BalanceFact, Fact> {
  // One low day is enough, so the window of the lowest ends today: with the newest debit left out it would reach further back.
  const [accounts, lowestAfter] = [year.accounts.length, today - HALF_YEAR_DAYS]
  const figures = balanceFigures(recent, { until: span.last, lowestAfter, accounts })
  const holding = year.accounts.filter(({ terms }) => holdsMoney(terms))
  const owing = year.accounts.filter(({ terms }) => !holdsMoney(terms))
  const debts = { deepestOverdraft: deepest(holding, age), owed: owedOn(owing, age) }
  if (figures === undefined) return { ...BALANCES_MISSING, ...debts }
  const last = inAll(holding)
  return {
    averageBalance: known(money(figures.average), age),
    balanceVariation: known(sixDecimals(figures.variation), age),
    lowBalanceShare: figures.lowShare === undefined ? missing('no_data') : known(sixDecimals(figures.lowShare), age),
    lowestBalance: figures.lowest === undefined ? missing('no_data') : known(money(figures.lowest), age),
    reserve: known(money(figures.reserve), age),
    lastBalance: last === undefined ? missing('no_data') : known(Math.floor(last) / UNITS_PER_MAJOR, age),
    ...debts,
  }
}

/** What accounts hold in all by their last balances, as far as it is the entity's; undefined if none reports any. */
function inAll(accounts: readonly AccountFigures[]): number | undefined {
  const balances = accounts.flatMap(({ terms, lastBalance }) =>
    lastBalance === undefined ? [] : shareOf(terms) * lastBalance,
  )
  return balances.length === 0 ? undefined : balances.reduce((sum, balance) => sum + balance)
}

/** What is owed on cards and loans: a balance above zero is none. */
function owedOn(accounts: readonly AccountFigures[], age: number): Fact {
  const below = accounts.map((account) => ({
    ...account,
    lastBalance: account.lastBalance && Math.min(0, account.lastBalance),
  }))
  const sum = inAll(below)
  return sum === undefined ? missing('no_data') : known(money(Math.max(0, -sum)), age)
}

/** How far below zero one of the accounts was in the last year, as a positive amount. */
function deepest(accounts: readonly AccountFigures[], age: number): Fact {
  let lowest = Number.POSITIVE_INFINITY
  for (const { days, terms } of accounts) {
    for (const { balances, lowestBalance } of days)
      if (balances > 0) lowest = Math.min(lowest, shareOf(terms) * lowestBalance)
  }
  return lowest === Number.POSITIVE_INFINITY ? missing('no_data') : known(money(Math.max(0, -lowest)), age)
}

const FLOWS_TOO_SHORT = flowsMissing('too_short')
const BALANCES_MISSING = balancesMissing('no_data')

function allMissing(because: MissingBecause): CurrencyFacts {
  return {
    observation: observationMissing(because),
    flow: flowsMissing(because),
    balance: balancesMissing(because),
  }
}

function observationMissing(because: MissingBecause): Record<ObservationFact, Fact> {
  const fact = missing(because)
  return {
    applicantShare: fact,
    independentShare: fact,
    daysObserved: fact,
    daysSinceLast: fact,
    circularShare: fact,
    debitsWithBalance: fact,
    balancesReconciled: fact,
  }
}

function flowsMissing(because: MissingBecause): Record<FlowFact, Fact> {
  const fact = missing(because)
  return {
    monthlyIncome: fact,
    recurringIncome: fact,
    otherIncome: fact,
    stoppedIncome: fact,
    daysSinceRecurring: fact,
    monthlySpending: fact,
    monthlyDebtService: fact,
    outflowToIncome: fact,
    lowestIncomeToOutflow: fact,
  }
}

function balancesMissing(because: MissingBecause): Record<BalanceFact, Fact> {
  const fact = missing(because)
  return {
    averageBalance: fact,
    balanceVariation: fact,
    lowBalanceShare: fact,
    lowestBalance: fact,
    reserve: fact,
    lastBalance: fact,
    deepestOverdraft: fact,
    owed: fact,
  }
}

const UNITS_PER_CENT = 100
const UNITS_PER_MAJOR = 10_000

/** Units of the state in major units, rounded down to cents. */
function money(units: number): number {
  return Math.floor(units / UNITS_PER_CENT) / 100
}
