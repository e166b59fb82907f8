import type { ASTNode } from '@marcbachmann/cel-js'
import type { FactValue } from '../../facts/facts.ts'
import { type PolicySlots, policySlots } from '../compile/policy-slots.ts'
import { parseExpression, type Slots } from '../expression/compile-expression.ts'
import { operandsOf } from '../expression/type-expression.ts'
import type { PolicyDocument } from '../policy-document.ts'

/** How many values are tried for one reason: more than five features with a few thresholds each. */
const TRIED_MAX = 20_000
/** How many are tried for one policy, so that a check of the largest one ends within a second. */
const TRIED_IN_POLICY_MAX = 400_000

/**
 * Tries the values at and between the numbers and texts that expressions name, each feature also missing. For conditions
 * that compare features with constants this meets every case; for others it finds examples and proves nothing.
 */
export class ReachedValues {
  readonly #slots: PolicySlots
  #left = TRIED_IN_POLICY_MAX

  constructor(document: PolicyDocument) {
    this.#slots = policySlots(document)
  }

  /** The first values, in words, for which `isFound`; undefined if there are none, or too many to try. */
  find(
    {
      reads,
      sources,
      more = [],
    }: { reads: readonly number[]; sources: readonly string[]; more?: readonly FactValue[] },
    isFound: (values: Slots) => boolean,
  ): string | undefined {
    const literals = [...more, ...sources.flatMap((source) => literalsIn(parseExpression(source)))]
    const choices = reads.map((slot) => this.#choicesOf(slot, literals))
    const count = choices.reduce((product, { length }) => product * length, 1)
    if (count > TRIED_MAX || count > this.#left) return undefined
    this.#left -= count
    const values = new Array<FactValue | undefined>(this.#slots.names.length)
    for (let number = 0; number < count; number++) {
      let rest = number
      for (const [index, slot] of reads.entries()) {
        const choice = choices[index]!
        values[slot] = choice[rest % choice.length]
        rest = Math.floor(rest / choice.length)
      }
      if (isFound(values)) return reads.map((slot) => this.#inWords(slot, values[slot])).join(', ')
    }
    return undefined
  }

  #choicesOf(slot: number, literals: readonly FactValue[]): readonly (FactValue | undefined)[] {
    const { names, types } = this.#slots
    // Causes and ages go with the values of other features, which are chosen apart from them; none is tried.
    const type = names[slot] === '' ? undefined : types.get(names[slot]!)
    if (type === undefined) return []
    if (type === 'boolean') return [undefined, false, true]
    const own = [...new Set(literals.filter((value) => typeof value === type))]
    if (type === 'string') return [undefined, ...own, 'other']
    const numbers = (own as number[]).sort((a, b) => a - b)
    const between = numbers.slice(1).map((number, index) => (number + numbers[index]!) / 2)
    return [undefined, (numbers[0] ?? 0) - 1, ...numbers, ...between, (numbers.at(-1) ?? 0) + 1]
  }

  #inWords(slot: number, value: FactValue | undefined): string {
    const name = this.#slots.names[slot]!
    return value === undefined ? `${name} missing` : `${name} = ${value}`
  }
}

function literalsIn(node: ASTNode): FactValue[] {
  if (node.op === 'value') {
    const value = typeof node.args === 'bigint' ? Number(node.args) : node.args
    return typeof value === 'number' || typeof value === 'string' ? [value] : []
  }
  if (node.op === 'list') return node.args.flatMap(literalsIn)
  if (node.op === '-_' && node.args.op === 'value') return literalsIn(node.args).map((value) => -Number(value))
  return operandsOf(node).flatMap(literalsIn)
}
