import { type Config, ENVIRONMENTS, type Environment } from '../config.ts'
import { createNewId, type NewId } from '../ids.ts'
import { loadMasterKey, type MasterKey } from '../security/master-key.ts'
import { type EnvironmentStore, openEnvironmentStore } from '../store/environment-store.ts'
import { claimInstallation, listOrganizations } from '../store/organizations.ts'
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
  const storage = await openStorage(config)
  try {
    const stores = Object.fromEntries(
      ENVIRONMENTS.map((name) => [name, openEnvironmentStore(storage.environments[name])]),
    )
    return {
      config,
      storage,
      stores: stores as Record<Environment, EnvironmentStore>,
      masterKey: loadMasterKey(config),
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

/** Makes sure that this node holds the installation's master key; says whether this is its very first start. */
export async function enterInstallation({ storage, masterKey, nowMs }: Installation): Promise<{ firstStart: boolean }> {
  const claim = { masterKeyCheck: masterKey.check, now: new Date(nowMs()).toISOString() }
  const { first, sameKey } = await claimInstallation(storage.control, claim)
  if (!sameKey) {
    throw new WrongMasterKey(
      'this node has another master key than the installation was made with: set MASTER_KEY, or put the right master.key into the data folder',
    )
  }
  // Only the embedded database can be sure that nobody else is about to create the first organization.
  const unfinished = storage.embedded && (await listOrganizations(storage.control)).length === 0
  return { firstStart: first || unfinished }
}
