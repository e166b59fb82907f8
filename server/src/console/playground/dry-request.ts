import { invalid } from '../../admin/problem.ts'
import type { FactValue } from '../../core/facts/facts.ts'
import { NOT_BLANK } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'

const id = Type.String({ minLength: 1, maxLength: 64 })

/** What is asked for: the fields of `POST /v1/underwrite` besides the entity. */
export const ASKED = {
  product: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK })),
  requested_amount: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1e12 })),
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  term_months: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
}

const POLICIES_COMPARED_MAX = 2

/** The fields of a dry run: whose facts it decides from, what is asked for, what a what-if changes, and the policies. */
export const DRY_REQUEST = {
  entity_id: Type.Optional(id),
  decision_id: Type.Optional(id),
  persona: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  ...ASKED,
  changes: Type.Optional(
    Type.Unsafe<Record<string, FactValue>>({
      type: 'object',
      maxProperties: 100,
      propertyNames: { maxLength: 200 },
      additionalProperties: { type: ['number', 'boolean', 'string'], maxLength: 500 },
    }),
  ),
  policy_versions: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: POLICIES_COMPARED_MAX }),
  ),
}

/** A request of a dry run. */
export interface DryRequest {
  entity_id?: string
  decision_id?: string
  persona?: string
  product?: string
  requested_amount?: number
  currency?: string
  term_months?: number
  changes?: Record<string, FactValue>
  policy_versions?: string[]
}

/** Refuses a request that cannot be decided, whatever is stored. */
export function requireDecidable(request: DryRequest): void {
  const { entity_id, decision_id, persona, product } = request
  requireAmountWithCurrency(request)
  if (decision_id !== undefined || persona !== undefined || (entity_id !== undefined && product !== undefined)) return
  throw invalid('applicant_missing', 'Name an entity and a product, or a decision to start from.')
}

/** Refuses an amount without a currency, and a currency without an amount. */
export function requireAmountWithCurrency({
  requested_amount,
  currency,
}: Pick<DryRequest, 'requested_amount' | 'currency'>): void {
  if ((requested_amount === undefined) !== (currency === undefined))
    throw invalid('amount_incomplete', 'An amount needs a currency, and a currency an amount.')
}
