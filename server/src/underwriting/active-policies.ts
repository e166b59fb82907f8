import { LRUCache } from 'lru-cache'
import { describeProblem } from '../core/policy/check/policy-problem.ts'
import type { CompiledPolicy } from '../core/policy/compile/compiled-policy.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { compileOnce } from './compiled-policies.ts'

/** How long a node uses the active policy it read: an activation takes effect on every node within a second. */
const TTL_MS = 500
const ORGANIZATIONS_CACHED_MAX = 10_000

/** The stored active policy is not the one that the audit log says was activated. Its message may be shown to callers. */
export class PolicyNotApproved extends Error {
  override name = 'PolicyNotApproved'
}

/** The active policies of an environment, compiled. A policy decides only if the audit log confirms its checksum. */
export class ActivePolicies {
  readonly #store: { policies: Pick<EnvironmentStore['policies'], 'active'> }
  readonly #nowMs: () => number
  readonly #cache = new LRUCache<string, { policy: Promise<CompiledPolicy | undefined>; untilMs: number }>({
    max: ORGANIZATIONS_CACHED_MAX,
  })

  constructor({
    store,
    nowMs,
  }: { store: { policies: Pick<EnvironmentStore['policies'], 'active'> }; nowMs: () => number }) {
    this.#store = store
    this.#nowMs = nowMs
  }

  /** The active policy of an organization; undefined if it has none. */
  of(organizationId: string): Promise<CompiledPolicy | undefined> {
    const now = this.#nowMs()
    const cached = this.#cache.get(organizationId)
    if (cached && now < cached.untilMs) return cached.policy
    const policy = this.#readActive(organizationId)
    this.#cache.set(organizationId, { policy, untilMs: now + TTL_MS })
    policy.catch(() => this.#cache.delete(organizationId))
    return policy
  }

  async #readActive(organizationId: string): Promise<CompiledPolicy | undefined> {
    const row = await this.#store.policies.active(organizationId)
    if (!row) return undefined
    const { checksum, document, version, activated_checksum } = row
    const result = compileOnce({ checksum, document })
    if ('altered' in result) throw notApproved(version, `the stored policy ${checksum} was altered`)
    if (activated_checksum !== checksum)
      throw notApproved(version, `the audit log does not confirm the activation of the stored policy ${checksum}`)
    if ('problems' in result)
      throw new Error(
        `this version cannot run the stored policy ${checksum}: ${result.problems.map(describeProblem).join('; ')}`,
      )
    return result.policy
  }
}

function notApproved(version: string, cause: string): PolicyNotApproved {
  return new PolicyNotApproved(
    `The active policy ${version} is not the one that was approved: its rows in the database were altered. Nothing was decided. An operator has to run \`npm run cli -- audit verify\` and activate an approved policy.`,
    { cause: new Error(cause) },
  )
}
