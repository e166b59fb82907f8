import { LRUCache } from 'lru-cache'
import { sha256 } from '../core/canonical-json.ts'
import { defineTask } from '../threads/task.ts'
import { type TaskClient, TaskTooCostly, type ThreadPool } from '../threads/thread-pool.ts'
import type {
  CheckedSource,
  checkSource,
  ExaminedPolicy,
  examinePolicy,
  FaultyPolicy,
  PolicyToExamine,
} from './examine-policy.ts'
import { runPolicyTask } from './run-policy-task.ts'

/** The largest policy takes about a second. */
const BOUNDS = { lane: 'slow', budgetMs: 10_000, purpose: 'to check' } as const
const MODULE = new URL('./examine-policy.ts', import.meta.url).href
const EXAMINE = defineTask<typeof examinePolicy>({ module: MODULE, name: 'examinePolicy', ...BOUNDS })
const CHECK = defineTask<typeof checkSource>({ module: MODULE, name: 'checkSource', ...BOUNDS })

/** Stored policies that can be used, by checksum: what a checksum stands for never changes. */
const examined = new LRUCache<string, ExaminedPolicy>({ maxSize: 4_000_000, sizeCalculation: sizeOf })
/** Examinations that run or wait, by organization and checksum: a second reader waits for the same one. */
const examining = new Map<string, Promise<ExaminedPolicy | FaultyPolicy>>()

/**
 * Examines a policy in a thread, so that requests are answered meanwhile: the sandbox policy alone takes 0.3 s of a
 * processor, and a hostile file many times that.
 */
export async function examinePolicyApart(
  threads: ThreadPool,
  policy: PolicyToExamine,
  client: TaskClient,
): Promise<ExaminedPolicy | FaultyPolicy> {
  if ('source' in policy) return runPolicyTask(threads, EXAMINE, { input: policy, client })
  const { document, checksum } = policy
  const known = examined.get(checksum)
  if (known && sha256(document) === checksum) return known
  // The examination of an altered document is another one than that of the document with this checksum.
  const key = `${client.organizationId} ${checksum} ${sha256(document)}`
  const running = examining.get(key)
  if (running) return running
  const begun = examineStored(threads, { document, checksum }, client).finally(() => examining.delete(key))
  examining.set(key, begun)
  return begun
}

/** Checks the text of a policy in the same way, and lists its problems with their positions. */
export function checkSourceApart(threads: ThreadPool, source: string, client: TaskClient): Promise<CheckedSource> {
  return runPolicyTask(threads, CHECK, { input: source, client })
}

/** Goes on when its client leaves, because the result is kept for the next one. */
async function examineStored(
  threads: ThreadPool,
  stored: { document: string; checksum: string },
  { organizationId }: TaskClient,
): Promise<ExaminedPolicy | FaultyPolicy> {
  try {
    const result = await threads.run(EXAMINE, stored, { organizationId })
    if ('tests' in result) examined.set(stored.checksum, result)
    return result
  } catch (error) {
    if (error instanceof TaskTooCostly) return { faults: `It ${error.cost}.` }
    throw error
  }
}

/** The characters that a policy and its results take as text. */
function sizeOf({ document, tests }: ExaminedPolicy): number {
  return JSON.stringify(document).length + JSON.stringify(tests).length
}
