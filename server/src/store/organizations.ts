import type { Database } from './database.ts'

/** A customer of the installation: it owns keys, entities, decisions, policies and webhook endpoints. */
export interface Organization {
  id: string
  name: string
  created_at: string
}

/** Adds an organization. */
export async function insertOrganization(control: Database, { id, name, created_at }: Organization): Promise<void> {
  await control.query('INSERT INTO organizations (id, name, created_at) VALUES ($1, $2, $3)', [id, name, created_at])
}

/** All organizations, oldest first. */
export async function listOrganizations(control: Database): Promise<Organization[]> {
  return control.query<Organization & Record<string, unknown>>(
    'SELECT id, name, created_at FROM organizations ORDER BY id',
  )
}

/** Notes the installation's master key on the first start; says whether this node holds the same one. */
export async function claimInstallation(
  control: Database,
  { masterKeyCheck, now }: { masterKeyCheck: string; now: string },
): Promise<{ first: boolean; sameKey: boolean }> {
  const inserted = await control.query(
    'INSERT INTO installation (master_key_check, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id',
    [masterKeyCheck, now],
  )
  const [row] = await control.query<{ master_key_check: string }>('SELECT master_key_check FROM installation')
  return { first: inserted.length > 0, sameKey: row?.master_key_check === masterKeyCheck }
}
