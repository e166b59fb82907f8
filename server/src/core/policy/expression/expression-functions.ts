import { Environment } from '@marcbachmann/cel-js'
import type { FactValue } from '../../facts/facts.ts'

/** A function of one or two texts. */
export type TextFunction = (text: string, part: string) => boolean

/** A function of values: how many it takes, and how it combines one, or two at a time. */
export interface ValueFunction {
  min: number
  max: number
  apply: (...operands: never[]) => FactValue
}

/** What policies can call besides `matches`, each with a cost that is bounded by the length of its operands. */
export const FUNCTIONS: Readonly<Record<string, ValueFunction>> = {
  min: { min: 2, max: 8, apply: (left: number, right: number) => Math.min(left, right) },
  max: { min: 2, max: 8, apply: (left: number, right: number) => Math.max(left, right) },
  abs: { min: 1, max: 1, apply: (value: number) => Math.abs(value) },
  size: { min: 1, max: 1, apply: (text: string) => [...text].length },
}

/** What policies can call on a text. */
export const METHODS: Readonly<Record<string, TextFunction>> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => text.includes(part),
}

/** Functions that ask about a feature itself: whether it is known, why it is missing, how old it is. */
export const FEATURE_FUNCTIONS: readonly string[] = ['has', 'missing_because', 'age_days']

/** A CEL environment without variables. Its limits bound what an expression costs, to parse and to run. */
export function boundedEnvironment(): Environment {
  return new Environment({ limits: { maxAstNodes: 200, maxDepth: 30 } })
}
