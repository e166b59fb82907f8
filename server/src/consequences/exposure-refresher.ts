import { setImmediate } from 'node:timers/promises'
import { withMerged } from '../core/graph/merged-nodes.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { ofOrganization } from '../store/schema/tables.ts'
import { readNodes } from '../underwriting/graph-nodes.ts'
import { refreshExposures } from './refresh-exposures.ts'

/** The exposures that have to be refreshed after a change is committed and before its reply goes out. */
export interface RefreshBeforeReply {
  /** The entity that the change is about. */
  entityId: string
  /** That entity and its nearest neighbours: the entities whose exposure is computed again. */
  near: readonly string[]
  /** The mark of the causes that were committed with the change. */
  mark: string
}

/** As many links as one page of the worker's complete spread marks at once. */
const LINKS_MARKED_MAX = 200

/** Exposures that are computed together, unless one change alone names more. */
const EXPOSURES_PER_BATCH = 64

interface Waiting {
  refresh: RefreshBeforeReply
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Refreshes the exposures nearest to committed changes; the worker refreshes the rest. Changes of one organization that
 * are committed together, or while a refresh runs, share the next one, because it takes as many statements for thirty
 * changes as for one.
 */
export class ExposureRefresher {
  readonly #store: EnvironmentStore
  readonly #nowMs: () => number
  /** The refreshes that wait, for each organization with one that runs. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor({ store, nowMs }: { store: EnvironmentStore; nowMs: () => number }) {
    this.#store = store
    this.#nowMs = nowMs
  }

  /** Resolves once the exposures are written; rejects if they cannot be computed. */
  refresh(organizationId: string, refresh: RefreshBeforeReply): Promise<void> {
    return new Promise((resolve, reject) => {
      const own = { refresh, resolve, reject }
      const queue = this.#waiting.get(organizationId)
      if (queue) {
        queue.push(own)
        return
      }
      this.#waiting.set(organizationId, [own])
      void this.#refreshAll(organizationId)
    })
  }

  async #refreshAll(organizationId: string): Promise<void> {
    const queue = this.#waiting.get(organizationId)!
    // The changes of one commit ask one after another, in the same turn of the event loop.
    await setImmediate()
    while (queue.length > 0) await this.#settle(organizationId, takeBatch(queue))
    this.#waiting.delete(organizationId)
  }

  async #settle(organizationId: string, batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#refreshBatch(organizationId, batch)
      for (const { resolve } of batch) resolve()
    } catch (error) {
      if (batch.length === 1 || error instanceof DatabaseUnavailable) for (const { reject } of batch) reject(error)
      // One that cannot be computed does not fail the others.
      else for (const waiting of batch) await this.#settle(organizationId, [waiting])
    }
  }

  async #refreshBatch(organizationId: string, batch: readonly Waiting[]): Promise<void> {
    // An entity without neighbours has no links to mark; if it gets one meanwhile, the worker marks it.
    const linked = batch.filter(({ refresh }) => refresh.near.length > 1)
    const entityIds = [...new Set(linked.map(({ refresh }) => refresh.entityId))]
    const { merged, adverse } = await readNodes(this.#store, organizationId, entityIds)
    // Only the worker's spread, which marks all links, takes a mark back.
    await Promise.all(
      withMerged(entityIds, merged)
        .filter((entityId) => adverse.has(entityId))
        .map((entityId) =>
          this.#store.graph.markLinksTo(organizationId, entityId, {
            isAdverse: true,
            after: '',
            limit: LINKS_MARKED_MAX,
          }),
        ),
    )
    const causes = batch.flatMap(({ refresh: { near, mark } }) =>
      near.map((id) => ({ kind: 'exposure', entity_id: id, mark })),
    )
    await refreshExposures(this.#store, {
      organizationId,
      entityIds: [...new Set(causes.map(({ entity_id }) => entity_id))],
      now: new Date(this.#nowMs()).toISOString(),
      causes: ofOrganization(organizationId, causes),
    })
  }
}

/** Removes the first refreshes of a queue, at least one. */
function takeBatch(queue: Waiting[]): Waiting[] {
  let end = 0
  for (let exposures = 0; end < queue.length; end++) {
    exposures += queue[end]!.refresh.near.length
    if (end > 0 && exposures > EXPOSURES_PER_BATCH) break
  }
  return queue.splice(0, end)
}
