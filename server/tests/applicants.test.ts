/** Every applicant of `applicants.ts` through the API: the verdict that a credit officer would sign, for reasons that are true. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Applicant, type ApplicantTransaction, applicants } from './applicants.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const now = new Date().toISOString()
const DAY_MS = 86_400_000

const decisions = new Map<string, object>()

for (const [index, applicant] of applicants(now).entries()) {
  test(`${applicant.name}: ${applicant.verdicts.join(' or ')}`, async () => {
    const decision = await decide(applicant, index)
    const codes = decision.reason_codes.map(({ code }: { code: string }) => code)
    const seen = JSON.stringify(decision)
    assert.ok(applicant.verdicts.includes(decision.verdict), seen)
    for (const code of applicant.reasons ?? []) assert.ok(codes.includes(code), seen)
    for (const code of applicant.notReasons ?? []) assert.ok(!codes.includes(code), seen)
    assert.ok((decision.recommended_limit ?? 0) <= (applicant.limitMax ?? Infinity), seen)
    assert.equal(decision.repayment_probability === undefined, applicant.amount === undefined, seen)
    assertTrue(decision.reason_codes, applicant)
    if (applicant.sameAs === undefined) return
    const { verdict, reason_codes, recommended_limit, confidence } = decision
    const same = { verdict, reason_codes, recommended_limit, confidence }
    assert.deepEqual(same, decisions.get(applicant.sameAs) ?? same)
    decisions.set(applicant.sameAs, same)
  })
}

async function decide({ type, transactions, amount }: Applicant, index: number) {
  const post = async (path: string, body: unknown, headers?: Record<string, string>) => {
    const answer = await acme.post(path, body, headers)
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  const key = (name: string) => ({ 'Idempotency-Key': `${name}-${index}` })
  const { id } = await post('/v1/entities', {
    external_id: `applicant-${index}`,
    type,
    display_name: `Applicant ${index}`,
  })
  const verification = { status: 'verified', method: 'document', verified_at: now }
  for (const kind of ['government_id', 'tax_id']) {
    const identifier = { type: kind, value: `DE-${kind}-4711${index}` }
    await post(`/v1/entities/${id}/identity-links`, { identifier, verification })
  }
  await post(`/v1/entities/${id}/consents`, {
    purpose: 'credit_underwriting',
    status: 'granted',
    data_categories: ['identity', 'transactions', 'features', 'graph'],
    granted_at: now,
  })
  if (transactions.length > 0) await post(`/v1/entities/${id}/transactions`, { transactions }, key('transactions'))
  const credit = amount === undefined ? {} : { requested_amount: amount, currency: 'EUR' }
  return post(
    '/v1/underwrite',
    { entity_id: id, product: credit.requested_amount === undefined ? 'platform_access' : 'default', ...credit },
    key('underwrite'),
  )
}

/** What an applicant's account shows, computed apart from the engine. */
interface Seen {
  transactions: readonly ApplicantTransaction[]
  credits: number
  debits: number
  /** The share of what came in that is no income: transfers between friends and own accounts. */
  circularShare: number
  lowestAfterDebit: number[]
  days: number
  daysSinceLast: number
  instalment: number
  amount: number
}

function seenOf({ transactions, amount = 0 }: Applicant): Seen {
  const euro = transactions.filter(({ currency, category }) => currency === 'EUR' && category !== 'own_transfer')
  const sum = (all: ApplicantTransaction[]) => all.reduce((total, one) => total + one.amount, 0)
  const isAround = ({ counterparty }: ApplicantTransaction) => counterparty?.name.startsWith('Partner') ?? false
  const credits = euro.filter(({ direction }) => direction === 'credit')
  const debits = euro.filter(({ direction }) => direction === 'debit')
  const debitTimes = debits.map(({ occurred_at }) => Date.parse(occurred_at))
  return {
    transactions: euro,
    credits: sum(credits.filter((one) => !isAround(one))),
    debits: sum(debits.filter((one) => !isAround(one))),
    circularShare: sum(credits.filter(isAround)) / Math.max(1, sum(credits)),
    lowestAfterDebit: debits.flatMap(({ balance_after }) => balance_after ?? []).sort((a, b) => a - b),
    days: (Math.max(...debitTimes) - Math.min(...debitTimes)) / DAY_MS,
    daysSinceLast: (Date.parse(now) - Math.max(...debitTimes)) / DAY_MS,
    instalment: amount / 21.2434,
    amount,
  }
}

const overdrawn = (seen: Seen, days: number) => {
  const since = new Date(Date.parse(now) - days * DAY_MS).toISOString()
  const below = seen.transactions.filter(
    ({ direction, balance_after = 0, occurred_at }) =>
      direction === 'debit' && balance_after < 0 && occurred_at >= since,
  )
  return new Set(below.map(({ occurred_at }) => occurred_at.slice(0, 10))).size
}
/** The lowest balance that a debit of half a year left, in instalments; none reports a balance: endlessly many. */
const lowest = ({ transactions, instalment }: Seen) => {
  const since = new Date(Date.parse(now) - 180 * DAY_MS).toISOString()
  const debits = transactions.filter(({ direction, occurred_at }) => direction === 'debit' && occurred_at >= since)
  return Math.min(...debits.flatMap(({ balance_after }) => balance_after ?? [])) / instalment
}
const monthly = ({ days }: Seen, sum: number) => (sum * 30) / Math.max(30, days)

/** For each code that a reason may have, whether it is true of an applicant. A code that is not here fails the test. */
const TRUE_OF: Record<string, (seen: Seen) => boolean> = {
  account_overdrawn: (seen) => overdrawn(seen, 90) >= 5 || overdrawn(seen, 365) >= 12,
  overdrawn_before: (seen) => overdrawn(seen, 365) >= 4,
  overdrafts: (seen) => overdrawn(seen, 365) >= 1,
  no_overdrafts: (seen) => overdrawn(seen, 365) === 0,
  solid_reserves: (seen) => lowest(seen) >= 2,
  low_reserves: (seen) => lowest(seen) < 1.5,
  income_in_every_month: (seen) => seen.credits > 0.8 * seen.debits,
  lean_months: (seen) => seen.credits > 0,
  spends_more_than_income: (seen) => seen.debits > seen.credits,
  spending_above_income: (seen) => seen.debits > 1.05 * seen.credits,
  income_insufficient: (seen) => seen.credits - seen.debits < seen.instalment * (seen.days / 30),
  lives_within_income: (seen) => seen.debits <= 1.1 * seen.credits,
  income_below_spending: (seen) => seen.credits < 0.5 * seen.debits,
  income_stopped: ({ transactions }) => {
    const last = Math.max(
      ...transactions.filter(({ direction }) => direction === 'credit').map((one) => Date.parse(one.occurred_at)),
    )
    return Date.parse(now) - last > 50 * DAY_MS
  },
  debt_too_high: (seen) => {
    const loans = seen.transactions.filter(({ category }) => category === 'loan_repayment')
    const repaid = monthly(
      seen,
      loans.reduce((sum, { amount }) => sum + amount, 0),
    )
    return repaid + seen.instalment > 0.3 * monthly(seen, seen.credits)
  },
  instalment_too_high: (seen) => seen.instalment > 0.3 * monthly(seen, seen.credits),
  circular_transfers: ({ circularShare }) => circularShare >= 0.2,
  identity_verified: () => true,
  short_account_history: ({ days }) => days < 180,
  long_account_history: ({ days, transactions }) =>
    days >= 239 || transactions.every((one) => one.direction === 'credit'),
  bank_data_ended: ({ daysSinceLast }) => daysSinceLast > 45,
  spending_unknown: ({ debits }) => debits === 0,
  balances_missing: ({ lowestAfterDebit }) => lowestAfterDebit.length === 0,
  income_in_other_currency: () => true,
  transactions_in_other_currency: () => true,
}

function assertTrue(reasons: { code: string; impact: string }[], applicant: Applicant): void {
  const seen = seenOf(applicant)
  for (const { code } of reasons) assert.ok(TRUE_OF[code]?.(seen), `${code} is not true of "${applicant.name}"`)
  if (reasons.some(({ code }) => code.endsWith('_other_currency')))
    assert.ok(applicant.transactions.some(({ currency }) => currency !== 'EUR'))
}
