import { type JsonDifference, jsonDifferences } from './json-differences.ts'
import type { PolicyDocument } from './policy-document.ts'

/** One change between two policies; its path uses names, not positions: `/rules/account_overdrawn/when`. */
export interface PolicyChange extends JsonDifference {
  kind: 'added' | 'removed' | 'changed' | 'reordered'
}

/** Lists the changes from one policy to another; entries are matched by name, not by position. */
export function diffPolicies(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [named, namedAfter] = [byName(before), byName(after)]
  return [
    ...jsonDifferences(named.parts, namedAfter.parts).map(changeOf),
    ...reorderings(named.orders, namedAfter.orders),
  ]
}

interface NamedPolicy {
  parts: Record<string, unknown>
  orders: Record<string, string[]>
}

function byName(document: PolicyDocument): NamedPolicy {
  const { missing_reasons, inputs, rules, scorecard, tiers, products, limit, tests, ...rest } = document
  const { characteristics, ...card } = scorecard
  const { currencies, ...limits } = limit
  const lists = {
    missing_reasons: keyed(missing_reasons, ({ code }) => code),
    inputs: keyed(inputs, ({ feature }) => feature),
    rules: keyed(rules, ({ id }) => id),
    characteristics: keyed(characteristics, ({ id }) => id),
    tiers: keyed(tiers, ({ tier }) => tier),
    products: keyed(products, ({ product }) => product),
    currencies: keyed(currencies, ({ currency }) => currency),
    tests: keyed(tests, ({ name }) => name),
  }
  return {
    parts: { ...rest, scorecard: card, limit: limits, ...lists },
    orders: Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, Object.keys(list)])),
  }
}

function keyed<Entry>(entries: readonly Entry[], nameOf: (entry: Entry) => string): Record<string, Entry> {
  return Object.fromEntries(entries.map((entry) => [nameOf(entry), entry]))
}

function changeOf(difference: JsonDifference): PolicyChange {
  if (difference.before === undefined) return { kind: 'added', ...difference }
  return { kind: difference.after === undefined ? 'removed' : 'changed', ...difference }
}

/** Lists reordered entries: the order of rules and characteristics decides which reason comes first. */
function reorderings(before: Record<string, string[]>, after: Record<string, string[]>): PolicyChange[] {
  return Object.keys(before).flatMap((list): PolicyChange[] => {
    const [old = [], current = []] = [before[list], after[list]]
    const kept = old.filter((name) => current.includes(name))
    const keptAfter = current.filter((name) => old.includes(name))
    const isSame = kept.every((name, index) => name === keptAfter[index])
    return isSame ? [] : [{ kind: 'reordered', path: `/${list}`, before: kept, after: keptAfter }]
  })
}
