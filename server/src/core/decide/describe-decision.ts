import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { Environment, Impact, Verdict } from '../vocabularies.ts'
import type { Evaluation } from './evaluation.ts'

/** A decision as callers see it: exactly the fields of the public API. */
export interface UnderwritingDecision {
  id: string
  object: 'underwriting_decision'
  environment: Environment
  verdict: Verdict
  recommended_limit?: number
  repayment_probability?: number
  risk_tier: string
  confidence?: number
  reason_codes: { code: string; label: string; impact: Impact }[]
  conditions?: { code: string; label: string }[]
  model_version: string
  policy_version: string
  policy_checksum: string
  reference?: string
  request_id: string
  created_at: string
}

/** Describes an evaluation with the fields of the public API, in the order of their names: see `orderedJson`. */
export function describeDecision({
  id,
  environment,
  evaluation,
  policy,
  requestId,
  reference,
  decidedAt,
}: {
  id: string
  environment: UnderwritingDecision['environment']
  evaluation: Evaluation
  policy: CompiledPolicy
  requestId: string
  reference?: string | undefined
  decidedAt: string
}): UnderwritingDecision {
  const { verdict, tier, limit, reasons, conditions, trace } = evaluation
  return {
    ...(conditions.length > 0 && { conditions: conditions.map(({ code, label }) => ({ code, label })) }),
    ...(trace.confidence !== null && { confidence: fourDecimals(trace.confidence.ppm) }),
    created_at: decidedAt,
    environment,
    id,
    model_version: policy.document.model_version,
    object: 'underwriting_decision',
    policy_checksum: policy.checksum,
    policy_version: policy.document.version,
    reason_codes: reasons.map(({ code, impact, label }) => ({ code, impact, label })),
    ...(limit !== null && { recommended_limit: limit }),
    ...(reference !== undefined && { reference }),
    ...(isAboutRepayment(trace) && { repayment_probability: fourDecimals(1_000_000 - trace.score.bad_ppm!) }),
    request_id: requestId,
    risk_tier: tier,
    verdict,
  }
}

/** Access without credit, and a file about which nothing is known, have no probability of repayment. */
function isAboutRepayment({ limit, completeness, score }: Evaluation['trace']): boolean {
  return limit !== null && completeness.known_weight > 0 && score.bad_ppm !== null
}

/** Parts per million as a share, rounded down to four decimals. */
function fourDecimals(ppm: number): number {
  return Math.floor(ppm / 100) / 10_000
}
