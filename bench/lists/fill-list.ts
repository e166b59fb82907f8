import type { Database } from '../../server/src/store/database/database.ts'

const KIND = {
  verdict: `CASE n % 20 WHEN 0 THEN 'manual_review' WHEN 1 THEN 'decline' WHEN 2 THEN 'decline' WHEN 3 THEN 'approve_with_conditions' ELSE 'approve' END`,
  // The tier of a decline is low, except of one in a thousand, so that some pairs hardly occur.
  tier: `CASE WHEN n % 20 IN (1, 2) AND n % 1000 <> 1 THEN 'E' ELSE (ARRAY['A', 'B', 'C', 'D'])[1 + n % 4] END`,
}

/**
 * Fills an organization with decisions, reviews and outcomes as lists read them. Policies decided one after the other, and
 * one product occurs among the oldest decisions only. No decision has documents, because lists read none.
 */
export async function fillList(database: Database, organizationId: string, count: number): Promise<void> {
  const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`
  const at = `timestamptz '2026-11-15 09:00:00Z' - (${count} - n) * interval '1 second'`
  const each = (step: number) => `generate_series(1, ${count}, ${step}) AS n`
  const own = `'${organizationId}'`
  await database.query(`INSERT INTO decisions (org_id, id, entity_id, entity_version, product, verdict, risk_tier, policy_version,
      requested_amount, currency, recommended_limit, score, score_cutoff, reason_codes, created_at, flush)
    SELECT ${own}, ${id('dec')}, 'ent_' || lpad((n % 5000)::text, 26, '0'), 1, CASE WHEN n < 50 THEN 'rare' ELSE 'product-' || n % 4 END,
      ${KIND.verdict}, ${KIND.tier}, 'policy-' || (n - 1) * 10 / ${count},
      1000 + n % 9000, 'EUR', 1000, 500 + n % 200, 550, 'income_stable history_short', ${at}, n FROM ${each(1)}`)
  await database.query(`INSERT INTO reviews (org_id, id, decision_id, entity_id, verdict, overrides, reviewer_id, body, created_at)
    SELECT ${own}, ${id('rev')}, ${id('dec')}, 'ent_0', 'approve', false, 'r', '{}', ${at} FROM ${each(40)}`)
  await database.query(`INSERT INTO outcomes (org_id, id, decision_id, entity_id, type, occurred_at, body, created_at)
    SELECT ${own}, ${id('out')}, ${id('dec')}, 'ent_0', CASE WHEN n < 2000 THEN 'fraud_confirmed' ELSE 'repaid' END, ${at}, '{}', ${at} FROM ${each(3)}`)
  for (const table of ['decisions', 'reviews', 'outcomes', 'waiting_reviews'])
    await database.query(`VACUUM ANALYZE ${table}`)
}
