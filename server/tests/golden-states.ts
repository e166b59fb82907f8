import {
  applyConsent,
  applyFeatureSnapshot,
  applyIdentityLink,
  applyOutcome,
  applyTransactions,
  type EntityState,
  emptyState,
  type TransactionFact,
} from '../src/core/facts/entity-state.ts'

/** The time of every golden decision. */
export const GOLDEN_NOW = '2026-06-15T12:00:00.000Z'

/** One applicant of the golden corpus. */
export interface GoldenCase {
  state: EntityState
  entity: { id?: string; type: string | null; country: string | null }
  request: { product: string; requestedAmount?: number; currency?: string }
}

/** Pseudo-random draws from a fixed seed, so that the corpus is the same on every machine. */
interface Draw {
  below: (bound: number) => number
  chance: (percent: number) => boolean
  oneOf: <Item>(items: readonly Item[]) => Item
}

/** The minimal standard generator of Park and Miller; exact in doubles. */
function seededDraw(seed: number): Draw {
  let state = seed
  const below = (bound: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
  return {
    below,
    chance: (percent) => below(100) < percent,
    oneOf: (items) => items[below(items.length)]!,
  }
}

/** The applicants of the corpus, in groups: decided under the sandbox, the relationship and the bureau policy. */
export function goldenCases(): [forSandbox: GoldenCase[], forRelationship: GoldenCase[], forBureau: GoldenCase[]] {
  const [sandbox, relationship, bureau] = [seededDraw(19_990_701), seededDraw(20_260_615), seededDraw(20_261_117)]
  return [
    Array.from({ length: 360 }, () => goldenCase(sandbox)),
    Array.from({ length: 90 }, () => goldenCase(relationship)),
    Array.from({ length: 90 }, () => bureauCase(bureau)),
  ]
}

/** An applicant without bank data, whom the bureau knows well, hardly or not at all. */
function bureauCase(draw: Draw): GoldenCase {
  let state = emptyState()
  if (draw.chance(95)) state = withIdentity(state, draw)
  if (draw.chance(95)) state = withConsents(state, draw)
  if (draw.chance(95)) state = withApplication(state, draw)
  if (draw.chance(75)) state = withBureauReport(state, draw)
  if (draw.chance(30)) state = withOutcomes(state, draw)
  const entity = { id: `ent_${draw.below(1_000_000)}`, type: 'person', country: draw.oneOf(['DE', null]) }
  const product = draw.oneOf(['default', 'personal_loan', 'personal_loan', 'unheard_of'])
  if (draw.chance(5)) return { state, entity, request: { product } }
  const requestedAmount = draw.oneOf([400, 1500, 1500, 5000, 12_000, 40_000])
  return { state, entity, request: { product, requestedAmount, currency: 'EUR' } }
}

function withApplication(state: EntityState, draw: Draw): EntityState {
  return applyFeatureSnapshot(state, {
    source: 'application',
    asOf: daysAgo(draw.below(20)),
    features: {
      'application.monthly_income': 1200 + draw.below(5000),
      'application.housing_cost': draw.chance(90) ? draw.below(1400) : null,
      'application.employment': draw.oneOf([
        'permanent',
        'permanent',
        'civil_service',
        'fixed_term',
        'student',
        'none',
      ]),
      'application.months_employed': draw.below(90),
      'application.residence_months': draw.chance(95) ? draw.below(90) : null,
      'application.dependants': draw.below(5),
    },
  })
}

function withBureauReport(state: EntityState, draw: Draw): EntityState {
  const isGood = draw.chance(70)
  return applyFeatureSnapshot(state, {
    source: 'bureau',
    asOf: daysAgo(draw.chance(85) ? draw.below(60) : 55 + draw.below(15)),
    features: {
      'bureau.score': draw.chance(92) ? (isGood ? 640 : 480) + draw.below(160) : null,
      'bureau.open_loans': draw.below(isGood ? 3 : 8),
      'bureau.monthly_payments': draw.below(isGood ? 500 : 1500),
      'bureau.utilisation': draw.below(isGood ? 60 : 130) / 100,
      'bureau.inquiries_6m': draw.below(isGood ? 3 : 9),
      'bureau.worst_arrears_24m': isGood ? 0 : draw.below(4),
      'bureau.oldest_account_months': 5 + draw.below(160),
      'bureau.public_records': draw.chance(3) ? 1 : 0,
      'bureau.defaults_36m': draw.chance(3) ? 1 : 0,
    },
  })
}

/** An applicant whose facts are known, missing, revoked or stale, in proportions that lead to every verdict. */
function goldenCase(draw: Draw): GoldenCase {
  // The sandbox policy has no terms for the Icelandic króna.
  const currency = draw.chance(93) ? 'EUR' : 'ISK'
  let state = emptyState()
  if (draw.chance(95)) state = withAccount(state, draw, currency)
  if (draw.chance(90)) state = withIdentity(state, draw)
  if (draw.chance(85)) state = withConsents(state, draw)
  if (draw.chance(40)) state = withSnapshot(state, draw)
  if (draw.chance(20)) state = withOutcomes(state, draw)
  if (draw.chance(10)) state = withOpenCredit(state, draw)
  const negativeExposure = draw.chance(88) ? 0 : draw.below(60) / 100
  const [positiveSupport, evidenceCount] = [draw.below(10) / 100, draw.below(3)]
  const exposure = {
    negativeExposure,
    negativeExposureWithoutPayments: negativeExposure,
    positiveSupport,
    evidenceCount,
  }
  state = { ...state, graph: { ...exposure, paths: [] } }
  return {
    state,
    entity: { type: draw.oneOf(['person', 'business', null]), country: draw.oneOf(['DE', 'CZ', null]) },
    request: requestOf(draw, currency),
  }
}

function requestOf(draw: Draw, currency: string): GoldenCase['request'] {
  const product = draw.oneOf(['default', 'personal_loan', 'business_credit_line', 'unheard_of'])
  if (draw.chance(10)) return { product }
  const requestedAmount = draw.oneOf([500, 1234.56, 3000, 8000, 20_000, 150_000])
  return { product, requestedAmount, currency: draw.chance(95) ? currency : 'USD' }
}

function withAccount(state: EntityState, draw: Draw, currency: string): EntityState {
  const isHealthy = draw.chance(60)
  const isIndebted = draw.chance(10)
  const salary = 1500 + draw.below(5000)
  const swing = isHealthy ? 5 : 10 + draw.below(90)
  const spendingPercent = isHealthy ? 30 + draw.below(45) : 75 + draw.below(35)
  const monthsSilent = draw.chance(85) ? 0 : 1 + draw.below(8)
  const saysBalance = draw.chance(92)
  let balance = isHealthy ? 3000 + draw.below(9000) : 500 + draw.below(4000)
  const transactions: TransactionFact[] = []
  const book = (month: number, day: number, amount: number, category?: string) => {
    balance += amount
    const occurredAt = new Date(Date.UTC(2026, 5 - month, day, 8)).toISOString()
    if (occurredAt > GOLDEN_NOW) return
    transactions.push({
      occurredAt,
      externalId: `tx-${transactions.length}`,
      amount: Math.abs(amount),
      currency,
      direction: amount > 0 ? 'credit' : 'debit',
      ...(saysBalance && { balanceAfter: balance }),
      ...(category !== undefined && { category }),
    })
  }
  for (let month = 2 + draw.below(14); month >= monthsSilent; month--) {
    const income = Math.max(1, Math.round((salary * (100 - swing + draw.below(2 * swing + 1))) / 100))
    book(month, 1, income)
    book(month, 3, -Math.max(1, Math.round((salary * spendingPercent) / 250)))
    if (isIndebted) book(month, 5, -Math.round(salary * 0.4), 'loan_repayment')
    if (draw.chance(10)) book(month, 7, 100 + draw.below(900), 'own_transfer')
    if (!isHealthy && draw.chance(6)) book(month, 9, 35, 'returned_payment')
    book(month, 18, -Math.max(1, Math.round((salary * spendingPercent) / 170)))
  }
  return applyTransactions(state, transactions)
}

function withIdentity(state: EntityState, draw: Draw): EntityState {
  let next = state
  for (let count = 1 + draw.below(3); count > 0; count--) {
    next = applyIdentityLink(next, {
      identifier: {
        type: draw.oneOf(['government_id', 'tax_id', 'bank_account', 'email', 'phone'] as const),
        hash: String(draw.below(4)).repeat(64),
      },
      verification: { status: draw.chance(80) ? 'verified' : draw.oneOf(['unverified', 'failed'] as const) },
      createdAt: daysAgo(draw.below(900)),
    })
  }
  return next
}

function withConsents(state: EntityState, draw: Draw): EntityState {
  const grantedAt = daysAgo(30 + draw.below(400))
  const expiry = draw.chance(8) ? { expiresAt: daysAgo(draw.below(60) - 30) } : {}
  const granted = applyConsent(state, {
    purpose: 'credit_underwriting',
    status: 'granted',
    dataCategories: ['identity', 'transactions', 'features', 'graph'],
    grantedAt,
    ...expiry,
  })
  if (draw.chance(92)) return granted
  return applyConsent(granted, {
    purpose: draw.oneOf(['credit_underwriting', 'transaction_analysis', 'data_sharing'] as const),
    status: 'revoked',
    dataCategories: draw.chance(50) ? [] : [draw.oneOf(['identity', 'transactions', 'features', 'graph'] as const)],
    grantedAt,
    revokedAt: daysAgo(draw.below(20)),
  })
}

function withSnapshot(state: EntityState, draw: Draw): EntityState {
  return applyFeatureSnapshot(state, {
    source: 'crm',
    asOf: daysAgo(draw.below(200)),
    features: {
      tenure_months: draw.chance(85) ? draw.below(120) : null,
      segment: draw.oneOf(['retail', 'premium', 'student']),
      is_employee: draw.chance(10),
    },
  })
}

function withOutcomes(state: EntityState, draw: Draw): EntityState {
  let next = state
  for (let count = 1 + draw.below(3); count > 0; count--) {
    const type = draw.chance(70) ? 'repaid' : draw.oneOf(['late', 'late', 'default', 'fraud_confirmed'] as const)
    const occurredAt = daysAgo(draw.below(700))
    const ids = { id: `out_${count}`, decisionId: `dec_${count}` }
    next = applyOutcome(next, { ...ids, type, occurredAt, daysPastDue: draw.below(40) })
  }
  return next
}

function withOpenCredit(state: EntityState, draw: Draw): EntityState {
  const funded = {
    id: 'out_open',
    decisionId: 'dec_open',
    type: 'funded',
    occurredAt: daysAgo(draw.below(300)),
  } as const
  return applyOutcome(state, {
    ...funded,
    amount: 500 + draw.below(20_000),
    currency: draw.oneOf(['EUR', 'EUR', 'USD']),
  })
}

function daysAgo(days: number): string {
  return new Date(Date.parse(GOLDEN_NOW) - days * 86_400_000).toISOString()
}
