import { type Params, unnestAs } from '../schema/tables.ts'
import type { OfOrganization, ScenarioChange } from './change.ts'

/** Renames scenarios of the playground, or replaces their requests; null leaves a column as it is. */
export function changeScenarios(rows: readonly (ScenarioChange & OfOrganization)[], params: Params): string {
  const saved = { saved_by: 'text', saved_at: 'timestamptz' }
  const columns = { org_id: 'text', id: 'text', name: 'text', request: 'text', ...saved }
  return `UPDATE playground_scenarios AS kept SET name = coalesce(next.name, kept.name),
      request = coalesce(next.request, kept.request), saved_by = next.saved_by, saved_at = next.saved_at
    FROM ${unnestAs('next', rows, columns, params)}
    WHERE kept.org_id = next.org_id AND kept.id = next.id RETURNING 1`
}

/** Removes scenarios of the playground. */
export function removeScenarios(rows: readonly ({ id: string } & OfOrganization)[], params: Params): string {
  return `DELETE FROM playground_scenarios AS kept USING ${unnestAs('removed', rows, { org_id: 'text', id: 'text' }, params)}
    WHERE kept.org_id = removed.org_id AND kept.id = removed.id RETURNING 1`
}
