import { type Config, ENVIRONMENTS, type Environment } from '../config.ts'
import { createNewId, type NewId } from '../ids/ids.ts'
import { createMasterKey, loadMasterKey, type MasterKey } from '../security/master-key.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { claimInstallation, isNewInstallation } from '../store/queries/organizations.ts'
import type { Storage } from '../store/storage.ts'
import { openStorage } from '../store/storage.ts'

/** An installation with its databases open: what the service runs on, and what commands of the command line work on. */
export interface Installation {
  config: Config
  storage: Storage
  stores: Record<Environment, EnvironmentStore>
  masterKey: MasterKey
  nowMs: () => number
  newId: NewId
  close(): Promise<void>
}

/** This node holds another master key than the one the installation was made with. */
export class WrongMasterKey extends Error {
  override name = 'WrongMasterKey'
}

/** Opens the installation that the settings describe. */
export async function openInstallation(
  config: Config,
  { nowMs = Date.now }: { nowMs?: () => number } = {},
): Promise<Installation> {
  const given = loadMasterKey(config) // a key that cannot be one is refused before anything is created
  const opening = openStorage(config)
  // Loaded while the embedded database opens in a thread of its own.
  const loading = import('../store/environment-store.ts')
  loading.catch(() => {}) // if nothing can be opened, that is what there is to tell
  const storage = await opening
  try {
    const { openEnvironmentStore } = await loading
    const stores = Object.fromEntries(
      ENVIRONMENTS.map((name) => [name, openEnvironmentStore(storage.environments[name])]),
    )
    return {
      config,
      storage,
      stores: stores as Record<Environment, EnvironmentStore>,
      masterKey: given ?? (await createFirstMasterKey(config, storage)),
      nowMs,
      newId: createNewId(nowMs),
      async close() {
        for (const name of ENVIRONMENTS) await stores[name]!.drain()
        await storage.close()
      },
    }
  } catch (error) {
    await storage.close()
    throw error
  }
}

/** Only an installation that was never started may be given a new key: to any other, a new key is a wrong one. */
async function createFirstMasterKey({ dataDir }: Config, { control }: Storage): Promise<MasterKey> {
  if (await isNewInstallation(control)) return createMasterKey(dataDir)
  throw new WrongMasterKey(
    'the master key of this installation is missing: set MASTER_KEY, or put master.key back into the data folder',
  )
}

/** Makes sure that this node holds the installation's master key, which the first start notes. */
export async function enterInstallation({ storage, masterKey, nowMs }: Installation): Promise<void> {
  const claim = { masterKeyCheck: masterKey.check, now: new Date(nowMs()).toISOString() }
  if (await claimInstallation(storage.control, claim)) return
  throw new WrongMasterKey(
    'this node has another master key than the installation was made with: set MASTER_KEY, or put the right master.key into the data folder',
  )
}
