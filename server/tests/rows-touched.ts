/** How many rows of each table a statement looks at, by the plan that PostgreSQL runs. */
import type { Database, Queryable } from '../src/store/database/database.ts'

/** What one scan of a plan looked at, or would. */
export interface Scan {
  table: string
  rows: number
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Plan Rows': number
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/**
 * Runs a statement under EXPLAIN and returns its scans of tables. A statement that writes is planned and not run, unless
 * `undoes` says to run it and to take back what it wrote.
 */
export async function rowsTouched(
  database: Database,
  sql: string,
  params: readonly unknown[],
  { undoes = false } = {},
): Promise<Scan[]> {
  const isRun = undoes || !/\b(INSERT|UPDATE|DELETE)\b/.test(sql)
  const options = isRun ? 'ANALYZE, FORMAT JSON' : 'FORMAT JSON'
  const explain = (on: Queryable) => on.query(`EXPLAIN (${options}) ${sql}`, params)
  const [row] = undoes ? await undone(database, explain) : await explain(database)
  const [explained] = Object.values(row!)
  const [{ Plan }] = (typeof explained === 'string' ? JSON.parse(explained) : explained) as [{ Plan: PlanNode }]
  const scans = nodesOf(Plan).filter((node) => node['Relation Name'] && node['Node Type'].includes('Scan'))
  return Promise.all(
    scans.map(async (node) => ({
      table: node['Relation Name']!,
      rows: isRun ? rowsOf(node) : await plannedRows(database, node),
    })),
  )
}

/** What `work` returns, in a transaction that is taken back. */
async function undone<T>(database: Database, work: (transaction: Queryable) => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>()
  const rollback = new Error('rolled back')
  await database
    .transaction(async (transaction) => {
      resolve(await work(transaction))
      throw rollback
    })
    .catch((error) => {
      if (error !== rollback) throw error
    })
  return promise
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

/** A sequential scan that was not run is taken to read the whole table: the plan only says how many rows it keeps. */
async function plannedRows(database: Database, node: PlanNode): Promise<number> {
  if (node['Node Type'] !== 'Seq Scan') return node['Plan Rows']
  const [row] = await database.query<{ rows: number }>(
    'SELECT reltuples::bigint AS rows FROM pg_class WHERE oid = to_regclass($1)',
    [`${database.schema}.${node['Relation Name']}`],
  )
  return Number(row!.rows)
}

function rowsOf(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return Math.round(((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 0))
}
