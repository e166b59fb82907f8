import { ConfigError } from '../config.ts'
import { DatabaseError, DatabaseUnavailable } from '../store/database/database.ts'
import { FolderHeld } from '../store/database/folder-lock.ts'
import { MigrationRefused } from '../store/schema/migrate.ts'
import { WrongMasterKey } from './installation.ts'

/** There is no installation where the settings point. */
export const NOT_SET_UP = 'The database is not set up yet: run npm start, or npm run cli -- migrate.'

/** Says in one line why something could not start and what to do about it; everything else is a fault of ours, with its stack. */
export function explainFailure(error: unknown): string {
  if (error instanceof FolderHeld) return `${error.message}: stop that process, or set DATA_DIR to another folder.`
  if (
    error instanceof ConfigError ||
    error instanceof DatabaseUnavailable ||
    error instanceof MigrationRefused ||
    error instanceof WrongMasterKey
  ) {
    return `${error.message}.`
  }
  if (error instanceof DatabaseError && error.isNotSetUp) return NOT_SET_UP
  if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS'))
    return (error as Error).message.split('\n', 1)[0]!
  const { code, port, address, path, syscall } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRINUSE')
    return `Port ${port} of ${address} is in use: stop what listens there, or set CONSOLE_PORT, SANDBOX_PORT or PRODUCTION_PORT.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `HOST names an address that this machine does not have.`
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} needs more rights than this process has: choose one above 1023.`
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM' || code === 'ENOTDIR' || code === 'ENOSPC') {
    return `${path ?? 'The data folder'} cannot be written (${syscall}: ${code}): set DATA_DIR to a folder of this user.`
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
