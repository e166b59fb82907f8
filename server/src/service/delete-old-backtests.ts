import { lowestIdAt, type NewId } from '../ids/new-id.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { commitUnlessForestalled } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'

const BACKTESTS_PER_BATCH = 100
const ACTOR = { type: 'system', id: 'upkeep' } as const

/** What deleting old backtests works with. */
export interface OldBacktestsParts {
  store: Pick<EnvironmentStore, 'commit'> & { backtests: Pick<EnvironmentStore['backtests'], 'superseded'> }
  newId: NewId
  nowMs: number
}

/**
 * Deletes some backtests that began before a moment and that newer ones replaced, each with an entry on the log; returns
 * whether there are more.
 */
export async function deleteOldBacktests(
  { store, newId, nowMs }: OldBacktestsParts,
  beforeMs: number,
): Promise<boolean> {
  const old = await store.backtests.superseded(lowestIdAt('bkt', beforeMs), BACKTESTS_PER_BATCH)
  const now = new Date(nowMs).toISOString()
  for (const [organizationId, backtests] of Map.groupBy(old, ({ org_id }) => org_id)) {
    const context = { organizationId, actor: ACTOR, now, requestId: null, newId }
    await commitUnlessForestalled(store, {
      organizationId,
      deletedBacktests: backtests.map(({ id }) => ({ id })),
      auditEntries: backtests.map(({ org_id: _, id, ...data }) =>
        auditEntryRow(context, {
          type: 'policy.backtest_deleted',
          trailId: id,
          subject: { type: 'policy_backtest', id },
          data,
        }),
      ),
    })
  }
  return old.length === BACKTESTS_PER_BATCH
}
