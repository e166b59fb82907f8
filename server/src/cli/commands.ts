import { auditPublicKey, auditVerify } from './audit.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { keysCreate, keysList, keysRevoke } from './keys.ts'
import { migrateCommand } from './migrate.ts'
import { orgsCreate, orgsList } from './orgs.ts'

/** Everything the command line can do. */
export const commands: readonly Command[] = [
  orgsCreate,
  orgsList,
  keysCreate,
  keysList,
  keysRevoke,
  auditVerify,
  auditPublicKey,
  migrateCommand,
  doctor,
]

/** The command of that name. */
export function findCommand(name: string): Command | undefined {
  return commands.find((command) => command.name === name)
}
