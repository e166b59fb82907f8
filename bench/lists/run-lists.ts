import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOrganization } from '../../server/src/admin/manage-organizations.ts'
import { readConfig } from '../../server/src/config.ts'
import { decisions as decisionOperations } from '../../server/src/console/operations/decisions.ts'
import { openInstallation } from '../../server/src/installation/installation.ts'
import type { Database } from '../../server/src/store/database/database.ts'
import type { Effort, Measured } from '../bench.ts'
import { newDatabase } from '../load/bench-database.ts'
import { fillList } from './fill-list.ts'

/** What an analyst filters by: common values, rare ones, old ones, pairs that hardly occur together, and the middle of a list. */
const FILTERS: readonly object[] = [
  {},
  { verdict: 'decline' },
  { tier: 'E' },
  { policy_version: 'policy-0' },
  { verdict: 'approve', tier: 'E' },
  { verdict: 'decline', tier: 'A', policy_version: 'policy-9' },
  { product: 'product-1' },
  { product: 'rare' },
  { product: 'product-1', verdict: 'decline', tier: 'A' },
  { entity_id: 'ent_00000000000000000000000017' },
  { review: 'waiting' },
  { review: 'reviewed' },
  { review: 'reviewed', tier: 'E' },
  { outcome: 'repaid' },
  { outcome: 'fraud_confirmed' },
  { outcome: 'repaid', verdict: 'decline' },
  { verdict: 'approve', cursor: 'dec_00000000000000000000500000' },
]
const LIMIT_MS = 300

/** Measures the first rows of the console's list of decisions by every filter, on PostgreSQL with a million decisions. */
export async function runLists(effort: Effort): Promise<Measured> {
  const decisions = effort.isQuick ? 100_000 : 1_000_000
  const passes = effort.isQuick ? 3 : effort.passes
  const database = await newDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-lists-'))
  const installation = await openInstallation(readConfig({ DATA_DIR: dataDir, DATABASE_URL: database.url }), {
    longStatements: true,
  })
  try {
    await installation.storage.migrate()
    const act = { by: { type: 'system', id: 'bench' }, channel: 'service' } as const
    const organization = await createOrganization(installation, act, 'Bench')
    effort.say(`  filling ${decisions} decisions`)
    const sandbox: Database = installation.storage.environments.sandbox
    await fillList(sandbox, organization.id, decisions)
    const store = installation.stores.sandbox
    const read = (input: object) =>
      decisionOperations.list.handle({ input, store, organizationId: organization.id } as Parameters<
        typeof decisionOperations.list.handle
      >[0])
    const slowest: number[] = []
    const byFilter = new Map<string, number>()
    for (let pass = 0; pass < passes; pass++) {
      let worst = 0
      for (const filter of FILTERS) {
        const started = performance.now()
        await read(filter)
        const took = performance.now() - started
        worst = Math.max(worst, took)
        const name = JSON.stringify(filter)
        byFilter.set(name, Math.max(took, byFilter.get(name) ?? 0))
      }
      slowest.push(worst)
      effort.say(`  pass ${pass + 1} of ${passes}: the slowest list took ${worst.toFixed(1)} ms`)
    }
    const time = (values: number[]) => ({ unit: 'ms', better: 'lower' as const, values })
    return {
      series: { 'slowest list': time(slowest), '300 ms': time(slowest.map(() => LIMIT_MS)) },
      notes: [
        `${decisions} decisions of one organization; ${FILTERS.length} filters, the first 50 rows of each; the first pass reads from disk`,
        [...byFilter].map(([filter, ms]) => `${filter} ${ms.toFixed(1)} ms`).join('; '),
      ],
    }
  } finally {
    await installation.close()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
