import type { Facts } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import { capacityOf } from './capacity.ts'
import { completenessOf, confidenceIn } from './confidence.ts'
import type { DecisionOutcome } from './decision-outcome.ts'
import { ENGINE_VERSION } from './engine-version.ts'
import { freshFeatures } from './fresh-features.ts'
import { limitFor } from './limit.ts'
import { measureRequest } from './measure-request.ts'
import { readSlots } from './read-slots.ts'
import { conditionsFor, reasonsFor } from './reasons.ts'
import { runRules } from './run-rules.ts'
import { score } from './score.ts'
import { readTable } from './table.ts'
import { verdictOn } from './verdict.ts'

/** Decides: the same policy and the same facts give the same bytes, and nothing here can see a clock or a network. */
export function decide(policy: CompiledPolicy, facts: Facts): DecisionOutcome {
  const features = freshFeatures(policy, facts.features)
  const request = measureRequest(policy, features)
  const reading = readSlots(policy, facts.features, request)

  const rules = runRules(policy, reading)
  const card = score(policy, reading)
  const badPpm = readTable(policy.probability, card.total)
  const tier = tierOf(policy, card.total)
  const completeness = completenessOf(policy, reading)
  const confidence = confidenceIn(policy, card)
  const limit = limitFor(policy, { features, capacity: capacityOf(policy, features), tier, badPpm })

  const { verdict, settledBy } = verdictOn(policy, { rules, score: card.total, completeness, confidence, limit })
  const question = { verdict, settledBy, rules, card, limit }
  const isApproved = verdict === 'approve' || verdict === 'approve_with_conditions'
  return {
    verdict,
    tier: tier.tier,
    limit: isApproved ? (limit?.amount ?? null) : null,
    reasons: reasonsFor(policy, question),
    conditions: conditionsFor(policy, question),
    trace: {
      engine_version: ENGINE_VERSION,
      request,
      rule_trace: rules,
      scorecard: card.lines,
      score: {
        base: policy.document.scorecard.base,
        total: card.total,
        cutoff: policy.document.verdicts.cutoff,
        bad_ppm: badPpm,
      },
      completeness,
      confidence,
      limit,
      settled_by: settledBy,
    },
  }
}

/** The first tier the score reaches; the last one takes all the rest. */
function tierOf({ document: { tiers } }: CompiledPolicy, total: number): PolicyDocument['tiers'][number] {
  return tiers.find(({ from }) => from === undefined || total >= from)!
}
