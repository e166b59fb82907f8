import type { Logger } from 'pino'
import { erasureParts } from '../admin/known-erasures.ts'
import { applyErasures, type ErasureParts, rememberErasures } from '../audit/apply-erasures.ts'
import { ForeignErasure, MissingErasures } from '../audit/known-erasures.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import { logErrors } from './log.ts'

const ACTOR = { type: 'system', id: 'restore' } as const
/** Commits may become visible in another order than that of their times, and the clocks of nodes differ. */
const OVERLAP_MS = 600_000

/** Why a node must not serve: the database may have brought back what was erased, and the node cannot tell what that was. */
export type ErasureProblem = 'erasures_missing' | 'erasures_foreign'

/**
 * Keeps the database of one environment and the erasures that this node knows outside of it in agreement.
 *
 *     agreeing → refused   a database on a new timeline may be older than an erasure that the node does not know; each look tries again
 *     refused → agreeing   an operator has put the file back, or waived the erasures
 */
export class WatchedErasures {
  readonly #partsNow: () => ErasureParts
  readonly #logger: Logger
  readonly #onError: (error: unknown) => void
  #timeline: string | undefined
  #since: string | undefined
  #looking: Promise<void> | undefined
  #problem: ErasureProblem | undefined

  constructor(installation: Installation, { environment, logger }: { environment: Environment; logger: Logger }) {
    this.#partsNow = () => erasureParts(installation, environment, ACTOR)
    this.#logger = logger.child({ environment })
    this.#onError = logErrors(logger, 'comparing the database with known erasures failed', { environment })
  }

  /** Before this node serves; throws if it must not. */
  async apply(): Promise<void> {
    const parts = this.#partsNow()
    const again = await applyErasures(parts)
    for (const { organization_id, entity_id } of again)
      this.#logger.warn(
        { organization_id, entity_id, alarm: 'erased_again' },
        'an entity that was erased had come back with an older backup and was erased again',
      )
    this.#since = new Date(Date.parse(parts.context.now) - OVERLAP_MS).toISOString()
    this.#problem = undefined
  }

  /** Why this node should get no requests, as the last look found. */
  get problem(): ErasureProblem | undefined {
    return this.#problem
  }

  /** Called with each look at the database: takes what other nodes erased, and compares again on a new timeline. */
  lookOn(timeline: string): Promise<void> {
    this.#looking ??= this.#look(timeline)
      .catch(this.#onError)
      .finally(() => {
        this.#looking = undefined
      })
    return this.#looking
  }

  async #look(timeline: string): Promise<void> {
    if (timeline !== this.#timeline) {
      await this.apply().catch((error: unknown) => {
        if (error instanceof MissingErasures) this.#problem = 'erasures_missing'
        if (error instanceof ForeignErasure) this.#problem = 'erasures_foreign'
        throw error
      })
      this.#timeline = timeline
      return
    }
    const parts = this.#partsNow()
    await rememberErasures(parts, this.#since)
    this.#since = new Date(Date.parse(parts.context.now) - OVERLAP_MS).toISOString()
  }
}

/** Watches the erasures of both environments. */
export function watchErasures(installation: Installation, logger: Logger): Record<Environment, WatchedErasures> {
  const watch = (environment: Environment) => new WatchedErasures(installation, { environment, logger })
  return { sandbox: watch('sandbox'), production: watch('production') }
}

/** Throws if this node must not serve: the databases may have what was erased, and it does not know what that was. */
export async function applyAllErasures(erasures: Record<Environment, WatchedErasures>): Promise<void> {
  for (const environment of ENVIRONMENTS) await erasures[environment].apply()
}
