/**
 * Whether a better fact ever makes the sandbox policy decide worse, and whether asking for more ever gives less.
 *
 *     npm run study:monotone -- [--draws 200000] [--seed 19990701]
 *
 * Each draw is an applicant with values at and around the policy's own thresholds. One fact of it is improved: to a better
 * value, from missing to the best value, or to a fresher one. Neither verdict nor limit nor probability may become worse.
 * Another draw asks for two amounts: the larger may not get the smaller limit, nor the smaller the worse verdict. The exit code
 * is 1 if one of them does.
 */
import { parseArgs } from 'node:util'
import type { Facts } from '../server/src/core/facts/facts.ts'
import {
  type Ask,
  drawImprovement,
  scalesFor,
  seededBelow,
  worsenedBy,
  worsenedByAsking,
} from '../server/tests/improvements.ts'
import { sandboxPolicy } from '../server/tests/sandbox-policy.ts'

const SHOWN_MAX = 3
const AMOUNT_MAX = 60_000

const { values } = parseArgs({
  options: { draws: { type: 'string', default: '200000' }, seed: { type: 'string', default: '19990701' } },
})
const draws = Number(values.draws)
const seed = Number(values.seed)
if (!Number.isSafeInteger(draws) || draws < 1 || !Number.isSafeInteger(seed) || seed < 1)
  throw new Error('--draws and --seed must be whole numbers from 1 up')

const policy = sandboxPolicy()
const scales = scalesFor(policy)

interface Violation {
  worsened: string[]
  what: string
  facts: Facts
}

function improvements(ask: Ask): Violation[] {
  const below = seededBelow(seed)
  const violations: Violation[] = []
  for (let draw = 0; draw < draws; draw++) {
    const drawn = drawImprovement(below, { scales, ask })
    const worsened = worsenedBy(policy, drawn)
    if (worsened.length > 0) violations.push({ worsened, what: drawn.improved, facts: drawn.before })
  }
  return violations
}

function asks(): Violation[] {
  const below = seededBelow(seed)
  const violations: Violation[] = []
  for (let draw = 0; draw < draws; draw++) {
    const { before: facts } = drawImprovement(below, { scales, ask: 'credit' })
    const less = 1 + below(AMOUNT_MAX)
    const more = less + 1 + below(AMOUNT_MAX)
    const worsened = worsenedByAsking(policy, facts, { less, more })
    if (worsened.length > 0) violations.push({ worsened, what: `${less} and ${more}`, facts })
  }
  return violations
}

function report(name: string, violations: readonly Violation[]): number {
  console.log(`${name.padEnd(24)} ${draws} draws, ${violations.length} violations`)
  for (const { worsened, what, facts } of violations.slice(0, SHOWN_MAX))
    console.log(`  ${what} worsens ${worsened.join(' and ')}: ${JSON.stringify(facts)}`)
  return violations.length
}

console.log(`policy ${policy.document.version}, seed ${seed}`)
const found = [
  report('improvements, credit', improvements('credit')),
  report('improvements, access', improvements('access')),
  report('amounts', asks()),
]
process.exitCode = found.every((count) => count === 0) ? 0 : 1
