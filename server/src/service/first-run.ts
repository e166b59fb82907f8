import { listOrganizations, onlyOnce } from '../store/queries/organizations.ts'
import type { Installation } from './installation.ts'

/** Sets up an installation that has no organization yet; says what there is to tell, once. */
export async function firstRun(installation: Installation): Promise<string | undefined> {
  const { control, embedded } = installation.storage
  const setUpIfNew = async () => {
    if ((await listOrganizations(control)).length > 0) return undefined
    // Later starts need not wait for modules that only the first one uses.
    const { setUp } = await import('./first-set-up.ts')
    return setUp(installation)
  }
  // The embedded database is one session and one process: nobody else can be about to do the same.
  return embedded ? setUpIfNew() : onlyOnce(control, setUpIfNew)
}
