import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStorage, type Storage } from '../../server/src/store/storage.ts'
import type { MeasuredService } from './measured-service.ts'
import { undoable } from './undo.ts'

/** A copy of a service's embedded database, open in this process: only one process can hold a folder. */
export interface EmbeddedCopy {
  storage: Storage
  /** Where the files of the database are. */
  folder: string
  remove(): Promise<void>
}

/** Copies the database of a service, which ends meanwhile, and opens the copy. */
export async function openEmbeddedCopy(service: MeasuredService): Promise<EmbeddedCopy> {
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-bench-copy-'))
  const folder = join(dataDir, 'database')
  const removeFolder = undoable(async () => rmSync(dataDir, { recursive: true, force: true }))
  await service.pause()
  cpSync(join(service.env.DATA_DIR!, 'database'), folder, { recursive: true })
  await service.resume()
  const storage = await openStorage({ dataDir, databaseUrls: undefined })
  return { storage, folder, remove: () => storage.close().finally(removeFolder) }
}
