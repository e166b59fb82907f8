import { setImmediate as nextTurn } from 'node:timers/promises'
import { KnownErasures } from '../audit/known-erasures.ts'
import { KnownHeads } from '../audit/known-heads.ts'
import { type Config, ENVIRONMENTS, type Environment } from '../config.ts'
import { createNewId, type NewId } from '../ids/new-id.ts'
import type { MasterKey } from '../security/master-key.ts'
import { createMasterKey, loadMasterKey, promoteNextKey, readNextKey } from '../security/master-key-file.ts'
import { readStoredKeys } from '../store/control/master-keys.ts'
import { isNewInstallation, storeKeyCheck } from '../store/control/organizations.ts'
import { measureClock } from '../store/database/health.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { ControlDatabase } from '../store/power/control-database.ts'
import { RefusedRows } from '../store/power/refused-rows.ts'
import { openStorage, type Storage, type StorageOptions } from '../store/storage.ts'
import { ThreadPool } from '../threads/thread-pool.ts'
import { NodeClock } from './node-clock.ts'

/** An installation with its databases open: the service and the command line both work on it. */
export interface Installation {
  config: Config
  storage: Storage & { control: ControlDatabase }
  stores: Record<Environment, EnvironmentStore>
  masterKey: MasterKey
  refusedRows: RefusedRows
  /** The newest heads of the audit logs that are known outside the database. */
  knownHeads: Record<Environment, KnownHeads>
  /** The erasures that are known outside the database. */
  knownErasures: Record<Environment, KnownErasures>
  /** The time of the database, as far as this node knows it; in tests the clock they give. */
  nowMs: () => number
  clock: NodeClock
  newId: NewId
  /** The threads for work on policies; none is started before it is needed. */
  threads: ThreadPool
  /** The request that acts, in the copy that an operation of the console works with: its audit entries name it. */
  requestId?: string
  close(): Promise<void>
}

/** This node's master key is missing, or differs from the one that the installation was created with. */
export class WrongMasterKey extends Error {
  override name = 'WrongMasterKey'
}

/** The clocks of a node. `systemMs` is the machine's, which is corrected; `nowMs` replaces the result. */
export interface ClockOptions {
  systemMs?: () => number
  nowMs?: (() => number) | undefined
}

/** As much patience as with the connections of a start. */
const MEASURE_WITHIN_MS = 30_000

/** Opens the installation that the settings describe. */
export async function openInstallation(
  config: Config,
  { nowMs: givenNowMs, systemMs = Date.now, longStatements = false }: ClockOptions & StorageOptions = {},
): Promise<Installation> {
  const given = loadMasterKey(config) // refuses a malformed key before anything is created
  const opening = openStorage(config, { longStatements })
  // Loads while PostgreSQL is connected, or the embedded database opens in the thread that it has created by the next turn.
  const loading = nextTurn().then(() => import('../store/environment/environment-store.ts'))
  loading.catch(() => {}) // awaited below, unless the storage fails to open first
  const storage = await opening
  try {
    const { openEnvironmentStore } = await loading
    const masterKey = await completeKey(config, storage, given ?? (await createFirstMasterKey(config, storage)))
    const clock = new NodeClock(systemMs)
    // The embedded database has the clock of this machine.
    if (!storage.embedded) clock.correct(await measureClock(storage.control, { clock, withinMs: MEASURE_WITHIN_MS }))
    const nowMs = givenNowMs ?? clock.nowMs
    const refusedRows = new RefusedRows()
    const openStore = (name: Environment) =>
      openEnvironmentStore(storage.environments[name], masterKey.storeKeys(name), refusedRows)
    const stores = Object.fromEntries(ENVIRONMENTS.map((name) => [name, openStore(name)]))
    const threads = new ThreadPool()
    return {
      config,
      storage: {
        ...storage,
        control: new ControlDatabase(storage.control, {
          rowKey: masterKey.rowMacKey('control'),
          production: stores.production!,
          refusedRows,
          nowMs,
        }),
      },
      stores: stores as Record<Environment, EnvironmentStore>,
      masterKey,
      refusedRows,
      knownHeads: Object.fromEntries(
        ENVIRONMENTS.map((environment) => [environment, new KnownHeads({ dataDir: config.dataDir, environment })]),
      ) as Record<Environment, KnownHeads>,
      knownErasures: Object.fromEntries(
        ENVIRONMENTS.map((environment) => [
          environment,
          new KnownErasures({ dataDir: config.dataDir, environment, masterKey }),
        ]),
      ) as Record<Environment, KnownErasures>,
      nowMs,
      clock,
      newId: createNewId(nowMs),
      threads,
      async close() {
        await threads.close()
        for (const name of ENVIRONMENTS) await stores[name]!.drain()
        await storage.close()
      },
    }
  } catch (error) {
    await storage.close()
    throw error
  }
}

/** Creates a key only for a new installation: data of an existing one can be read with its old key only. */
async function createFirstMasterKey({ dataDir }: Config, { control }: Storage): Promise<MasterKey> {
  if (await isNewInstallation(control)) return createMasterKey(dataDir)
  throw new WrongMasterKey(
    'the master key of this installation is missing: set MASTER_KEY, or put master.key back into the data folder',
  )
}

/** The master key with its retired predecessors. The key of a rotation that ended takes the place of the one in the file. */
async function completeKey({ masterKey, dataDir }: Config, { control }: Storage, key: MasterKey): Promise<MasterKey> {
  const stored = await readStoredKeys(control)
  if (!stored) return key
  if (stored.master_key_check === key.check) return key.withRetired(stored.retired_master_keys)
  const next = masterKey === undefined ? readNextKey(dataDir) : undefined
  if (next?.check !== stored.master_key_check) return key // `verifyMasterKey` refuses to start with it
  promoteNextKey(dataDir)
  return next.withRetired(stored.retired_master_keys)
}

/** Refuses to start under another master key than the one whose check value the first start stored. */
export async function verifyMasterKey({ storage, masterKey, newId, nowMs }: Installation): Promise<void> {
  if (!(await readStoredKeys(storage.control)))
    await storeKeyCheck(storage.control, {
      masterKeyCheck: masterKey.check,
      firstOrganizationId: newId('org'),
      now: new Date(nowMs()).toISOString(),
    })
  const fault = await findKeyFault({ storage, masterKey })
  if (fault !== undefined) throw new WrongMasterKey(KEY_FAULTS[fault])
}

/** Why an installation must not be worked on with a master key. */
export type KeyFault = 'other_key' | 'rotation_incomplete'

const KEY_FAULTS: Record<KeyFault, string> = {
  other_key:
    'this node has another master key than the installation was made with: set MASTER_KEY, or put the right master.key into the data folder',
  rotation_incomplete:
    'a rotation of the master key was interrupted: run master-key rotate again to complete it, then start',
}

/** Finds out whether an installation may be worked on with this master key; undefined if it may. */
export async function findKeyFault({
  storage,
  masterKey,
}: Pick<Installation, 'storage' | 'masterKey'>): Promise<KeyFault | undefined> {
  const stored = await readStoredKeys(storage.control)
  if (stored && stored.master_key_check !== masterKey.check) return 'other_key'
  if (stored && stored.next_master_key_check !== null) return 'rotation_incomplete'
  return undefined
}
