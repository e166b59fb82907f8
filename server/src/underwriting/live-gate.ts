import type { Database } from '../store/database/database.ts'
import { isGateOpen } from '../store/queries/live-gate.ts'

/** How long a node believes what it read; a stop is felt on every node within a second. */
const FRESH_MS = 500

/** Whether organizations may decide in production: two operators have to say so, and one can stop it. */
export class LiveGate {
  readonly #control: Database
  readonly #nowMs: () => number
  readonly #known = new Map<string, { isOpen: Promise<boolean>; untilMs: number }>()

  constructor({ control, nowMs }: { control: Database; nowMs: () => number }) {
    this.#control = control
    this.#nowMs = nowMs
  }

  isOpen(organizationId: string): Promise<boolean> {
    const now = this.#nowMs()
    const known = this.#known.get(organizationId)
    if (known && now < known.untilMs) return known.isOpen
    const isOpen = isGateOpen(this.#control, organizationId)
    this.#known.set(organizationId, { isOpen, untilMs: now + FRESH_MS })
    isOpen.catch(() => this.#known.delete(organizationId))
    return isOpen
  }
}
