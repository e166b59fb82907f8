/**
 * Records goldens; golden/README.md says when.
 *
 *     node server/tests/record-golden-decisions.ts facts        writes down anew what ingest adds up to
 *     node server/tests/record-golden-decisions.ts decisions    adds a recording under the policies of today
 */
import { writeFileSync } from 'node:fs'
import { addRecording, decideGoldenCases, FACTS, goldenFacts } from './golden-recordings.ts'
import { relationshipPolicy } from './relationship-policy.ts'
import { sandboxPolicy } from './sandbox-policy.ts'

const what = process.argv[2]
if (what === 'facts') {
  writeFileSync(
    FACTS,
    goldenFacts()
      .map((facts) => `${facts}\n`)
      .join(''),
  )
} else if (what === 'decisions') {
  const policies = [sandboxPolicy(), relationshipPolicy()]
  const day = new Date().toISOString().slice(0, 10)
  console.log(addRecording({ day, decisions: decideGoldenCases(policies), policies }))
} else {
  console.error('say what to record: facts or decisions')
  process.exitCode = 1
}
