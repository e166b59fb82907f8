import type { Params, RowOf } from '../schema/tables.ts'
import type { ScenarioChange } from './change.ts'

type OfOrganization = Pick<RowOf<'playground_scenarios'>, 'org_id'>

/** Renames scenarios of the playground, or replaces their requests; null leaves a column as it is. */
export function changeScenarios(rows: readonly (ScenarioChange & OfOrganization)[], params: Params): string {
  const column = (name: keyof ScenarioChange | 'org_id', type: string) =>
    params.add(
      rows.map((row) => row[name]),
      type,
    )
  return `UPDATE playground_scenarios AS kept SET name = coalesce(next.name, kept.name),
      request = coalesce(next.request, kept.request), saved_by = next.saved_by, saved_at = next.saved_at
    FROM unnest(${column('org_id', 'text[]')}, ${column('id', 'text[]')}, ${column('name', 'text[]')}, ${column('request', 'text[]')},
      ${column('saved_by', 'text[]')}, ${column('saved_at', 'timestamptz[]')}) AS next (org_id, id, name, request, saved_by, saved_at)
    WHERE kept.org_id = next.org_id AND kept.id = next.id RETURNING 1`
}

/** Removes scenarios of the playground. */
export function removeScenarios(rows: readonly ({ id: string } & OfOrganization)[], params: Params): string {
  const column = (name: 'org_id' | 'id') =>
    params.add(
      rows.map((row) => row[name]),
      'text[]',
    )
  return `DELETE FROM playground_scenarios AS kept USING unnest(${column('org_id')}, ${column('id')}) AS removed (org_id, id)
    WHERE kept.org_id = removed.org_id AND kept.id = removed.id RETURNING 1`
}
