import type { Facts } from '../facts/facts.ts'
import type { CompiledPolicy, CompiledTier } from '../policy/compiled-policy.ts'
import { capacityOf } from './capacity.ts'
import { completenessOf, confidenceIn } from './confidence.ts'
import { ENGINE_VERSION } from './engine-version.ts'
import type { Evaluation } from './evaluation.ts'
import { limitFor } from './limit.ts'
import { measureRequest } from './measure-request.ts'
import { readFigures } from './read-figures.ts'
import { readSlots } from './read-slots.ts'
import { conditionsFor, reasonsFor } from './reasons.ts'
import { runRules } from './run-rules.ts'
import { score } from './score.ts'
import { readTable } from './table.ts'
import { verdictOn } from './verdict.ts'

/** Evaluates a policy on facts. A pure function: the same policy and the same facts give the same bytes. */
export function decide(policy: CompiledPolicy, facts: Facts): Evaluation {
  const figures = readFigures(policy, facts.features)
  const request = measureRequest(figures)
  const reading = readSlots(policy, facts.features, request)

  const { traces, held } = runRules(policy, reading)
  const { lines, total } = score(policy, reading)
  const badPpm = readTable(policy.probability, total)
  const tier = tierOf(policy, total)
  const completeness = completenessOf(policy, reading)
  const confidence = confidenceIn(policy, reading, total)
  const limit = limitFor(policy, { figures, capacity: capacityOf(policy, figures), tier, badPpm })

  const { verdict, settledBy } = verdictOn(policy, { held, score: total, completeness, confidence, limit })
  const question = { verdict, settledBy, held, lines, missing: reading.missing, total, limit }
  const isApproved = verdict === 'approve' || verdict === 'approve_with_conditions'
  const { scorecard, verdicts } = policy.document
  return {
    verdict,
    tier: tier.tier,
    limit: isApproved ? (limit?.amount ?? null) : null,
    reasons: reasonsFor(policy, question),
    conditions: conditionsFor(policy, question),
    trace: {
      completeness,
      confidence,
      engine_version: ENGINE_VERSION,
      limit,
      request,
      rule_trace: traces,
      score: { bad_ppm: badPpm, base: scorecard.base, cutoff: verdicts.cutoff, total },
      scorecard: lines,
      settled_by: settledBy,
    },
  }
}

/** The first tier that the score reaches; every score reaches the last one. */
function tierOf({ tiers }: CompiledPolicy, total: number): CompiledTier {
  return tiers.find(({ from }) => total >= from)!
}
