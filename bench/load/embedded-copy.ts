import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../server/src/config.ts'
import { openStorage, type Storage } from '../../server/src/store/storage.ts'
import type { MeasuredService } from './measured-service.ts'
import { undoable } from './undo.ts'

/** A copy of a service's embedded database, open in this process: only one process can open a folder. */
export interface EmbeddedCopy {
  storage: Storage
  /** The folder of the database's files. */
  folder: string
  remove(): Promise<void>
}

/** Pauses a service to copy its database, and opens the copy. */
export async function openEmbeddedCopy(service: MeasuredService): Promise<EmbeddedCopy> {
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-bench-copy-'))
  const folder = join(dataDir, 'database')
  const removeFolder = undoable(async () => rmSync(dataDir, { recursive: true, force: true }))
  await service.pause()
  cpSync(join(service.env.DATA_DIR!, 'database'), folder, { recursive: true })
  await service.resume()
  const storage = await openStorage(readConfig({ DATA_DIR: dataDir }))
  return { storage, folder, remove: () => storage.close().finally(removeFolder) }
}
