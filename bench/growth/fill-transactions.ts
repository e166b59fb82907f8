import { applyTransactions, type EntityState } from '../../server/src/core/facts/entity-state.ts'
import type { PersonaTransaction } from '../../server/tests/personas.ts'
import type { Sql } from '../load/sandbox-sql.ts'

/** A thousand transactions: those of a persona repeated, each under a new id. */
export function thousandTransactions(of: readonly PersonaTransaction[]): PersonaTransaction[] {
  return Array.from({ length: 1_000 }, (_, index) => {
    const transaction = of[index % of.length]!
    return { ...transaction, external_id: `${transaction.external_id}-${index}` }
  })
}

/**
 * Copies an entity's thousand transactions until it has `count`, and updates its state as ingesting them batch by batch
 * would have.
 */
export async function fillTransactions(
  sql: Sql,
  { entityId, thousand, count }: { entityId: string; thousand: readonly PersonaTransaction[]; count: number },
): Promise<void> {
  const copies = count / thousand.length - 1
  if (copies === 0) return
  await sql(
    `INSERT INTO transactions (org_id, entity_id, external_id, batch_id, occurred_at, amount, currency, direction, balance_after,
       category, description, counterparty_name, counterparty_entity_id)
     SELECT org_id, entity_id, external_id || '~' || copy, batch_id, occurred_at, amount, currency, direction, balance_after,
       category, description, counterparty_name, counterparty_entity_id
     FROM generate_series(1, $2::bigint) AS copy, transactions WHERE entity_id = $1`,
    [entityId, copies],
  )
  const [row] = await sql<{ state: string }>('SELECT state FROM entities WHERE id = $1', [entityId])
  let state = JSON.parse(row!.state) as EntityState
  for (let copy = 1; copy <= copies; copy++) state = applyTransactions(state, factsOfCopy(thousand, copy))
  await sql('UPDATE entities SET state = $2, version = version + $3::bigint WHERE id = $1', [
    entityId,
    JSON.stringify(state),
    copies,
  ])
}

function factsOfCopy(thousand: readonly PersonaTransaction[], copy: number) {
  return thousand.map(({ external_id, occurred_at, amount, currency, direction, balance_after, category }) => ({
    externalId: `${external_id}~${copy}`,
    occurredAt: occurred_at,
    amount,
    currency,
    direction,
    balanceAfter: balance_after,
    ...(category !== undefined && { category }),
  }))
}
