import { type Database, DatabaseError } from '../database/database.ts'

/** An advisory lock; any constant works if all releases share it. */
const FIRST_RUN_LOCK = 8_243_004_118

/** A customer of the installation: it owns keys, entities, decisions, policies and webhook endpoints. */
export interface Organization {
  id: string
  name: string
  created_at: string
}

/** Adds an organization; false, and nothing is added, if another has the name, in whatever capitals. */
export async function insertOrganization(control: Database, { id, name, created_at }: Organization): Promise<boolean> {
  const inserted = await control.query(
    'INSERT INTO organizations (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (lower(name)) DO NOTHING RETURNING id',
    [id, name, created_at],
  )
  return inserted.length > 0
}

/** Stores another name of an organization; false, and the name stays, if another organization has it, in whatever capitals. */
export async function renameOrganization(
  control: Database,
  { id, name }: { id: string; name: string },
): Promise<boolean> {
  try {
    await control.query('UPDATE organizations SET name = $2 WHERE id = $1', [id, name])
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation) return false
    throw error
  }
}

/** The organization of this name, in whatever capitals; those beyond ASCII too, which a database may not know. */
export async function organizationNamed(control: Database, name: string): Promise<Organization | undefined> {
  const organizations = await listOrganizations(control)
  return organizations.find((other) => other.name.toLowerCase() === name.toLowerCase())
}

/** Lists all organizations, oldest first. */
export async function listOrganizations(control: Database): Promise<Organization[]> {
  return control.query<Organization & Record<string, unknown>>(
    'SELECT id, name, created_at FROM organizations ORDER BY created_at, id',
  )
}

/** Whether there is an organization. */
export async function isAnyOrganization(control: Database): Promise<boolean> {
  const [row] = await control.query<{ found: boolean }>('SELECT EXISTS (SELECT FROM organizations) AS found')
  return row!.found
}

/** The id of the organization that the first start creates, stored before anything of that organization is. */
export async function firstOrganizationId(control: Database): Promise<string> {
  const [row] = await control.query<{ first_organization_id: string }>('SELECT first_organization_id FROM installation')
  return row!.first_organization_id
}

/** Stores the check value of the master key at the first start of an installation; nothing changes if another node has. */
export async function storeKeyCheck(
  control: Database,
  { masterKeyCheck, firstOrganizationId, now }: { masterKeyCheck: string; firstOrganizationId: string; now: string },
): Promise<void> {
  await control.query(
    `INSERT INTO installation (master_key_check, first_organization_id, created_at) VALUES ($1, $2, $3)
     ON CONFLICT DO NOTHING`,
    [masterKeyCheck, firstOrganizationId, now],
  )
}

/** Whether no node has ever started on this database. */
export async function isNewInstallation(control: Database): Promise<boolean> {
  try {
    return (await control.query('SELECT 1 FROM installation')).length === 0
  } catch (error) {
    if (error instanceof DatabaseError && error.isNotSetUp) return true
    throw error
  }
}

/** Runs work under an advisory lock: nodes that start at the same moment run it one after another. */
export async function withFirstRunLock<T>(control: Database, work: () => Promise<T>): Promise<T> {
  return control.transaction(async (transaction) => {
    await transaction.query('SELECT pg_advisory_xact_lock($1)', [FIRST_RUN_LOCK])
    return work()
  })
}
