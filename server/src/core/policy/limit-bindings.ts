/** What keeps a limit from being higher: its name, and why, in words that can follow "because". */
export interface LimitBinding {
  name: string
  because: string
}

/** What can bind a limit besides the terms of the policy and the rules that cap it. */
export const FIXED_BINDINGS = {
  requested: { name: 'the amount asked for', because: 'nothing below the requested amount binds' },
  risk: { name: 'the risk', because: 'a higher amount would fall below the cutoff, or be too uncertain' },
  rule: { name: 'the rules', because: 'a rule refuses higher amounts' },
  minimum: { name: 'the minimum of the product', because: 'the product lends no smaller amount' },
  maximum: { name: 'the maximum of the product', because: 'the product lends no higher amount' },
} as const satisfies Record<string, LimitBinding>

/** What binds a limit, as `binding` of a trace names it, in words. */
export function describeBinding(binding: string): LimitBinding {
  if (Object.hasOwn(FIXED_BINDINGS, binding)) return FIXED_BINDINGS[binding as keyof typeof FIXED_BINDINGS]
  const term = `the term “${wordsOf(binding)}”`
  return { name: term, because: `${term} allows no more` }
}

/** The name of a term in the list of all terms of a limit. */
export function nameOfTerm(term: string): string {
  if (term === 'requested') return 'Asked for'
  const words = wordsOf(term)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A term is named after itself, after a rule, or after a row of a table: `table/row`. */
function wordsOf(term: string): string {
  return term.replaceAll('_', ' ').replace('/', ', row ')
}
