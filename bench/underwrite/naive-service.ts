/**
 * The service that a developer would write in an afternoon, in its own process: Fastify, json-rules-engine, and one
 * transaction per request that reads the entity and its transactions and writes the key, the decision, its evidence, an
 * audit entry and an event. It derives facts with our code, and handles retries only by refusing a repeated key. With
 * FACTS_FROM=sums it reads our running sums instead of the transactions.
 *
 *     DATABASE_URL=… PORT=… API_KEY=… [FACTS_FROM=sums] node bench/underwrite/naive-service.ts
 */
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import * as jsonRules from 'json-rules-engine'
import pg from 'pg'
import { deriveFacts } from '../../server/src/core/facts/derive-facts.ts'
import {
  applyTransactions,
  type EntityState,
  emptyState,
  type TransactionFact,
} from '../../server/src/core/facts/entity-state.ts'
import { sandboxPolicy } from '../../server/tests/sandbox-policy.ts'
import { peerInputs } from '../decide/decision-case.ts'
import { jsonRulesEngine } from '../decide/json-rules.ts'

const { DATABASE_URL, PORT, API_KEY, FACTS_FROM } = process.env
const CONNECTIONS = 20

const TABLES = `
  CREATE SCHEMA IF NOT EXISTS naive;
  CREATE TABLE IF NOT EXISTS naive.keys (key text PRIMARY KEY, body text NOT NULL, created_at timestamptz NOT NULL);
  CREATE TABLE IF NOT EXISTS naive.decisions (id uuid PRIMARY KEY, entity_id text NOT NULL, verdict text NOT NULL, body jsonb NOT NULL, created_at timestamptz NOT NULL);
  CREATE TABLE IF NOT EXISTS naive.evidence (decision_id uuid PRIMARY KEY, facts jsonb NOT NULL, hits jsonb NOT NULL);
  CREATE TABLE IF NOT EXISTS naive.audit (id uuid PRIMARY KEY, decision_id uuid NOT NULL, data jsonb NOT NULL);
  CREATE TABLE IF NOT EXISTS naive.events (id uuid PRIMARY KEY, type text NOT NULL, data jsonb NOT NULL)`

interface UnderwriteBody {
  entity_id: string
  product: string
  requested_amount: number
  currency: string
}

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: CONNECTIONS })
await pool.query(TABLES)
const policy = sandboxPolicy()
const engine = jsonRulesEngine(jsonRules, policy.document)
const app = Fastify()

app.post<{ Body: UnderwriteBody }>('/v1/underwrite', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${API_KEY}`) return reply.code(401).send({ error: 'unauthorized' })
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const decision = await decideAndWrite(client, request.body, String(request.headers['idempotency-key']))
    await client.query('COMMIT')
    return reply.code(201).send(decision)
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
})

async function decideAndWrite(client: pg.PoolClient, body: UnderwriteBody, key: string) {
  const now = new Date().toISOString()
  const found = await client.query(
    'SELECT org_id, type, country, state FROM verdigraph_sandbox.entities WHERE id = $1',
    [body.entity_id],
  )
  const entity = found.rows[0] as { org_id: string; type: string; country: string; state: string }
  const sums = JSON.parse(entity.state) as EntityState
  const facts = deriveFacts({
    state: FACTS_FROM === 'sums' ? sums : await addUp(client, { org_id: entity.org_id, id: body.entity_id, sums }),
    entity,
    request: { product: body.product, requestedAmount: body.requested_amount, currency: body.currency },
    now,
  })
  const { hits, total } = await engine({ name: '', facts, ...peerInputs(policy, facts) })
  const verdict = hits.length > 0 ? 'manual_review' : total >= policy.document.verdicts.cutoff ? 'approve' : 'decline'
  const id = randomUUID()
  const decision = { id, verdict, score: total, reasons: hits, created_at: now }
  await client.query('INSERT INTO naive.decisions VALUES ($1, $2, $3, $4, $5)', [
    id,
    body.entity_id,
    verdict,
    JSON.stringify(decision),
    now,
  ])
  await client.query('INSERT INTO naive.evidence VALUES ($1, $2, $3)', [
    id,
    JSON.stringify(facts),
    JSON.stringify(hits),
  ])
  await client.query('INSERT INTO naive.audit VALUES ($1, $2, $3)', [randomUUID(), id, JSON.stringify({ verdict })])
  await client.query('INSERT INTO naive.events VALUES ($1, $2, $3)', [
    randomUUID(),
    'decision.created',
    JSON.stringify(decision),
  ])
  await client.query('INSERT INTO naive.keys VALUES ($1, $2, $3)', [key, JSON.stringify(decision), now])
  return decision
}

/** Reads the entity's transactions and adds them up. Everything else about the entity still comes from our state. */
async function addUp(
  client: pg.PoolClient,
  { org_id, id, sums }: { org_id: string; id: string; sums: EntityState },
): Promise<EntityState> {
  const { rows } = await client.query<Record<string, string | null> & { occurred_at: Date }>(
    `SELECT external_id, occurred_at, amount, currency, direction, balance_after, category
     FROM verdigraph_sandbox.transactions WHERE org_id = $1 AND entity_id = $2`,
    [org_id, id],
  )
  const transactions = rows.map(
    (row): TransactionFact => ({
      externalId: row.external_id!,
      occurredAt: row.occurred_at.toISOString(),
      amount: Number(row.amount),
      currency: row.currency!,
      direction: row.direction as TransactionFact['direction'],
      ...(row.balance_after !== null && { balanceAfter: Number(row.balance_after) }),
      ...(row.category !== null && { category: row.category! }),
    }),
  )
  return applyTransactions({ ...sums, cashflow: emptyState().cashflow }, transactions)
}

await app.listen({ port: Number(PORT), host: '127.0.0.1' })
process.stdout.write('ready\n')
