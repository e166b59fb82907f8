import { userInfo } from 'node:os'
import type { Actor } from '../admin/manage-organizations.ts'

/** Who is on record for what the command line does: the user of the operating system, by number where it has no name. */
export function cliActor(): Actor {
  return { type: 'system', id: `cli:${userName()}` }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.()}`
  }
}
