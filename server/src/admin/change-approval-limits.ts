import { APPROVAL_LIMITS_MAX, type ApprovalLimit, type LimitHolder } from '../core/approval-limits.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import { isInMinorUnits } from '../core/schema/currency-decimals.ts'
import { OPERATOR_ROLES } from '../core/vocabularies.ts'
import type { Installation } from '../installation/installation.ts'
import { findOperatorById } from '../store/control/operators.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { contextOf, type EnvironmentAct, type OperatorActor, permitted, type Reasoned } from './act.ts'
import { rolesWith } from './permissions.ts'
import { conflict, invalid } from './problem.ts'

/**
 * Changes up to which amounts people and API keys approve in an environment: `to` replaces every row. Owners alone do, because
 * others would raise their own. The log has both, and is where the limits are read from.
 */
export const changeApprovalLimits = permitted(
  'set approval limits',
  async (
    installation,
    act: Reasoned<EnvironmentAct<OperatorActor>>,
    to: readonly ApprovalLimit[],
  ): Promise<readonly ApprovalLimit[]> => {
    const { environment, organizationId, reason } = act
    await requirePossible(installation, act, to)
    const store = installation.stores[environment]
    const from = await store.approvals.limits(organizationId)
    if (canonicalJson(from) === canonicalJson(to))
      throw conflict('limits_unchanged', 'These are the approval limits already.')
    const entry = auditEntryRow(contextOf(installation, act), {
      type: 'approval_limits.changed',
      trailId: organizationId,
      subject: { type: 'organization', id: organizationId },
      data: { from, to, reason },
    })
    await commitOrThrow(store, { organizationId, auditEntries: [entry] })
    return to
  },
)

async function requirePossible(
  installation: Installation,
  act: EnvironmentAct,
  limits: readonly ApprovalLimit[],
): Promise<void> {
  if (limits.length > APPROVAL_LIMITS_MAX)
    throw invalid('limits_too_many', `There can be at most ${APPROVAL_LIMITS_MAX} approval limits.`)
  const names = limits.map(({ holder, product, currency }) =>
    JSON.stringify([holder.type, holder.id, product, currency]),
  )
  if (new Set(names).size < names.length)
    throw invalid('limit_twice', 'Two rows are about the same holder, product and currency.')
  for (const { currency, alone, second, holder } of limits) {
    if (![alone, second ?? 0].every((amount) => isInMinorUnits(amount, currency)))
      throw invalid('limit_decimals', `A limit has more decimals than ${currency}.`)
    if (second !== null && second < alone)
      throw invalid('limit_contradictory', 'Who approves an amount alone can also sign it second.')
    if (!(await isHolder(installation, act, holder)))
      throw invalid('limit_holder_unknown', `${holder.id} cannot hold an approval limit here.`)
  }
}

/** Whether a role, an operator or an API key of the environment could approve at all. */
async function isHolder(
  { storage, stores }: Installation,
  { organizationId, environment }: EnvironmentAct,
  { type, id }: LimitHolder,
): Promise<boolean> {
  if (type === 'role') return OPERATOR_ROLES.some((role) => role === id && rolesWith('review decisions').includes(role))
  if (type === 'operator') return (await findOperatorById(storage.control, organizationId, id)) !== undefined
  return (await stores[environment].apiKeys.list(organizationId)).some((key) => key.id === id)
}
