import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import { remainingPpm } from './decay.ts'
import type { Completeness, Confidence } from './decision-outcome.ts'
import type { SlotReading } from './read-slots.ts'
import type { ScoredCard } from './score.ts'
import { MISSING_BIN } from './score.ts'
import { readTable } from './table.ts'

/** How sure the side of the cutoff is: Φ of the distance in standard deviations, read from the policy's table. */
export function confidenceIn(policy: CompiledPolicy, { lines, total }: ScoredCard): Confidence {
  const { scorecard, verdicts } = policy.document
  let varianceMillionths = scorecard.spread * scorecard.spread * 1_000_000
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    const { definition, slot } = policy.characteristics[index]!
    const unknown = unknownPpm(line, policy.inputs[slot]?.halfLifeDays ?? null)
    varianceMillionths += definition.spread * definition.spread * unknown
  }
  const distance = total - verdicts.cutoff
  const variance = Math.floor(varianceMillionths / 1_000_000)
  // The table is in z², so that no square root is needed.
  return { distance, variance, ppm: readTable(policy.normal, (distance * distance) / variance) }
}

/** The share of a characteristic that is not known: all of it when missing, more and more of it as it ages. */
function unknownPpm(line: { bin: string; age_days?: number }, halfLifeDays: number | null): number {
  if (line.bin === MISSING_BIN) return 1_000_000
  if (line.age_days === undefined || halfLifeDays === null) return 0
  return 1_000_000 - remainingPpm(line.age_days, halfLifeDays)
}

/** How much of the weight of all inputs that apply to the request is known. */
export function completenessOf({ inputs }: CompiledPolicy, { facts }: SlotReading): Completeness {
  let known = 0
  let total = 0
  const missing: string[] = []
  for (let slot = 0; slot < inputs.length; slot++) {
    const { definition } = inputs[slot]!
    const fact = facts[slot]!
    if ('missing' in fact && fact.missing === 'not_requested') continue
    total += definition.weight
    if ('value' in fact) known += definition.weight
    else missing.push(definition.feature)
  }
  const ppm = total === 0 ? 0 : Math.floor((known * 1_000_000) / total)
  return { known_weight: known, total_weight: total, ppm, missing }
}
