import { changeApprovalLimits } from '../../admin/change-approval-limits.ts'
import { approverOf } from '../../admin/decide-case.ts'
import { holds, rolesWith } from '../../admin/permissions.ts'
import { APPROVAL_LIMITS_MAX, LIMIT_HOLDERS } from '../../core/approval-limits.ts'
import { AMOUNT_MAX } from '../../core/money.ts'
import { Currency, Money, Nullable, OneOf, Strict, Text } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { listOperators } from '../../store/control/operators.ts'
import { defineOperation } from '../define-operation.ts'

const Amount = (description: string) => Money({ minimum: 0, maximum: AMOUNT_MAX }, description)
const Name = Type.String({ minLength: 1, maxLength: 64 })

/** Shows up to which amounts people and API keys approve here, and whom limits can be set for. */
const showApprovalLimits = defineOperation({
  summary: 'Show up to which amounts people and API keys may approve',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ installation, store, organizationId, environment }) {
    const [limits, operators, keys] = await Promise.all([
      store.approvals.limits(organizationId),
      listOperators(installation.storage.control, organizationId),
      store.apiKeys.list(organizationId),
    ])
    const reviewers = operators.filter(
      (operator) => operator.disabled_at === null && holds(operator, 'review decisions'),
    )
    const reviewing = keys.filter(({ scopes, revoked_at }) => scopes.includes('reviews:write') && revoked_at === null)
    return {
      limits,
      holders: {
        roles: rolesWith('review decisions'),
        operators: reviewers.map((operator) => ({ name: operator.name, ...approverOf(operator) })),
        api_keys: reviewing.map(({ id, name }) => ({ id, name, isLive: environment === 'production' })),
      },
      most: APPROVAL_LIMITS_MAX,
    }
  },
})

/** Replaces the approval limits of this environment. */
const setApprovalLimits = defineOperation({
  summary: 'Change up to which amounts people and API keys may approve',
  access: changeApprovalLimits.permission,
  input: Strict({
    limits: Type.Array(
      Strict({
        holder: Strict({ type: OneOf(LIMIT_HOLDERS), id: Name }),
        product: Nullable(Name),
        currency: Currency,
        alone: Amount('The most that the holder approves alone.'),
        second: Nullable(Amount('The most that the holder signs second; null for any amount.')),
      }),
      { maxItems: APPROVAL_LIMITS_MAX },
    ),
    reason: Text(2_000, 'Why; recorded in the audit log.'),
  }),
  audit: ['approval_limits.changed'],
  async handle({ installation, act, input: { limits } }) {
    return { limits: await changeApprovalLimits(installation, act, limits) }
  },
})

/** The operations `approval-limits.<verb>`. */
export const approvalLimits = {
  show: showApprovalLimits,
  set: setApprovalLimits,
}
