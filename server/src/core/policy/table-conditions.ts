import type { WrittenRule } from './compile/compile-rules.ts'
import type { PolicyTable, PolicyTableRow } from './policy-document.ts'
import type { TableCell } from './table-grid.ts'

/** The name of a row among rules, which have no `/` in their ids. */
export function rowId({ table }: Pick<PolicyTable, 'table'>, { row }: Pick<PolicyTableRow, 'row'>): string {
  return `${table}/${row}`
}

/** Whether an id among those of rules is that of a row. */
export function isRowId(id: string): boolean {
  return id.includes('/')
}

/** A row of a table as a rule: its cells as a condition in CEL, and its name with that of the table. */
export function ruleOfRow({ table, label, columns }: PolicyTable, definition: PolicyTableRow): WrittenRule {
  const { row, when, then, reason, explanation, ...effect } = definition
  const conditions = columns.flatMap(({ column, value }) => {
    const cell = when[column]
    return cell === undefined ? [] : cellCondition(value, cell)
  })
  const given = reason ?? { code: table, label, impact: 'negative' }
  return {
    id: rowId({ table }, { row }),
    when: conditions.length === 0 ? 'true' : conditions.join(' && '),
    then,
    reason: given,
    explanation: explanation ?? given.label,
    ...effect,
  }
}

/** A cell as a condition in CEL. */
export function cellCondition(value: string, { from, below, equals, in: set, not_in, missing }: TableCell): string {
  const operand = NAME.test(value) ? value : `(${value})`
  const known = [
    ...(from === undefined ? [] : [`${operand} >= ${from}`]),
    ...(below === undefined ? [] : [`${operand} < ${below}`]),
    ...(equals === undefined ? [] : [`${operand} == ${JSON.stringify(equals)}`]),
    ...(set === undefined ? [] : [`${operand} in ${JSON.stringify(set)}`]),
    ...(not_in === undefined ? [] : [`!(${operand} in ${JSON.stringify(not_in)})`]),
  ].join(' && ')
  if (!missing) return known
  return known === '' ? `!has(${value})` : `(!has(${value}) || (${known}))`
}

/** The name of a feature or variable by itself. */
export const NAME = /^[a-z]+(\.[a-z][a-z0-9_]*|\["[a-z][a-z0-9_.]*"\])+$/
