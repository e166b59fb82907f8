import type { Installation } from '../installation/installation.ts'
import { isAnyOrganization, withFirstRunLock } from '../store/control/organizations.ts'

/** Creates the first organization if there is none; returns the text that shows its API key this one time. */
export async function firstRun(installation: Installation): Promise<string | undefined> {
  const { control, embedded } = installation.storage
  const createIfNone = async () => {
    if (await isAnyOrganization(control)) return undefined
    // Imported here, because later starts do not need these modules.
    const { createFirstOrganization } = await import('./create-first-organization.ts')
    return createFirstOrganization(installation)
  }
  // Nodes on one PostgreSQL may start at the same moment; the embedded database has one process.
  return embedded ? createIfNone() : withFirstRunLock(control, createIfNone)
}
