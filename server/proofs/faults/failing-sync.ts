/** Loaded with `--import` into a service whose disk is to fail: fdatasync answers EIO while a file exists. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** The settings with which a process started by tests has such a disk. */
export function failSyncsWhile(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.filename}`, FAIL_SYNCS_WHILE: file }
}

const file = process.env.FAIL_SYNCS_WHILE
if (file) {
  const { fdatasyncSync, existsSync } = fs
  fs.fdatasyncSync = (fd) => {
    if (existsSync(file)) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
    fdatasyncSync(fd)
  }
  syncBuiltinESMExports()
}
