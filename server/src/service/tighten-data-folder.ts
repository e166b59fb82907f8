import { chmodSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, ENVIRONMENTS } from '../config.ts'

const OTHERS_WRITE = 0o002
const STICKY = 0o1000
const GROUP_AND_OTHERS = 0o077
/** Files whose readers could act as the installation or as its first organization. */
const SECRET_FILES = ['master.key', 'master.key.next', 'first-run.txt']
/** Files whose writers could hold the folder, or forge what this node knows of the audit logs and of erasures. */
const OWN_FILES = [
  ...['lock', 'holder.json'],
  ...ENVIRONMENTS.flatMap((environment) => [`heads-${environment}.jsonl`, `erasures-${environment}.jsonl`]),
]

/**
 * Closes the data folder to writes of other users, and its files to every access of them; returns the paths whose mode
 * it changed. Refuses what it cannot change.
 */
export function tightenDataFolder(dataDir: string): string[] {
  const changed: string[] = []
  const folder = statSync(dataDir, { throwIfNoEntry: false })
  if (!folder?.isDirectory()) return changed // created with the right mode, or refused where it is used
  if (folder.mode & OTHERS_WRITE) {
    // A sticky folder, such as /tmp, is shared on purpose.
    if (folder.mode & STICKY || !isOwn(folder))
      throw new ConfigError(
        `every user can write to ${dataDir}: set DATA_DIR to a new folder inside it, which is created for this user only`,
      )
    chmodSync(dataDir, folder.mode & 0o7777 & ~OTHERS_WRITE)
    changed.push(dataDir)
  }
  for (const path of [...SECRET_FILES, ...OWN_FILES].map((name) => join(dataDir, name))) {
    const file = statSync(path, { throwIfNoEntry: false })
    if (!file || (file.mode & GROUP_AND_OTHERS) === 0) continue
    if (!isOwn(file)) throw new ConfigError(`other users can read ${path}: run chmod 600 ${path} as its owner`)
    chmodSync(path, 0o600)
    changed.push(path)
  }
  return changed
}

/** Whether this user may change the mode of a file. Windows has no modes, and no `getuid`. */
function isOwn({ uid }: Stats): boolean {
  const user = process.getuid?.()
  return user === undefined || user === 0 || user === uid
}
