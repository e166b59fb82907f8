import { decide } from '/work/main/server/src/core/decide/decide.ts'
import { freshFeatures } from '/work/main/server/src/core/decide/fresh-features.ts'
import { sandboxPolicy } from '/work/main/server/tests/sandbox-policy.ts'
import { GOOD } from '/work/main/server/tests/arbitrary-facts.ts'
import { factsFrom } from '/work/main/server/src/core/facts/facts-from.ts'
import { decisionCases } from '/work/main/bench/decide/decision-case.ts'
import { decideByHand } from '/work/main/bench/decide/hand-written.ts'
const policy = sandboxPolicy()
const tally = (m: Record<string, number>, k: string) => { m[k] = (m[k] ?? 0) + 1 }
let bad = 0
function check(name: string, facts: any, v: any, r: any, b: any) {
  const o = decide(policy, facts), h = decideByHand(facts)
  tally(v, o.verdict + '/' + o.trace.settled_by)
  if (o.limit !== null) tally(b, o.trace.limit?.binding ?? 'none')
  const hits = o.trace.rule_trace.filter((x) => x.holds === true).map((x) => x.rule)
  for (const x of hits) tally(r, x)
  if (o.verdict !== h.verdict || o.tier !== h.tier || o.limit !== h.limit || o.trace.score.total !== h.score || hits.join() !== h.hits.join()) { if (bad++ < 3) console.log('DIFF', name, JSON.stringify([o.verdict, o.tier, o.limit, h])) }
}
for (const n of [500, 30000]) {
  const v = {}, r = {}, b = {}
  for (const c of decisionCases(policy, n)) check(c.name, c.facts, v, r, b)
  console.log(n, v, r, b)
}
// near-good applicants, so that limits are reached
let seed = 7
const rnd = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648)
const pick = (...xs: any[]) => xs[Math.floor(rnd() * xs.length)]
const v = {}, r = {}, b = {}
for (let i = 0; i < 60000; i++) {
  const f: any = factsFrom({ ...GOOD,
    'cashflow.median_inflow': Math.round(rnd() * 2e6) / 100, 'cashflow.mean_spending': Math.round(rnd() * 5e5) / 100,
    'cashflow.mean_debt_service': pick(0, 0, 150, 600), 'cashflow.average_balance': Math.round(rnd() * 3e6) / 100,
    'cashflow.lowest_balance': Math.round(rnd() * 1e6) / 100, 'cashflow.low_balance_share': pick(0, 0.02, 0.05, 0.07, 0.1, 0.15, 0.2),
    'history.outstanding': pick(0, 0, 100, 5000, 30000, 149990, 240000), 'history.repaid': pick(0, 1, 3), 'history.late': pick(0, 0, 1),
    'request.amount': Math.round(rnd() * pick(1e5, 1e6, 3e7)) / 100, 'request.product': pick('default', 'personal_loan', 'business_credit_line', 'x'),
    'request.currency': pick('EUR', 'USD', 'JPY'), 'consent.identity_data': pick('open', 'open', 'open', 'open', 'expired'),
  })
  for (const k of Object.keys(f.features)) if (/^(cashflow|identity)/.test(k) && 'value' in f.features[k] && rnd() < 0.6) f.features[k] = { value: f.features[k].value, age_days: Math.floor(rnd() * 124) }
  if (rnd() < 0.02) f.features['history.outstanding'] = { missing: 'no_data' }
  if (rnd() < 0.02) f.features['consent.identity_data'] = { missing: 'no_data' }
  check('near-good ' + i, f, v, r, b)
}
console.log('near-good', v, r, b, 'differences', bad)
// cost of staleness
const cases = decisionCases(policy, 500)
const isStale = (c: any) => freshFeatures(policy, c.facts.features) !== c.facts.features
const stale = cases.filter(isStale), fresh = cases.filter((c) => !isStale(c))
const young = cases.map((c) => ({ ...c, facts: { format: 1 as const, features: Object.fromEntries(Object.entries(c.facts.features).map(([k, f]: any) => [k, 'value' in f && f.age_days > 120 ? { value: f.value, age_days: f.age_days - 31 } : f])) } }))
console.log('cases', cases.length, 'stale', stale.length, 'fresh', fresh.length)
const time = (xs: any[], run: (f: any) => any) => { const t = []; for (let k = 0; k < 15; k++) { const a = process.hrtime.bigint(); let n = 0, l; while (n < 15000) { for (const x of xs) { l = run(x.facts); n++ } } t.push(Number(process.hrtime.bigint() - a) / n / 1e3) } return t.sort((a, b) => a - b)[7]!.toFixed(2) }
for (const [n, xs] of [['all', cases], ['stale', stale], ['fresh', fresh], ['all, ages cut to <=120', young]] as const)
  console.log(n, 'decide', time(xs, (f) => decide(policy, f)), 'freshFeatures', time(xs, (f) => freshFeatures(policy, f.features)), 'by hand', time(xs, (f) => decideByHand(f)))
