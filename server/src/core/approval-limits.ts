import type { OperatorRole } from './vocabularies.ts'

/** Whom an approval limit binds: all who hold a role, one operator, or one API key. */
export interface LimitHolder {
  type: (typeof LIMIT_HOLDERS)[number]
  /** The name of the role, or the id of the operator or the API key. */
  id: string
}

/** What an approval limit can be set for. */
export const LIMIT_HOLDERS = ['role', 'operator', 'api_key'] as const

/** Up to which amount of a product and a currency its holder may approve. */
export interface ApprovalLimit {
  holder: LimitHolder
  /** Null for every product that has no row of its own. */
  product: string | null
  currency: string
  /** The most that the holder approves alone. */
  alone: number
  /** The most that the holder signs as the second person; null for any amount. */
  second: number | null
}

/** Who approves. Of an API key, `isLive` says that it is one of production. */
export type Approver =
  | { type: 'operator'; id: string; roles: readonly OperatorRole[] }
  | { type: 'api_key'; id: string; isLive: boolean }

/** An amount that is approved. */
export interface Approval {
  product: string
  currency: string
  amount: number
}

/** An amount, or the sum of several under one limit, that is above what an approver may approve. */
export interface BeyondLimit {
  currency: string
  amount: number
  limit: number
}

/** The part that an approver has in an approval. */
export type Signature = 'alone' | 'second'

/** What an organization can set at most, and how many rows. */
export const APPROVAL_LIMITS_MAX = 200

/**
 * What is above the limits of an approver: nothing if they may approve all of it. Amounts under one row are added up, so that a
 * sum cannot be approved in parts. The one place that answers this, for the console, the API and the command line.
 */
export function beyondLimits(
  limits: readonly ApprovalLimit[],
  approver: Approver,
  approvals: readonly Approval[],
  as: Signature = 'alone',
): BeyondLimit[] {
  const found = approvals.map((approval) => ({ ...approval, ...bindingLimit(limits, approver, approval, as) }))
  return [...Map.groupBy(found, ({ under, currency }) => `${under} ${currency}`).values()].flatMap((together) => {
    const [{ currency, limit }] = together as [(typeof found)[number]]
    const amount = exactly(together.reduce((sum, each) => sum + each.amount, 0))
    return limit !== null && amount > limit ? [{ currency, amount, limit }] : []
  })
}

/** The most that an approver may approve of a product and a currency; null for any amount. */
export function limitOf(
  limits: readonly ApprovalLimit[],
  approver: Approver,
  asked: Omit<Approval, 'amount'>,
  as: Signature = 'alone',
): number | null {
  return bindingLimit(limits, approver, asked, as).limit
}

/** A limit, and a name of the rows that it is from. */
interface Binding {
  limit: number | null
  under: string
}

const UNLIMITED: Binding = { limit: null, under: 'none' }

function bindingLimit(
  limits: readonly ApprovalLimit[],
  approver: Approver,
  asked: Omit<Approval, 'amount'>,
  as: Signature,
): Binding {
  const own = limitOfHolder(limits, approver, asked, as)
  if (own) return own
  // A key of production approves nothing until an owner says how much.
  if (approver.type === 'api_key') return approver.isLive ? { limit: 0, under: 'no row' } : UNLIMITED
  const ofRoles = approver.roles.map(
    (role) => limitOfHolder(limits, { type: 'role', id: role }, asked, as) ?? UNLIMITED,
  )
  // Several roles add up to what the widest of them allows.
  return ofRoles.reduce((widest, next) => (isWider(next, widest) ? next : widest), ofRoles[0] ?? UNLIMITED)
}

function isWider(one: Binding, other: Binding): boolean {
  return other.limit !== null && (one.limit === null || one.limit > other.limit)
}

/**
 * The row that binds one holder: of the product and currency, otherwise of the currency for every product. A holder with rows in
 * other currencies alone may approve nothing in this one, which otherwise would be the way around the limit.
 */
function limitOfHolder(
  limits: readonly ApprovalLimit[],
  { type, id }: LimitHolder,
  { product, currency }: Omit<Approval, 'amount'>,
  as: Signature,
): Binding | undefined {
  const rows = limits.filter(
    (row) => row.holder.type === type && row.holder.id === id && (row.product === product || row.product === null),
  )
  const inCurrency = rows.filter((row) => row.currency === currency)
  const row = inCurrency.find((each) => each.product !== null) ?? inCurrency[0]
  if (row) return { limit: row[as], under: `${type} ${id} ${row.product ?? ''}` }
  return rows.length > 0 ? { limit: 0, under: `${type} ${id} in no currency` } : undefined
}

/** Rounds to the ten-thousandths that amounts are exact to, so that a sum of binary floats is not above a limit by noise. */
function exactly(amount: number): number {
  return Math.round(amount * 10_000) / 10_000
}
