import { account } from './operations/account.ts'
import { apiKeys } from './operations/api-keys.ts'
import { approvalLimits } from './operations/approval-limits.ts'
import { auditLog } from './operations/audit-log.ts'
import { cases } from './operations/cases.ts'
import { commandLineCodes } from './operations/command-line-codes.ts'
import { decisions } from './operations/decisions.ts'
import { deliveries } from './operations/deliveries.ts'
import { entities } from './operations/entities.ts'
import { entityErasure } from './operations/entity-erasure.ts'
import { entityMerges } from './operations/entity-merges.ts'
import { invitation } from './operations/invitation.ts'
import { liveGate } from './operations/live-gate.ts'
import { overview } from './operations/overview.ts'
import { passkeys } from './operations/passkeys.ts'
import { playground } from './operations/playground.ts'
import { policies } from './operations/policies.ts'
import { policyBacktests } from './operations/policy-backtests.ts'
import { policyCalibration } from './operations/policy-calibration.ts'
import { reviewBounds } from './operations/review-bounds.ts'
import { scenarios } from './operations/scenarios.ts'
import { signIn } from './operations/sign-in.ts'
import { singleSignOn } from './operations/single-sign-on.ts'
import { team } from './operations/team.ts'
import { twoFactor } from './operations/two-factor.ts'
import { usage } from './operations/usage.ts'
import { webhooks } from './operations/webhooks.ts'
import { welcome } from './operations/welcome.ts'

/** Every family of operations of the console's backend, by the file that defines it. */
const families = {
  account,
  'api-keys': apiKeys,
  'audit-log': auditLog,
  cases,
  'command-line-codes': commandLineCodes,
  decisions,
  deliveries,
  entities,
  'entity-erasure': entityErasure,
  'entity-merges': entityMerges,
  invitation,
  'live-gate': liveGate,
  overview,
  passkeys,
  playground,
  policies,
  'policy-backtests': policyBacktests,
  'policy-calibration': policyCalibration,
  'approval-limits': approvalLimits,
  'review-bounds': reviewBounds,
  scenarios,
  'sign-in': signIn,
  'single-sign-on': singleSignOn,
  team,
  'two-factor': twoFactor,
  usage,
  webhooks,
  welcome,
}

type Families = typeof families
type Name = { [Family in keyof Families]: `${Family}.${keyof Families[Family] & string}` }[keyof Families]

/** The operations by the name that the page calls, `<family>.<verb>`: `POST /api/<organization>/<environment>/<name>`. */
export type Operations = {
  [N in Name]: N extends `${infer Family extends keyof Families}.${infer Verb}`
    ? Verb extends keyof Families[Family]
      ? Families[Family][Verb]
      : never
    : never
}

/** Every operation; docs/reference/operations.md lists each with its permission. */
export const operations = Object.fromEntries(
  Object.entries(families).flatMap(([family, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => [`${family}.${verb}`, operation]),
  ),
) as Operations
