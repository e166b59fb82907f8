import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file that only its owner can read, whole or not at all: under another name first, then on disk, then under
 * its own name. Replaces an existing file, unless `keepExisting` is set: then it fails with EEXIST.
 */
export function writeSecretFile(
  file: string,
  text: string,
  { keepExisting = false }: { keepExisting?: boolean } = {},
): void {
  const unfinished = `${file}.unfinished`
  rmSync(unfinished, { force: true }) // a write that was interrupted
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx', flush: true })
    if (keepExisting) linkSync(unfinished, file)
    else renameSync(unfinished, file)
    fsyncFolder(dirname(file))
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function fsyncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
