import { diffPolicies, type PolicyChange } from '../core/policy/diff-policies.ts'
import type { PolicyDocument } from '../core/policy/policy-document.ts'

/** A change between two policies, for people: which part of the policy it is in, and of what. */
export interface DescribedChange extends PolicyChange {
  /** The part of the policy: cutoffs, scorecard, rules … */
  section: string
  /** What changed, such as `cutoff` or `overdrafts, bin 2`. */
  what: string
}

/** The differences of two policies, and one line that sums them up. */
export interface DescribedDifference {
  changes: DescribedChange[]
  /** Such as "cutoff 550 → 570; 2 bins changed". */
  summary: string
}

/** The parts of a policy by the first name of a path; parts that are not listed keep their own name. */
const SECTIONS: Readonly<Record<string, string>> = {
  verdicts: 'cutoffs',
  characteristics: 'scorecard',
  scorecard: 'scorecard',
  limit: 'limit',
  limit_terms: 'limit',
  currencies: 'limit',
  tiers: 'tiers',
  products: 'products and prices',
  rules: 'rules',
  after_score: 'rules',
  tables: 'tables',
  inputs: 'inputs',
  derived: 'inputs',
  missing_reasons: 'reasons',
  meanings: 'reasons',
  segments: 'segments',
  portfolio: 'portfolio and limits of backtests',
  tests: 'tests',
}

/** What a change of each part is counted as in the summary. */
const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  scorecard: ['value of the scorecard', 'values of the scorecard'],
  limit: ['value of the limit', 'values of the limit'],
  tiers: ['value of the tiers', 'values of the tiers'],
  'products and prices': ['term of a product', 'terms of products'],
  rules: ['part of a rule', 'parts of rules'],
  tables: ['part of a table', 'parts of tables'],
  inputs: ['value of the inputs', 'values of the inputs'],
  segments: ['value of a segment', 'values of segments'],
  tests: ['test', 'tests'],
}

/** Describes the changes from one policy to another; the name and the model's version are no change of what is decided. */
export function describePolicyChanges(before: PolicyDocument, after: PolicyDocument): DescribedDifference {
  const changes = diffPolicies(before, after)
    .filter(({ path }) => path !== '/version' && path !== '/model_version')
    .map(describe)
  return { changes, summary: summarize(changes) }
}

function describe(change: PolicyChange): DescribedChange {
  const [part = '', ...rest] = change.path.split('/').slice(1)
  return { ...change, section: SECTIONS[part] ?? part, what: rest.length > 0 ? wordsOf(rest) : part }
}

/** `overdrafts/bins/1/points` becomes "overdrafts, bin 2 points". */
function wordsOf(names: readonly string[]): string {
  const [first, ...rest] = names
  const words = rest.map((name, index) =>
    rest[index - 1] === 'bins' && /^\d+$/.test(name) ? `bin ${Number(name) + 1}` : name,
  )
  const shown = words.filter((name) => name !== 'bins').join(' ')
  return shown === '' ? first! : `${first}, ${shown}`
}

function summarize(changes: readonly DescribedChange[]): string {
  const figures = changes.filter(({ section, kind }) => section === 'cutoffs' && kind === 'changed')
  const bins = changes.filter(isBin)
  const others = changes.filter((change) => change.section !== 'cutoffs' && !isBin(change))
  const counted = [...Map.groupBy(others, ({ section }) => section)].map(([section, ofSection]) => {
    const [one, many] = NOUNS[section] ?? [section, section]
    return `${ofSection.length} ${ofSection.length === 1 ? one : many} changed`
  })
  const parts = [
    ...figures.map(({ what, before, after }) => `${what.replaceAll('_', ' ')} ${before} → ${after}`),
    ...(bins.length > 0 ? [`${bins.length} ${bins.length === 1 ? 'bin' : 'bins'} changed`] : []),
    ...counted,
  ]
  return parts.length === 0 ? 'decides alike' : parts.join('; ')
}

function isBin({ path }: PolicyChange): boolean {
  return /\/bins\//.test(path)
}
