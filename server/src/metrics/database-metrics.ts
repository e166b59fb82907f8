import { Gauge, type Registry } from 'prom-client'
import type { CommitDurability } from '../store/database/health.ts'
import type { Storage } from '../store/storage.ts'

/** Registers the gauge of synchronous commits, and returns the function that sets it. The embedded database has no standby, so no value. */
export function registerDurability(
  registry: Registry,
  { embedded }: Pick<Storage, 'embedded'>,
): (database: string, durability: CommitDurability) => void {
  const gauge = new Gauge({
    name: 'verdigraph_database_commits_synchronous',
    help: 'Whether commits of a database wait for a synchronous standby: 1 if so, 0 if a failover may lose the last ones.',
    labelNames: ['database'],
    registers: [registry],
  })
  return (database, { isSynchronous }) => {
    if (!embedded) gauge.set({ database }, isSynchronous ? 1 : 0)
  }
}
