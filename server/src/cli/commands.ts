import { auditAcceptRestore, auditPublicKey, auditVerify } from './audit.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { gateApprove, gateClose, gateStatusCommand } from './gate.ts'
import { keysCreate, keysList, keysRevoke } from './keys.ts'
import { migrateCommand } from './migrate.ts'
import { operatorsAdd, operatorsList, operatorsResetCode } from './operators.ts'
import { orgsCreate, orgsList } from './orgs.ts'
import { policyActivate, policyApprove, policyList, policyPropose, policyReject, policyShow } from './policy.ts'
import { policyCheck, policyDiff, policyTest } from './policy-files.ts'
import {
  webhooksAdd,
  webhooksDeliveries,
  webhooksDisable,
  webhooksEnable,
  webhooksList,
  webhooksRedeliver,
  webhooksRotate,
} from './webhooks.ts'

/**
 * The table of all commands, in the order of `verdigraph --help`. The reference page is generated from it.
 *
 * To add a command, declare it with `defineCommand` (command.ts) in the file named after its first word, such as
 * `keys.ts` for every `keys …` command, and list it here. The `policy …` commands that need only files are in
 * policy-files.ts. Options that several commands share are in shared-options.ts.
 */
export const commands: readonly Command[] = [
  orgsCreate,
  orgsList,
  keysCreate,
  keysList,
  keysRevoke,
  operatorsAdd,
  operatorsList,
  operatorsResetCode,
  policyCheck,
  policyTest,
  policyDiff,
  policyList,
  policyShow,
  policyPropose,
  policyApprove,
  policyReject,
  policyActivate,
  gateStatusCommand,
  gateApprove,
  gateClose,
  webhooksAdd,
  webhooksList,
  webhooksRotate,
  webhooksDisable,
  webhooksEnable,
  webhooksDeliveries,
  webhooksRedeliver,
  auditVerify,
  auditAcceptRestore,
  auditPublicKey,
  migrateCommand,
  doctor,
]

/** Finds a command by its full name, such as `keys create`. */
export function findCommand(name: string): Command | undefined {
  return commands.find((command) => command.name === name)
}
