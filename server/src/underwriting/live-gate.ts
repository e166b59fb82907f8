import { LRUCache } from 'lru-cache'
import { isGateOpen } from '../store/control/live-gate.ts'
import type { ControlDatabase } from '../store/power/control-database.ts'

/** How long a node uses what it read: closing the gate takes effect on every node within a second. */
const TTL_MS = 500
const ORGANIZATIONS_CACHED_MAX = 10_000

/** Whether organizations may decide in production. Two operators open the gate of an organization; one closes it. */
export class LiveGate {
  readonly #control: ControlDatabase
  readonly #nowMs: () => number
  readonly #cache = new LRUCache<string, { isOpen: Promise<boolean>; untilMs: number }>({
    max: ORGANIZATIONS_CACHED_MAX,
  })

  constructor({ control, nowMs }: { control: ControlDatabase; nowMs: () => number }) {
    this.#control = control
    this.#nowMs = nowMs
  }

  isOpen(organizationId: string): Promise<boolean> {
    const now = this.#nowMs()
    const cached = this.#cache.get(organizationId)
    if (cached && now < cached.untilMs) return cached.isOpen
    const isOpen = isGateOpen(this.#control, organizationId)
    this.#cache.set(organizationId, { isOpen, untilMs: now + TTL_MS })
    isOpen.catch(() => this.#cache.delete(organizationId))
    return isOpen
  }
}
