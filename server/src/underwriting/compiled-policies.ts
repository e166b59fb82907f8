import { LRUCache } from 'lru-cache'
import { sha256 } from '../core/canonical-json.ts'
import { compileStoredPolicy } from '../core/policy/compile-policy.ts'
import type { CompiledPolicy } from '../core/policy/compiled-policy.ts'

/** Compiled policies by checksum. A policy never changes, so its entry never expires. */
const compiledPolicies = new LRUCache<string, CompiledPolicy>({ max: 200 })

/** Compiles a stored policy, or returns the cached one; a document that does not have its checksum was altered. */
export function compileOnce(stored: { document: string; checksum: string }): ReturnType<typeof compileStoredPolicy> {
  const cached = compiledPolicies.get(stored.checksum)
  if (cached && sha256(stored.document) === stored.checksum) return { policy: cached }
  const compiled = compileStoredPolicy(stored)
  if ('policy' in compiled) compiledPolicies.set(stored.checksum, compiled.policy)
  return compiled
}
