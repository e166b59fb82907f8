import type { CompiledRule, CompiledTable } from '../policy/compile/compiled-policy.ts'
import type { Slots } from '../policy/expression/compile-expression.ts'
import type { RuleTrace } from './evaluation.ts'

/** How the decision tables were evaluated, and the row of each that holds the values. */
export interface TableAnswers {
  traces: RuleTrace[]
  held: CompiledRule[]
}

/** Evaluates every decision table. */
export function runTables(tables: readonly CompiledTable[], values: Slots): TableAnswers {
  const ran: TableAnswers = { traces: [], held: [] }
  for (const table of tables) {
    const row = rowOf(table, values)
    if (row !== undefined) ran.held.push(row)
    ran.traces.push(row?.heldTrace ?? traceWithoutRow(table, values))
  }
  return ran
}

/** The row of a table that holds the values. A cell with a bound does not hold a missing value. */
export function rowOf({ rows }: CompiledTable, values: Slots): CompiledRule | undefined {
  return rows.find(({ holds }) => holds(values) === true)
}

/** The trace if no row holds the values: some row may with the values that are missing. */
function traceWithoutRow({ id: rule, rows, noRowTrace }: CompiledTable, values: Slots): RuleTrace {
  const missing = new Set<string>()
  for (const { holds, reads, allMissingTrace } of rows) {
    if (holds(values) !== undefined) continue
    for (const [index, slot] of reads.entries())
      if (values[slot] === undefined) missing.add(allMissingTrace.missing[index]!)
  }
  return missing.size === 0 ? noRowTrace : { action: 'none', holds: null, missing: [...missing], rule }
}
