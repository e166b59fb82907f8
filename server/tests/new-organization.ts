import { createOrganization } from '../src/admin/manage-organizations.ts'
import type { Installation } from '../src/installation/installation.ts'

/** Numbers the organizations: their names are unique. */
let created = 0

/** Creates an organization on an installation, and returns its id. */
export async function newOrganizationId(installation: Installation): Promise<string> {
  created += 1
  const organization = await createOrganization(installation, {
    name: `Test ${created}`,
    actor: { type: 'system', id: 'test' },
  })
  if ('problem' in organization) throw new Error(organization.problem)
  return organization.id
}
