import type { CompiledPolicy } from '../core/policy/compiled-policy.ts'
import { describeProblem } from '../core/policy/policy-problem.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { compileOnce } from './compiled-policies.ts'

/** How long a node goes on with the policy it knows to be active; a switch is felt on every node within a second. */
const ACTIVE_FRESH_MS = 500

/** The policies of an environment, ready to decide. */
export class ActivePolicies {
  readonly #store: Pick<EnvironmentStore, 'activePolicy'>
  readonly #nowMs: () => number
  readonly #active = new Map<string, { policy: Promise<CompiledPolicy | undefined>; untilMs: number }>()

  constructor({ store, nowMs }: { store: Pick<EnvironmentStore, 'activePolicy'>; nowMs: () => number }) {
    this.#store = store
    this.#nowMs = nowMs
  }

  /** The active policy of an organization; undefined if it has none. */
  of(organizationId: string): Promise<CompiledPolicy | undefined> {
    const now = this.#nowMs()
    const known = this.#active.get(organizationId)
    if (known && now < known.untilMs) return known.policy
    const policy = this.#readActive(organizationId)
    this.#active.set(organizationId, { policy, untilMs: now + ACTIVE_FRESH_MS })
    policy.catch(() => this.#active.delete(organizationId))
    return policy
  }

  async #readActive(organizationId: string): Promise<CompiledPolicy | undefined> {
    const row = await this.#store.activePolicy(organizationId)
    if (!row) return undefined
    const { checksum, document } = row
    const result = compileOnce({ checksum, document })
    if ('altered' in result) throw new Error(`the stored policy ${checksum} was altered`)
    if ('problems' in result)
      throw new Error(
        `this version cannot run the stored policy ${checksum}: ${result.problems.map(describeProblem).join('; ')}`,
      )
    return result.policy
  }
}
