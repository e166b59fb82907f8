import { auditAcceptRows } from './accept-rows.ts'
import { auditAcceptRestore, auditPublicKey, auditVerify } from './audit.ts'
import type { Command } from './command.ts'
import { decisionsExplain, decisionsShow } from './decisions.ts'
import { doctor } from './doctor.ts'
import { entitiesShow } from './entities.ts'
import { entitiesErase, entitiesErasure } from './entity-erasure.ts'
import { entitiesHold, entitiesHolds, entitiesLiftHold } from './entity-holds.ts'
import { entitiesMerge, entitiesMerges, entitiesSeparate } from './entity-merges.ts'
import { gateApprove, gateClose, gateStatusCommand } from './gate.ts'
import { keysCreate, keysDisable, keysEnable, keysList, keysRevoke, keysRotate } from './keys.ts'
import { auditApplyErasures, auditWaiveErasures } from './known-erasures.ts'
import { masterKeyRotate } from './master-key.ts'
import { migrateCommand } from './migrate.ts'
import {
  operatorsAdd,
  operatorsFirstLink,
  operatorsInvite,
  operatorsList,
  operatorsRemove,
  operatorsResetCode,
  operatorsRole,
} from './operators.ts'
import { orgsCreate, orgsList } from './orgs.ts'
import { outcomesList, outcomesRetract } from './outcomes.ts'
import { policyActivate, policyApprove, policyList, policyPropose, policyReject, policyShow } from './policy.ts'
import { policyBacktest } from './policy-backtest.ts'
import { policyCalibrate } from './policy-calibrate.ts'
import { policyCheck, policyDiff, policyNew, policyTest } from './policy-files.ts'
import { policyTry } from './policy-try.ts'
import {
  webhooksAdd,
  webhooksDeliveries,
  webhooksDisable,
  webhooksEdit,
  webhooksEnable,
  webhooksList,
  webhooksRedeliver,
  webhooksRemove,
  webhooksRotate,
  webhooksTest,
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
  keysRotate,
  keysDisable,
  keysEnable,
  keysRevoke,
  operatorsAdd,
  operatorsInvite,
  operatorsFirstLink,
  operatorsList,
  operatorsRole,
  operatorsRemove,
  operatorsResetCode,
  policyNew,
  policyCheck,
  policyTest,
  policyTry,
  policyDiff,
  policyList,
  policyShow,
  policyBacktest,
  policyCalibrate,
  policyPropose,
  policyApprove,
  policyReject,
  policyActivate,
  outcomesList,
  outcomesRetract,
  gateStatusCommand,
  gateApprove,
  gateClose,
  decisionsShow,
  decisionsExplain,
  entitiesShow,
  entitiesMerges,
  entitiesMerge,
  entitiesSeparate,
  entitiesErasure,
  entitiesErase,
  entitiesHolds,
  entitiesHold,
  entitiesLiftHold,
  webhooksAdd,
  webhooksList,
  webhooksEdit,
  webhooksRotate,
  webhooksDisable,
  webhooksEnable,
  webhooksRemove,
  webhooksTest,
  webhooksDeliveries,
  webhooksRedeliver,
  auditVerify,
  auditAcceptRestore,
  auditAcceptRows,
  auditApplyErasures,
  auditWaiveErasures,
  auditPublicKey,
  masterKeyRotate,
  migrateCommand,
  doctor,
]

/** Finds a command by its full name, such as `keys create`. */
export function findCommand(name: string): Command | undefined {
  return commands.find((command) => command.name === name)
}
