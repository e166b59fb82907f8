import type { Movement } from './personas.ts'
import type { PlannedEntity } from './plan-entities.ts'
import { randomOf } from './random.ts'

/** One transaction as `POST /v1/entities/{entity_id}/transactions` takes it. */
export interface PlannedTransaction {
  external_id: string
  occurred_at: string
  amount: number
  currency: string
  direction: 'credit' | 'debit'
  balance_after: number
  category: string
  description: string
}

/** The statement of an entity's account, in the order of its days: `months` before `from`, and on until `to`. */
export function planTransactions(
  entity: PlannedEntity,
  { seed, from, to }: { seed: number; from: number; to: number },
): PlannedTransaction[] {
  const { account } = entity.persona
  if (!account) return []
  const random = randomOf('account', seed, entity.index)
  const factor = entity.scale * entity.country.perEuro
  let balance = random.amount(account.opening[0] * factor, account.opening[1] * factor)
  const movements = [...account.movements].sort((a, b) => a.day - b.day)
  const statement: PlannedTransaction[] = []
  for (const month of monthsOf(from, to, account.months)) {
    for (const [number, movement] of movements.entries()) {
      // Every movement takes its numbers, so that a later end of the statement does not change its beginning.
      const [isMade, amount, hour] = [
        random.chance(movement.chance ?? 1),
        random.amount(movement.amount[0] * factor, movement.amount[1] * factor),
        random.whole(5, 17),
      ]
      const at = month + (movement.day - 1) * 86_400_000 + hour * 3_600_000
      if (!isMade || at > to) continue
      balance = Math.round((balance + amount) * 100) / 100
      statement.push(describe(movement, { entity, at, amount, balance, number }))
    }
  }
  return statement
}

function describe(
  { category, description }: Movement,
  {
    entity,
    at,
    amount,
    balance,
    number,
  }: { entity: PlannedEntity; at: number; amount: number; balance: number; number: number },
): PlannedTransaction {
  const occurredAt = new Date(at).toISOString()
  return {
    external_id: `${occurredAt.slice(0, 7)}-${number}`,
    occurred_at: occurredAt,
    amount: Math.max(0.01, Math.abs(amount)),
    currency: entity.country.currency,
    direction: amount > 0 ? 'credit' : 'debit',
    balance_after: balance,
    category,
    description,
  }
}

/** The first moments of the months from `months` before `from` up to `to`. */
function monthsOf(from: number, to: number, months: number): number[] {
  const start = new Date(from)
  const first = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() - months + 1)
  const found: number[] = []
  for (let month = first; month <= to; ) {
    found.push(month)
    const date = new Date(month)
    month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  }
  return found
}
