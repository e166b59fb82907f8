import { createOrganization } from '../src/admin/manage-organizations.ts'
import type { Installation } from '../src/installation/installation.ts'
import { SERVICE } from './acts.ts'

/** Numbers the organizations: their names are unique. */
let created = 0

/** Creates an organization on an installation, and returns its id. */
export async function newOrganizationId(installation: Installation): Promise<string> {
  created += 1
  return (await createOrganization(installation, SERVICE, `Test ${created}`)).id
}
