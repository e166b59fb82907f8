import { LRUCache } from 'lru-cache'
import { sha256 } from '../core/canonical-json.ts'
import { compileStoredPolicy } from '../core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../core/policy/compile/compiled-policy.ts'

/** Compiles stored policies and keeps the last ones by checksum. A policy never changes, so its entry never expires. */
function keptCompiler(policiesMax: number): typeof compileStoredPolicy {
  const compiledPolicies = new LRUCache<string, CompiledPolicy>({ max: policiesMax })
  return (stored) => {
    const cached = compiledPolicies.get(stored.checksum)
    if (cached && sha256(stored.document) === stored.checksum) return { policy: cached }
    const compiled = compileStoredPolicy(stored)
    if ('policy' in compiled) compiledPolicies.set(stored.checksum, compiled.policy)
    return compiled
  }
}

/** Compiles a stored policy, or returns the kept one; a document that does not have its checksum was altered. */
export const compileOnce = keptCompiler(200)

/** The same in a thread of the pool, whose memory is small: it keeps the few policies that people try now. */
export const compileInThread = keptCompiler(8)
