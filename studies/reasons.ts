/**
 * Whether the reasons of the sandbox policy are true, free of contradictions and never absent, on the PKDD'99 ("Berka")
 * accounts of a Czech bank and on drawn applicants.
 *
 *     npm run study:reasons -- <folder with loans*.csv and transactions*.csv> [--draws 20000] [--seed 19990701]
 *
 * A reason is untrue if the meaning that the policy states for it does not hold on the facts of its decision. Two reasons contradict
 * each other if one is negative, one positive, and both speak about the same. The exit code is 1 if anything is wrong.
 */
import { parseArgs } from 'node:util'
import type { Facts } from '../server/src/core/facts/facts.ts'
import { drawImprovement, scalesFor, seededBelow } from '../server/tests/improvements.ts'
import { reasonFaults } from '../server/tests/reason-faults.ts'
import { sandboxPolicy } from '../server/tests/sandbox-policy.ts'
import { decideLoan, REQUESTED_ON, readLoans } from './berka-loans.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { draws: { type: 'string', default: '20000' }, seed: { type: 'string', default: '19990701' } },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('usage: npm run study:reasons -- <folder with loans*.csv and transactions*.csv> [--draws n] [--seed n]')
  process.exit(2)
}
const policy = sandboxPolicy()

function report(name: string, all: readonly Facts[]): number {
  const untrue = new Map<string, number>()
  const given = new Map<string, number>()
  const opposed = new Map<string, number>()
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  let [contradicting, unexplained] = [0, 0]
  for (const facts of all) {
    const faults = reasonFaults(policy, facts)
    for (const { code } of faults.evaluation.reasons) add(given, code)
    for (const { code } of [...faults.untrue, ...faults.unchecked]) add(untrue, code)
    for (const [one, other] of faults.opposed) add(opposed, `${one.code} beside ${other.code}`)
    if (faults.opposed.length > 0) contradicting += 1
    if (faults.isUnexplained) unexplained += 1
  }
  const wrong = [...untrue.values()].reduce((sum, count) => sum + count, 0)
  console.log(`\n${name}: ${all.length} decisions`)
  console.log(`  untrue reasons              ${wrong}`)
  for (const [code, count] of untrue) console.log(`    ${code} ${count} of ${given.get(code)}`)
  console.log(`  decisions that contradict   ${contradicting}`)
  for (const [pair, count] of opposed) console.log(`    ${pair} ${count}`)
  console.log(`  verdicts without a reason   ${unexplained}`)
  return wrong + contradicting + unexplained
}

const scales = scalesFor(policy)
function drawn(ask: 'credit' | 'access'): Facts[] {
  const below = seededBelow(Number(values.seed))
  return Array.from({ length: Number(values.draws) }, () => drawImprovement(below, { scales, ask }).before)
}

const loans = readLoans(folder).map((loan) => decideLoan(policy, loan, `${REQUESTED_ON}T12:00:00.000Z`).facts)
const faults = [
  report('shared loans', loans),
  report('drawn requests for credit', drawn('credit')),
  report('drawn requests for access', drawn('access')),
]
process.exitCode = faults.every((count) => count === 0) ? 0 : 1
