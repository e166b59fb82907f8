import { type JsonDifference, jsonDifferences } from './json-differences.ts'
import type { PolicyDocument, PolicyProduct, PolicySegment, PolicyTable } from './policy-document.ts'

/** One change between two policies; its path uses names, not positions: `/rules/account_overdrawn/when`. */
export interface PolicyChange extends JsonDifference {
  kind: 'added' | 'removed' | 'changed' | 'reordered'
}

/** Lists the changes from one policy to another; entries are matched by name, not by position. */
export function diffPolicies(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  return [
    ...jsonDifferences(byName(before), byName(after)).map(changeOf),
    ...reorderings(ordersIn(before), ordersIn(after)),
  ]
}

/** A policy with the entries of its lists by name. */
function byName(document: PolicyDocument): Record<string, unknown> {
  const { missing_reasons, inputs, derived, segments, rules, after_score, tables, meanings, tests, ...rest } = document
  const { currencies, ...limits } = document.limit
  const ofSegments = (segments ?? []).map((segment) => {
    const { name, when, verdicts } = segment
    return { name, when, ...(verdicts && { verdicts }), ...namedParts(segment) }
  })
  const { scorecard, tiers, products, limit: _, ...others } = rest
  const parts = namedParts({ scorecard, tiers, products, limit: limits })
  const { scorecard: card, limit, ...lists } = parts
  return {
    ...others,
    scorecard: card,
    limit,
    missing_reasons: keyed(missing_reasons, ({ code }) => code),
    inputs: keyed(inputs, ({ feature }) => feature),
    ...(derived && { derived: keyed(derived, ({ feature }) => feature) }),
    ...(segments && { segments: keyed(ofSegments, ({ name }) => name) }),
    rules: keyed(rules, ({ id }) => id),
    ...(after_score && { after_score: keyed(after_score, ({ id }) => id) }),
    ...(tables && { tables: keyed(tables.map(namedTable), ({ table }) => table) }),
    ...(meanings && { meanings: keyed(meanings, ({ code }) => code) }),
    ...lists,
    currencies: keyed(currencies, ({ currency }) => currency),
    tests: keyed(tests, ({ name }) => name),
  }
}

/** The names of the entries of each list in their order, which an object does not keep for names such as 2 and 1. */
function ordersIn(document: PolicyDocument): Record<string, string[]> {
  const { missing_reasons, inputs, derived = [], segments = [], tests } = document
  return {
    missing_reasons: missing_reasons.map(({ code }) => code),
    inputs: inputs.map(({ feature }) => feature),
    derived: derived.map(({ feature }) => feature),
    segments: segments.map(({ name }) => name),
    ...ordersOfParts(document, ''),
    currencies: document.limit.currencies.map(({ currency }) => currency),
    tests: tests.map(({ name }) => name),
    ...Object.assign({}, ...segments.map((segment) => ordersOfParts(segment, `segments/${segment.name}/`))),
  }
}

function ordersOfParts(parts: Parts, prefix: string): Record<string, string[]> {
  const { scorecard, tiers, products, limit, rules = [], after_score = [], tables = [] } = parts
  return {
    [`${prefix}rules`]: rules.map(({ id }) => id),
    [`${prefix}after_score`]: after_score.map(({ id }) => id),
    [`${prefix}tables`]: tables.map(({ table }) => table),
    ...Object.assign({}, ...tables.map((table) => ordersOfTable(table, prefix))),
    [`${prefix}characteristics`]: scorecard?.characteristics.map(({ id }) => id) ?? [],
    [`${prefix}tiers`]: tiers?.map(({ tier }) => tier) ?? [],
    [`${prefix}products`]: products?.map(({ product }) => product) ?? [],
    [`${prefix}limit_terms`]: limit?.terms?.map(({ term }) => term) ?? [],
  }
}

type Parts = Pick<PolicySegment, 'scorecard' | 'tiers' | 'products' | 'rules' | 'after_score' | 'tables'> & {
  limit?: Partial<PolicyDocument['limit']>
}

/** The parts that a document and a segment have in common, with the entries of their lists by name. */
function namedParts(parts: Parts): Record<string, unknown> {
  const { scorecard, tiers, products, limit, rules, after_score, tables } = parts
  const { characteristics, ...card } = scorecard ?? {}
  const { terms, ...limits } = limit ?? {}
  return {
    ...(rules && { rules: keyed(rules, ({ id }) => id) }),
    ...(after_score && { after_score: keyed(after_score, ({ id }) => id) }),
    ...(tables && { tables: keyed(tables.map(namedTable), ({ table }) => table) }),
    ...(scorecard && { scorecard: card, characteristics: keyed(characteristics ?? [], ({ id }) => id) }),
    ...(tiers && { tiers: keyed(tiers, ({ tier }) => tier) }),
    ...(products && { products: keyed(products.map(namedRates), ({ product }) => product) }),
    ...(limit && { limit: limits, limit_terms: keyed(terms ?? [], ({ term }) => term) }),
  }
}

function namedTable({ columns, rows, ...table }: PolicyTable) {
  return { ...table, columns: keyed(columns, ({ column }) => column), rows: keyed(rows, ({ row }) => row) }
}

/** The order of rows decides only where the first one counts. */
function ordersOfTable({ table, hit, rows }: PolicyTable, prefix: string): Record<string, string[]> {
  return hit === 'first' ? { [`${prefix}tables/${table}/rows`]: rows.map(({ row }) => row) } : {}
}

function namedRates({ rates, ...product }: PolicyProduct) {
  return rates === undefined ? product : { ...product, rates: keyed(rates, ({ tier }) => tier) }
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
    // Sets, because a policy may have thousands of tests.
    const [inOld, inCurrent] = [new Set(old), new Set(current)]
    const kept = old.filter((name) => inCurrent.has(name))
    const keptAfter = current.filter((name) => inOld.has(name))
    const isSame = kept.every((name, index) => name === keptAfter[index])
    return isSame ? [] : [{ kind: 'reordered', path: `/${list}`, before: kept, after: keptAfter }]
  })
}
