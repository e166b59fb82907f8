import type { PolicyProblem } from '../check/policy-problem.ts'
import { type Condition, compileExpression } from '../expression/compile-expression.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { type CompiledMeaning, type CompiledPolicy, type Reason, reasonAt } from './compiled-policy.ts'
import type { PolicySlots } from './policy-slots.ts'

/** Compiles what the reasons say; `problems` gets the meanings that do not compile. */
export function compileMeanings(
  { meanings = [] }: PolicyDocument,
  { slots, problems }: { slots: PolicySlots; problems: PolicyProblem[] },
): CompiledPolicy['meanings'] {
  const compiled = meanings.map(({ code, means, instead = [] }, index): [string, CompiledMeaning] => {
    const condition = (source: string, path: PolicyProblem['path']): Condition => {
      const result = compileExpression(source, slots.meanings)
      if ('holds' in result) return result.holds
      const { offset, message } = result
      problems.push({ path, offset, message: `meaning of '${code}', column ${offset + 1}: ${message}` })
      return () => false
    }
    const others = instead.map((other, place) => {
      const holds = condition(other.when, ['meanings', index, 'instead', place, 'when'])
      return { holds, reason: { code: other.code, label: other.label } }
    })
    return [code, { holds: condition(means, ['meanings', index, 'means']), instead: others }]
  })
  return new Map(compiled)
}

/** What each reason speaks about: the group of its characteristic, what its rule covers, and what its meaning names. */
export function reasonGroups(document: PolicyDocument): CompiledPolicy['reasonGroups'] {
  const { scorecard, rules, after_score = [], tables = [], meanings = [] } = document
  const ruled = [...rules, ...after_score, ...tables.flatMap(({ rows }) => rows)]
  const groups = new Map<string, Set<string>>()
  const add = (code: string, names: readonly string[]) => {
    const known = groups.get(code) ?? new Set()
    for (const name of names) known.add(name)
    groups.set(code, known)
  }
  for (const { shortfall, strength, group } of scorecard.characteristics) {
    add(shortfall.code, [group])
    add(strength.code, [group])
  }
  for (const { reason, covers } of ruled) if (reason && covers !== undefined) add(reason.code, [covers])
  for (const { code, groups: named = [], instead = [] } of meanings) {
    add(code, named)
    // What is given in place of a reason speaks about the same.
    for (const other of instead) add(other.code, [...groups.get(code)!])
  }
  return new Map([...groups].map(([code, names]) => [code, [...names]]))
}

/** What keeps a decline or a review from being without a reason if the policy does not say it. */
const FEW_STRENGTHS = { code: 'few_strengths', label: 'Too few clear strengths, most of all in: {facts}' }
const NOTHING_AGAINST = { code: 'nothing_against', label: 'Nothing that was looked at speaks against the request' }

/** The reasons of decisions that have no other. */
export function compileLastReasons({ reasons }: PolicyDocument): { fewStrengths: Reason; nothingAgainst: Reason } {
  return {
    fewStrengths: reasonAt('scorecard', reasons.few_strengths ?? FEW_STRENGTHS, 'negative'),
    nothingAgainst: reasonAt('rule_trace', reasons.nothing_against ?? NOTHING_AGAINST, 'positive'),
  }
}
