import { userInfo } from 'node:os'
import type { Actor } from '../admin/manage-organizations.ts'

/** Who is on record for what the command line does: the user of the operating system. */
export function cliActor(): Actor {
  return { type: 'system', id: `cli:${userInfo().username}` }
}
