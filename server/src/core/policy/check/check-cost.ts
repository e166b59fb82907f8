import type { ASTNode } from '@marcbachmann/cel-js'
import { parseExpression } from '../expression/compile-expression.ts'
import { matchesIn } from '../expression/matches-in.ts'
import { expressionsOf, type PolicyExpression } from '../expression/policy-expressions.ts'
import { patternSteps } from '../expression/text-pattern.ts'
import { operandsOf } from '../expression/type-expression.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { ruleOfRow } from '../table-conditions.ts'
import type { PolicyProblem } from './policy-problem.ts'

/** The calls of `matches` in one policy. */
const MATCHES_MAX = 20
/** The steps of all its patterns, about one for each character: 250 steps take 2 ms on a text of 500 characters. */
const PATTERN_STEPS_MAX = 500

/**
 * The names, numbers and operators of all expressions. Those that depend on the amount run for each amount that the search
 * for a counter-offer tries, up to about fifty: with 54,000 parts, one decision took 30 to 90 ms.
 */
export const POLICY_NODES_MAX = 12_000

/**
 * Finds a policy whose decisions would take too long: more than about 4 ms for patterns, each of which runs once or twice
 * with segments, or more than about 20 ms for everything.
 */
export function checkCost(document: PolicyDocument): PolicyProblem[] {
  const patterns: string[] = []
  for (const { path, source } of expressionsOf(document)) {
    patterns.push(...matchesIn(source))
    if (patterns.length > MATCHES_MAX) {
      const message = `a policy calls matches at most ${MATCHES_MAX} times; combine patterns with |, or use 'in'`
      return [{ path, message }]
    }
    const steps = patterns.reduce((sum, pattern) => sum + patternSteps(pattern), 0)
    const message = `the patterns of a policy have at most ${PATTERN_STEPS_MAX} steps together, and up to here ${steps}; use smaller counts in { }, or use 'in'`
    if (steps > PATTERN_STEPS_MAX) return [{ path, message }]
  }
  return checkNodes(document)
}

/** Finds a policy whose expressions are too long together. */
function checkNodes(document: PolicyDocument): PolicyProblem[] {
  let nodes = 0
  for (const { path, source } of [...expressionsOf(document), ...rowConditions(document)]) {
    nodes += nodesIn(source)
    const message = `the expressions of a policy have at most ${POLICY_NODES_MAX} parts together, each name, number and operator being one; use fewer or shorter ones`
    if (nodes > POLICY_NODES_MAX) return [{ path, message }]
  }
  return []
}

/** The conditions of the rows of tables, each of which evaluates the columns that it has cells for. */
function rowConditions({ tables = [], segments = [] }: PolicyDocument): PolicyExpression[] {
  return [...tables, ...segments.flatMap((segment) => segment.tables ?? [])].flatMap((table, index) =>
    table.rows.map((row, at) => ({ path: ['tables', index, 'rows', at], source: ruleOfRow(table, row).when })),
  )
}

function nodesIn(source: string): number {
  try {
    return countNodes(parseExpression(source))
  } catch {
    return 0 // its compiler reports that it does not parse
  }
}

function countNodes(node: ASTNode): number {
  return operandsOf(node).reduce((sum, operand) => sum + countNodes(operand), 1)
}
