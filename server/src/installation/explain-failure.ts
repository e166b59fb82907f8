import { ForeignErasure, MissingErasures } from '../audit/known-erasures.ts'
import { ConfigError } from '../config.ts'
import { DatabaseError, DatabaseUnavailable } from '../store/database/database.ts'
import { FolderHeld, FolderNotLockable } from '../store/database/folder-lock.ts'
import { MigrationRefused } from '../store/schema/migrate.ts'
import { PoolBusy } from '../threads/thread-pool.ts'
import { WrongMasterKey } from './installation.ts'

/** The failure when the settings point to a database without an installation. */
const NOT_SET_UP = 'the database is not set up yet: run npm start, or npm run cli -- migrate'

/** Explains an expected failure in one line, "what happened: what to do"; any other is a bug and keeps its stack. */
export function explainFailure(error: unknown): string {
  if (error instanceof FolderHeld) return `${error.message}: stop that process, or set DATA_DIR to another folder`
  if (
    error instanceof ConfigError ||
    error instanceof DatabaseUnavailable ||
    error instanceof ForeignErasure ||
    error instanceof FolderNotLockable ||
    error instanceof MigrationRefused ||
    error instanceof MissingErasures ||
    error instanceof PoolBusy ||
    error instanceof WrongMasterKey
  ) {
    return error.message
  }
  if (error instanceof DatabaseError && error.isNotSetUp) return NOT_SET_UP
  if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS'))
    return (error as Error).message.split('\n', 1)[0]!
  const { code, port, address, path, syscall } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRINUSE')
    return `port ${port} of ${address} is in use: stop the process that listens there, or set CONSOLE_PORT, SANDBOX_PORT or PRODUCTION_PORT`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return 'HOST is not an address of this machine: set it to one, such as 127.0.0.1'
  if (code === 'EACCES' && port !== undefined)
    return `port ${port} needs more rights than this process has: choose a port above 1023`
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM' || code === 'ENOTDIR' || code === 'ENOSPC') {
    return `${path ?? 'the data folder'} cannot be written (${syscall}: ${code}): set DATA_DIR to a folder that this user can write`
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
