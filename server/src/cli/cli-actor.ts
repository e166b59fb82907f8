import { userInfo } from 'node:os'
import type { AdminActor } from '../core/audit/audit-entry.ts'

/** Who is on record for what the command line does: the user of the operating system, by number where it has no name. */
export function cliActor(): AdminActor {
  return { type: 'system', id: `cli:${userName()}` }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.()}`
  }
}
