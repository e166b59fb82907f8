import { emptyState } from '../src/core/facts/entity-state.ts'
import { columnsOf, columnType, type NewRow } from '../src/store/schema/tables.ts'

/** The row of an entity without facts; every nullable column is null. */
export function entityRow(id: string, now: string, changes: Partial<NewRow<'entities'>> = {}): NewRow<'entities'> {
  const nullable = columnsOf('entities').filter((column) => columnType('entities', column).isNullable)
  const blank = Object.fromEntries(nullable.map((column) => [column, null]))
  const set = { id, external_id: id, metadata: '{}', state: JSON.stringify(emptyState()), version: 1 }
  return { ...blank, ...set, created_at: now, updated_at: now, ...changes } as NewRow<'entities'>
}
