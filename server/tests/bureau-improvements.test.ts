import assert from 'node:assert/strict'
import { it } from 'node:test'
import { decide } from '../src/core/decide/decide.ts'
import type { Facts, FactValue } from '../src/core/facts/facts.ts'
import { factsFrom } from '../src/core/facts/facts-from.ts'
import { parsePolicy } from '../src/core/policy/parse-policy.ts'
import { bureauPolicy } from './bureau-policy.ts'
import { rankOf, seededBelow } from './improvements.ts'
import { reasonFaults } from './reason-faults.ts'

const policy = bureauPolicy()
const APPLICANT = policy.document.tests[0]!.facts as Record<string, FactValue>
const SAMPLE = 4_000

/** Values on both sides of the policy's own thresholds, from the worst to the best. */
const SCALES: Record<string, readonly FactValue[]> = {
  'snapshot.bureau.score': [500, 560, 600, 660, 720, 800],
  'snapshot.bureau.open_loans': [6, 3, 1, 0],
  'snapshot.bureau.monthly_payments': [1500, 600, 100, 0],
  'snapshot.bureau.utilisation': [1, 0.85, 0.5, 0.1],
  'snapshot.bureau.inquiries_6m': [7, 0],
  'snapshot.bureau.worst_arrears_24m': [4, 2, 1, 0],
  'snapshot.bureau.oldest_account_months': [3, 11, 12, 30, 90, 150],
  'snapshot.bureau.public_records': [1, 0],
  'snapshot.bureau.defaults_36m': [1, 0],
  'snapshot.application.monthly_income': [900, 2000, 3200, 6000],
  'snapshot.application.housing_cost': [1600, 600, 0],
  'snapshot.application.employment': ['none', 'student', 'fixed_term', 'permanent'],
  'snapshot.application.months_employed': [2, 12, 40],
  'snapshot.application.residence_months': [3, 20, 50],
  'snapshot.application.dependants': [6, 1, 0],
  'identity.verified_strong': [0, 1],
  'history.repaid': [0, 1],
}
const REPORT = Object.keys(SCALES).filter((name) => name.startsWith('snapshot.bureau.'))
const AMOUNTS = [500, 1000, 1500, 3000, 5000, 12_000, 30_000]
/** The ages of a bureau report, on both sides of those at which it has to be renewed and counts as missing. */
const AGES = [0, 10, 30, 31, 60, 61, 90]
const AGE_MAX = 60

/** The values that are known about an applicant, and how old the bureau report is. */
interface Applicant {
  values: Record<string, FactValue>
  age: number
}

const NO_FAULTS = { untrue: [], unchecked: [], opposed: [], isUnexplained: false }

const below = seededBelow(4711)
const oneOf = <Value>(values: readonly Value[]): Value => values[below(values.length)]!
const bestOf = (name: string) => SCALES[name]!.at(-1)!

/** How many percent of the values are drawn, if not two in five: segments are chosen by these, and some decline alone. */
const DRAWN: Record<string, number> = {
  'history.repaid': 70,
  'snapshot.bureau.oldest_account_months': 100,
  'snapshot.bureau.public_records': 5,
  'snapshot.bureau.defaults_36m': 5,
}

/** Values that are not drawn are good; some are missing, and of some applicants the whole report is. */
function drawApplicant(): Applicant {
  const drawn = Object.entries(SCALES).map(([name, values]): [string, FactValue] => [
    name,
    below(100) < (DRAWN[name] ?? 40) ? oneOf(values) : bestOf(name),
  ])
  const isUnknown = below(6) === 0
  const known = drawn.filter(([name]) => {
    if (name === 'history.repaid') return true
    return !(isUnknown && REPORT.includes(name)) && below(100) >= 3
  })
  const others = Object.entries(APPLICANT).filter(([name]) => !(name in SCALES))
  const values = { ...Object.fromEntries([...others, ...known]), 'request.amount': oneOf(AMOUNTS) }
  return { values, age: oneOf(AGES) }
}

/** The applicant with one thing better: a value, a missing value that turns out best, or a fresher report. */
function improve({ values, age }: Applicant): { improved: string; better: Applicant } {
  if (age > 0 && age <= AGE_MAX && below(4) === 0) return { improved: 'age', better: { values, age: 0 } }
  const name = oneOf(Object.keys(SCALES))
  const scale = SCALES[name]!
  const place = scale.indexOf(values[name]!)
  if (place >= 0) {
    const next = scale[Math.min(place + 1, scale.length - 1)]!
    return { improved: name, better: { values: { ...values, [name]: next }, age } }
  }
  // A score comes with a new report: with a score alone, loans would be unknown that a thin file takes for none.
  const isReport = name === 'snapshot.bureau.score' || (REPORT.includes(name) && age > AGE_MAX)
  const found = (isReport ? REPORT : [name]).map((one) => [one, bestOf(one)])
  return {
    improved: `${name} is known`,
    better: { values: { ...values, ...Object.fromEntries(found) }, age: isReport ? 0 : age },
  }
}

function factsOf({ values, age }: Applicant): Facts {
  const { format, features } = factsFrom(values)
  const aged = Object.entries(features).map(([name, fact]) => [
    name,
    REPORT.includes(name) && 'value' in fact ? { ...fact, age_days: age } : fact,
  ])
  return { format, features: Object.fromEntries(aged) }
}

it(`the bureau policy worsens no verdict and no limit by a better fact or a larger request, in ${SAMPLE} draws`, () => {
  const changedIn = new Map<string | null, number>()
  for (let count = 0; count < SAMPLE; count++) {
    const applicant = drawApplicant()
    const { improved, better } = improve(applicant)
    const before = decide(policy, factsOf(applicant))
    const after = decide(policy, factsOf(better))
    const amount = Number(applicant.values['request.amount']) * 2
    const larger = decide(policy, factsOf({ ...applicant, values: { ...applicant.values, 'request.amount': amount } }))
    const seen = () => `${improved}: ${JSON.stringify({ applicant, better, before, after })}`
    assert.ok(rankOf(after.verdict) >= rankOf(before.verdict), seen())
    assert.ok((after.limit ?? 0) >= (before.limit ?? 0), seen())
    assert.ok((larger.limit ?? 0) >= (before.limit ?? 0), seen())
    const isStale = applicant.age > AGE_MAX && REPORT.some((name) => name in applicant.values)
    assert.ok(!isStale || !before.verdict.startsWith('approve'), seen())
    const segment = before.trace.segment ?? null
    if (after.verdict !== before.verdict || after.limit !== before.limit)
      changedIn.set(segment, (changedIn.get(segment) ?? 0) + 1)
  }
  for (const segment of [null, 'returning', 'thin_file', 'short_history'])
    assert.ok((changedIn.get(segment) ?? 0) > SAMPLE / 400, `hardly any draw changed anything in ${segment}`)
})

it(`the reasons of the bureau policy are true and do not contradict each other, in ${SAMPLE} draws`, () => {
  const given = new Set<string>()
  for (let count = 0; count < SAMPLE; count++) {
    const facts = factsOf(drawApplicant())
    const { evaluation, untrue, unchecked, opposed, isUnexplained } = reasonFaults(policy, facts)
    const seen = () => JSON.stringify({ reasons: evaluation.reasons, facts })
    assert.deepEqual({ untrue, unchecked, opposed, isUnexplained }, NO_FAULTS, seen())
    for (const { code } of evaluation.reasons) given.add(code)
  }
  assert.ok(given.size > 30, `only ${[...given]} were given, so the sample shows little`)
})

it('an amount counts for the same in a currency of which a euro buys ten units', () => {
  const document = structuredClone(policy.document)
  document.limit.currencies.push({ currency: 'SEK', per_reference: 10, step: 500 })
  const inCrowns = parsePolicy(JSON.stringify(document))
  assert.ok('policy' in inCrowns)
  const money = ['monthly_income', 'housing_cost', 'monthly_payments', 'request.amount']
  let approved = 0
  for (let count = 0; count < 500; count++) {
    const { values, age } = drawApplicant()
    const scaled = Object.entries(values).map(([name, value]) => [
      name,
      money.some((one) => name.endsWith(one)) ? Number(value) * 10 : value,
    ])
    const crowns = { ...Object.fromEntries(scaled), 'request.currency': 'SEK' }
    const euro = decide(inCrowns.policy, factsOf({ values, age }))
    const crown = decide(inCrowns.policy, factsOf({ values: crowns, age }))
    assert.equal(crown.verdict, euro.verdict, JSON.stringify({ values, euro, crown }))
    assert.equal(crown.limit ?? 0, 10 * (euro.limit ?? 0), JSON.stringify({ values, euro, crown }))
    if (euro.limit !== null) approved += 1
  }
  assert.ok(approved > 50, `${approved} approvals`)
})
