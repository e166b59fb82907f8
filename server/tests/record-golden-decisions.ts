/**
 * Records goldens; golden/README.md says when.
 *
 *     node bin/run-on-node-24.cjs server/tests/record-golden-decisions.ts facts
 *         replaces the facts of the golden cases
 *     node bin/run-on-node-24.cjs server/tests/record-golden-decisions.ts decisions
 *         adds a recording of decisions under the current policies
 */
import { writeFileSync } from 'node:fs'
import { bureauPolicy } from './bureau-policy.ts'
import { addRecording, decideGoldenCases, FACTS, goldenFacts } from './golden-recordings.ts'
import { relationshipPolicy } from './relationship-policy.ts'
import { sandboxPolicy } from './sandbox-policy.ts'

const golden = process.argv[2]
if (golden === 'facts') {
  writeFileSync(
    FACTS,
    goldenFacts()
      .map((facts) => `${facts}\n`)
      .join(''),
  )
} else if (golden === 'decisions') {
  const policies = [sandboxPolicy(), relationshipPolicy(), bureauPolicy()]
  const day = new Date().toISOString().slice(0, 10)
  console.log(addRecording({ day, decisions: decideGoldenCases(policies), policies }))
} else {
  console.error('usage: node server/tests/record-golden-decisions.ts facts|decisions')
  process.exitCode = 1
}
