import { userInfo } from 'node:os'
import type { OsUserActor } from '../admin/act.ts'
import type { CommandInput } from './command.ts'

const NAME_CHARACTERS_MAX = 100

/**
 * Names the user of the operating system that this process runs as, by number if it has no name. Under sudo that is
 * root; `sudoUser` is then added, as no more than a claim: the calling user can set the variable to any text.
 */
export function nameOsUser(sudoUser: string | undefined): string {
  const uid = process.getuid?.()
  const claim = sudoUser && /^[\w.@-]{1,32}$/.test(sudoUser) ? `; SUDO_USER ${sudoUser}` : ''
  return `${userName() ?? 'unknown'} (uid ${uid ?? 'unknown'}${claim})`
}

/**
 * The actor of commands that no operator stands behind. A running server takes the name from the process that called it,
 * because Node.js cannot see the user at the other end of a socket. The socket admits only the server's own user and root.
 */
export function osUser({ caller }: Pick<CommandInput, 'caller'>): OsUserActor {
  const name = String(caller).replace(/[^\x20-\x7e]/g, '?')
  return { type: 'os_user', id: name.slice(0, NAME_CHARACTERS_MAX) }
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined // Containers often run under a number that has no name.
  }
}
