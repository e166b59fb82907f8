import type { Fact, Facts, FactValue } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'
import { judge } from './decide.ts'
import type { SettledBy } from './settling-steps.ts'

/** A stretch of values of one feature that give the same verdict, both ends included. */
export interface VerdictStretch {
  from: number
  to: number
  verdict: Verdict
  settled_by: SettledBy
}

/** The values of a feature to try: multiples of `step`, from `from` to `to`. */
export interface TriedValues {
  feature: string
  from: number
  to: number
  step: number
}

/** Tried before the borders between verdicts are searched; a stretch that falls between two of them is not found. */
const TRIED_MAX = 40

/**
 * The verdicts along one feature, with everything else as it is: pure calls of `judge` at evenly spread values, and between
 * two that differ a search for the border, exact to the step.
 */
export function verdictTrack(policy: CompiledPolicy, facts: Facts, tried: TriedValues): VerdictStretch[] {
  const { feature, from, to, step } = tried
  const steps = Math.max(0, Math.round((to - from) / step))
  const valueAt = (index: number) => (index === steps ? to : rounded(from + index * step))
  const at = (index: number) => {
    const { verdict, settledBy } = judge(policy, withValues(facts, { [feature]: valueAt(index) }))
    return { index, verdict, settled_by: settledBy }
  }
  const count = Math.min(TRIED_MAX, steps)
  const indexes = new Set([0, ...Array.from({ length: count }, (_, n) => Math.round(((n + 1) * steps) / count))])
  const judged = [...indexes].map(at)
  const stretches: VerdictStretch[] = []
  let [first, previous] = [judged[0]!, judged[0]!]
  for (const next of judged) {
    // Between two tried values there may be a stretch of a third verdict, whose end is searched for in turn.
    while (previous.verdict !== next.verdict) {
      const { before, after } = borderBetween(at, previous, next)
      stretches.push({ ...stretchOf(first), from: valueAt(first.index), to: valueAt(before) })
      first = after
      previous = after
    }
    previous = next
  }
  return [...stretches, { ...stretchOf(first), from: valueAt(first.index), to }]
}

/** Facts with other values of some features; a changed value keeps its age. */
export function withValues(facts: Facts, values: Readonly<Record<string, FactValue>>): Facts {
  const changed = Object.entries(values).map(([name, value]): [string, Fact] => {
    const known = facts.features[name]
    return [name, known && 'value' in known ? { ...known, value } : { value }]
  })
  return { ...facts, features: { ...facts.features, ...Object.fromEntries(changed) } }
}

interface Judged {
  index: number
  verdict: Verdict
  settled_by: SettledBy
}

function borderBetween(at: (index: number) => Judged, low: Judged, high: Judged): { before: number; after: Judged } {
  let [before, after] = [low.index, high]
  while (after.index - before > 1) {
    const middle = at(Math.floor((before + after.index) / 2))
    if (middle.verdict === low.verdict) before = middle.index
    else after = middle
  }
  return { before, after }
}

function stretchOf({ verdict, settled_by }: Judged): Pick<VerdictStretch, 'verdict' | 'settled_by'> {
  return { verdict, settled_by }
}

/** Nine decimals, so that 0.1 + 0.2 is 0.3. */
function rounded(value: number): number {
  return Math.round(value * 1e9) / 1e9
}
