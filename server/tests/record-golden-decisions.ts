/**
 * Records the golden decisions anew: `node server/tests/record-golden-decisions.ts`.
 *
 * Only ever do this together with a deliberate change of ENGINE_VERSION, and say in the changelog what changed: these
 * files are the promise that the same facts under the same policy give the same bytes.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { canonicalJson } from '../src/core/canonical-json.ts'
import { decide } from '../src/core/decide/decide.ts'
import { describeDecision } from '../src/core/decide/describe-decision.ts'
import { deriveFacts } from '../src/core/facts/derive-facts.ts'
import type { CompiledPolicy } from '../src/core/policy/compiled-policy.ts'
import { GOLDEN_NOW, type GoldenCase, goldenCases } from './golden-states.ts'
import { relationshipPolicy } from './relationship-policy.ts'
import { sandboxPolicy } from './sandbox-policy.ts'

const FOLDER = new URL('golden/decisions/', import.meta.url)

const [forSandbox, forRelationship] = goldenCases()
const recordings = [
  { policy: sandboxPolicy(), cases: forSandbox },
  { policy: relationshipPolicy(), cases: forRelationship },
]

rmSync(new URL('policies/', FOLDER), { recursive: true, force: true })
mkdirSync(new URL('policies/', FOLDER), { recursive: true })
for (const { policy } of recordings) {
  writeFileSync(new URL(`policies/${policy.checksum}.json`, FOLDER), `${canonicalJson(policy.document)}\n`)
}
const lines = recordings.flatMap(({ policy, cases }) => cases.map((one, index) => record(policy, index, one)))
writeFileSync(new URL('decisions.jsonl', FOLDER), `${lines.join('\n')}\n`)

function record(policy: CompiledPolicy, index: number, { state, entity, request }: GoldenCase): string {
  const facts = deriveFacts({ state, entity, request, now: GOLDEN_NOW })
  const outcome = decide(policy, facts)
  const number = String(index).padStart(3, '0')
  const named = { id: `dec_golden_${number}`, environment: 'sandbox' as const, requestId: `req_golden_${number}` }
  const decision = describeDecision({ ...named, outcome, policy, decidedAt: GOLDEN_NOW })
  return canonicalJson({ policy_checksum: policy.checksum, facts, decision, trace: outcome.trace })
}
