import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlColumns, environmentColumns, PERSONAL_CLASSES, type TextColumns } from '../schema/column-classes.ts'
import { CONTROL_RULES, ENVIRONMENT_RULES, type ErasureRule } from './erasure-rules.ts'
import { REDACTED_TABLES } from './redactions.ts'

/** A table needs a rule if a column may hold personal data, or if its rows are about one entity. */
function needsRule(columns: TextColumns): boolean {
  return PERSONAL_CLASSES.some((name) => columns[name] !== undefined) || Boolean(columns.made?.includes('entity_id'))
}

for (const [family, columns, rules] of [
  ['an environment', environmentColumns, ENVIRONMENT_RULES],
  ['the control database', controlColumns, CONTROL_RULES],
] as const) {
  test(`every table of ${family} that may hold personal data, or has rows about an entity, has a rule of erasure`, () => {
    const needed = Object.keys(columns).filter((table) => needsRule(columns[table]!))
    const ruled = Object.keys(rules)
    assert.deepEqual(
      { without: needed.filter((table) => !ruled.includes(table)), unknown: ruled.filter((table) => !columns[table]) },
      { without: [], unknown: [] },
    )
  })
}

test('a column that callers fill about an entity is never in a table that an erasure leaves as it is', () => {
  const kept = Object.entries<ErasureRule>(ENVIRONMENT_RULES).filter(([, rule]) => 'keeps' in rule)
  const filled = kept.map(([table]) => table).filter((table) => environmentColumns[table]!.ofEntities !== undefined)
  // Keyed hashes of references: an entry cannot be changed.
  assert.deepEqual(filled, ['audit_entries'])
})

test('every rule that takes texts out of rows is carried out', () => {
  const redacted = Object.entries<ErasureRule>(ENVIRONMENT_RULES).filter(([, rule]) => 'redacts' in rule)
  const carriedOut: string[] = [...REDACTED_TABLES, 'decisions', 'document_segments']
  assert.deepEqual(redacted.map(([table]) => table).sort(), carriedOut.sort())
})
