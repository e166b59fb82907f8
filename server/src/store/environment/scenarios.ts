import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'

/** The most scenarios that an organization keeps in an environment: as many as a person can find one among, by its name. */
export const SCENARIOS_MAX = 100

/** Reads of the playground's scenarios. */
export function scenarioQueries(database: Database) {
  return {
    /** The scenarios of an organization, by name. */
    async list(organizationId: string): Promise<RowOf<'playground_scenarios'>[]> {
      return database.query<RowOf<'playground_scenarios'> & Row>(
        `SELECT ${columnsOf('playground_scenarios').join(', ')} FROM playground_scenarios WHERE org_id = $1 ORDER BY name`,
        [organizationId],
      )
    },
  }
}
