import { adoptLogKey, announceLogKey, findUnextendable, type LogsToChange } from '../audit/change-log-key.ts'
import { ENVIRONMENTS } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import type { MasterKey } from '../security/master-key.ts'
import { generateMasterKey, promoteNextKey, readNextKey, saveNextKey } from '../security/master-key-file.ts'
import { SecretBox } from '../security/secret-box.ts'
import { beginKeyRotation, endKeyRotation, readStoredKeys } from '../store/control/master-keys.ts'
import { listOrganizations } from '../store/control/organizations.ts'
import type { Row } from '../store/database/database.ts'
import { listRunningNodes } from '../store/database/health.ts'
import { encryptWebhooksAgain } from '../store/environment/encrypted-secrets.ts'
import { INSTALLATION_LOG, POWER_TABLES, type PowerTable, powerDefinition } from '../store/power/power-tables.ts'
import { resealRows } from '../store/power/reseal-rows.ts'
import { actorOf, type InstallationAct, type Reasoned, withReason } from './act.ts'
import { conflict } from './problem.ts'

/** A node that has not checked its database for this long has ended: it checks every five seconds. */
const SILENT_SECONDS = 20

/** A rotation that came to its end. */
export interface RotatedKey {
  /** Audit logs that the new key signs. */
  logs: number
  /** Rows that grant power, which have a MAC of the new key. */
  rows: number
  /** Secrets that were encrypted again. */
  secrets: number
  /** Secrets that no key decrypts, because they were altered. They are left as they are. */
  unreadable: string[]
  /** Whether `master.key` in the data folder holds the new key; otherwise MASTER_KEY has to be set to it. */
  is_in_file: boolean
}

/**
 * Replaces the master key of an installation that no node serves. Nothing is written before it is certain that every log
 * can be extended.
 *
 *     announced   every log says, under the current key, which key follows
 *     begun       the check value of the next key is stored, the key itself in its file; no node starts until the end
 *     adopted     every log is signed with the next key, rows that grant power have a MAC of it, secrets are encrypted with it
 *     ended       one statement makes the next key the current one, and stores the retired ones encrypted with it
 *
 * A rotation that was interrupted after it had begun is completed by the next call with the same key. Steps that were
 * done are done again without harm.
 */
export async function rotateMasterKey(
  installation: Installation,
  asked: Reasoned<InstallationAct>,
  given?: MasterKey,
): Promise<RotatedKey> {
  const act = withReason(asked)
  const { config, storage, masterKey } = installation
  const { control } = storage
  const running = await listRunningNodes(control, SILENT_SECONDS)
  if (running.length > 0)
    throw conflict('nodes_running', `${running.length === 1 ? 'A node is' : `${running.length} nodes are`} running.`)
  const stored = await readStoredKeys(control)
  if (stored?.master_key_check !== masterKey.check)
    throw conflict('master_key_wrong', 'This is not the master key of this installation.')
  if (given?.check === masterKey.check) throw conflict('master_key_unchanged', 'This is the current master key.')
  const isInFile = config.masterKey === undefined
  const isBegun = stored.next_master_key_check !== null
  // The key itself is not in the database: a thief of the current key could decrypt it there.
  const chosen = given ?? (isBegun ? readNextKey(config.dataDir) : generateMasterKey())
  if (!chosen || (isBegun && chosen.check !== stored.next_master_key_check))
    throw conflict('rotation_interrupted', 'A rotation to another key was interrupted.')
  const next = chosen.succeeding(masterKey)

  await control.recordQueued()
  const logs = await logsOf(installation, act)
  if (!isBegun) {
    const problems = await each(logs, (log) => findUnextendable(log, masterKey))
    if (problems.length === 0) problems.push(...(await each(logs, (log) => announceLogKey(log, masterKey, next))))
    if (problems.length > 0) throw conflict('logs_not_extendable', `Nothing was rotated: ${problems.join('; ')}.`)
    if (isInFile) saveNextKey(config.dataDir, next)
    if (!(await beginKeyRotation(control, next.check)))
      throw conflict('rotation_under_way', 'Another rotation is under way.')
  }
  // A node checks its database before it looks whether a rotation has begun: one that did not see this one is listed now.
  if ((await listRunningNodes(control, SILENT_SECONDS)).length > 0)
    throw conflict('nodes_running', 'A node has started meanwhile, and the rotation has begun.')
  const problems = await each(logs, (log) => adoptLogKey(log, masterKey, next))
  if (problems.length > 0)
    throw conflict('rotation_incomplete', `The rotation has begun and is not complete: ${problems.join('; ')}.`)
  const changed = await changeRows(installation, next)
  if (!(await endKeyRotation(control, { check: next.check, encryptedRetired: next.encryptRetired() })))
    throw conflict('rotation_overtaken', 'Another rotation ended meanwhile.')
  if (isInFile) promoteNextKey(config.dataDir)
  const signed = logs.reduce((sum, { organizationIds }) => sum + organizationIds.length, 0)
  return { logs: signed, ...changed, is_in_file: isInFile }
}

async function logsOf(
  { storage, knownHeads, knownErasures, newId, nowMs }: Installation,
  act: Reasoned<InstallationAct>,
): Promise<LogsToChange[]> {
  const organizationIds = (await listOrganizations(storage.control)).map(({ id }) => id)
  const context = { actor: actorOf(act), now: new Date(nowMs()).toISOString(), requestId: null, newId }
  return ENVIRONMENTS.map((environment) => ({
    environment,
    database: storage.environments[environment],
    organizationIds: environment === 'production' ? [...organizationIds, INSTALLATION_LOG] : organizationIds,
    knownHeads: knownHeads[environment],
    knownErasures: knownErasures[environment],
    context,
    reason: act.reason,
    nowMs,
  }))
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<string[]>): Promise<string[]> {
  const problems: string[] = []
  for (const item of items) problems.push(...(await work(item)))
  return problems
}

/** The tables whose MAC covers a secret: the purpose of the secret's key, and the owner that it is bound to. */
const SEALED_SECRETS: Partial<Record<PowerTable, { purpose: string; ownerOf: (row: Row) => string }>> = {
  account_codes: { purpose: 'account codes', ownerOf: ({ account_id }) => String(account_id) },
  operator_codes: { purpose: 'operator codes', ownerOf: ({ org_id, operator_id }) => `${org_id} ${operator_id}` },
}

/** Gives every row that grants power a MAC of the next key, and encrypts every secret with it. */
async function changeRows({ storage, masterKey }: Installation, next: MasterKey) {
  const changed = { rows: 0, secrets: 0, unreadable: [] as string[] }
  const encryptedAgain = (purpose: string) => {
    const box = new SecretBox(next.deriveAll(purpose))
    return (owner: string, stored: string) => {
      const secret = decrypted(box, owner, stored)
      if (secret === undefined) return undefined
      changed.secrets += 1
      return box.encrypt(owner, secret)
    }
  }
  for (const table of Object.keys(POWER_TABLES) as PowerTable[]) {
    const { purpose, ownerOf } = SEALED_SECRETS[table] ?? {}
    const again = purpose === undefined ? undefined : encryptedAgain(purpose)
    const change = again && {
      change(row: Row) {
        const secret = again(ownerOf!(row), String(row.secret))
        if (secret === undefined) changed.unreadable.push(`the secret of ${table} ${ownerOf!(row)}`)
        return secret === undefined ? {} : { secret }
      },
    }
    const places = powerDefinition(table).log === 'environment' ? ENVIRONMENTS : (['control'] as const)
    for (const place of places) {
      const database = place === 'control' ? storage.control : storage.environments[place]
      const keys = { current: masterKey.rowMacKey(place), next: next.rowMacKey(place) }
      changed.rows += await resealRows(database, table, { ...keys, ...change })
    }
  }
  for (const environment of ENVIRONMENTS) {
    const again = encryptedAgain(`webhook secrets ${environment}`)
    const left = await encryptWebhooksAgain(storage.environments[environment], again)
    changed.unreadable.push(...left.map((secret) => `${environment}: ${secret}`))
  }
  return changed
}

function decrypted(box: SecretBox, owner: string, stored: string): string | undefined {
  try {
    return box.decrypt(owner, stored)
  } catch {
    return undefined
  }
}
