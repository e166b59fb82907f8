import { sha256 } from '../core/canonical-json.ts'
import { compileStoredPolicy } from '../core/policy/compile-policy.ts'
import type { CompiledPolicy } from '../core/policy/compiled-policy.ts'

/** Compiled policies that are kept; they never change, so only memory bounds them. */
const KEPT_MAX = 200

const kept = new Map<string, CompiledPolicy>()

/** Prepares a stored policy for deciding, once for each text: what has another checksum than it should was altered. */
export function compileOnce(stored: { document: string; checksum: string }): ReturnType<typeof compileStoredPolicy> {
  const known = kept.get(stored.checksum)
  if (known && sha256(stored.document) === stored.checksum) return { policy: known }
  const compiled = compileStoredPolicy(stored)
  if ('policy' in compiled) {
    if (kept.size >= KEPT_MAX) kept.clear()
    kept.set(stored.checksum, compiled.policy)
  }
  return compiled
}
