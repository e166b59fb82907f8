import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import { compiledFile } from './sandbox-policy.ts'

const FILE = new URL('../../policies/bureau-snapshot-v1.yaml', import.meta.url)

/** The compiled policy of a lender without bank data: it has segments, derived features and prices by tier. */
export function bureauPolicy(): CompiledPolicy {
  return compiledFile(FILE)
}
