import type { PolicyDocument } from '../policy-document.ts'
import { ruleOfRow } from '../table-conditions.ts'
import { compileRule, type RuleContext } from './compile-rules.ts'
import type { CompiledRule, CompiledTable } from './compiled-policy.ts'

/** Compiles the decision tables: each row as a rule after the score whose condition is its cells. */
export function compileTables(document: PolicyDocument, context: Omit<RuleContext, 'list'>): CompiledTable[] {
  return (document.tables ?? []).map((table, at) => {
    const id = table.table
    const rows = table.rows.flatMap((row, index): CompiledRule[] => {
      const problems: typeof context.problems = []
      const place = { ...context, problems, list: 'after_score', index } as const
      const rule = compileRule(document, ruleOfRow(table, row), place)
      const path = ['tables', at, 'rows', index]
      context.problems.push(...problems.map(({ message }) => ({ path, message })))
      if (rule === undefined) return []
      const reason = { ...rule.reason, node: `rule_trace/${id}` }
      const heldTrace = { action: rule.action, holds: true, row: row.row, rule: id }
      return [{ ...rule, heldTrace, reason, rankedReason: { size: 0, reason } }]
    })
    if (table.hit === 'first') dependOnRowsBefore(rows)
    return { id, rows, noRowTrace: { action: 'none', holds: false, rule: id } }
  })
}

/** Where the first row that fits counts, each row is reached only past those before it, and depends on what these read. */
function dependOnRowsBefore(rows: CompiledRule[]): void {
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1]
    if (before === undefined) continue
    row.dependsOnAmount ||= before.dependsOnAmount
    row.readsScore ||= before.readsScore
    row.readsLimit ||= before.readsLimit
  }
}
