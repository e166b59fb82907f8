import type { Environment } from '../../core/vocabularies.ts'
import { compileInThread } from '../../underwriting/compiled-policies.ts'
import { describeEvidence } from '../../underwriting/describe-evidence.ts'
import { type EvaluationView, viewEvaluation } from '../decision-view/view-evaluation.ts'
import type { Refusal } from '../define-operation.ts'
import { type DryFacts, dryRun, type TriedDocument, unusable } from './dry-run.ts'
import { type Slider, slidersOf } from './sliders.ts'

/** What a thread needs to try a policy: nothing that it would have to read. */
export interface PolicyTrial {
  policy: TriedDocument
  dry: DryFacts
  environment: Environment
  /** Whether the verdicts along the sliders are wanted too. */
  hasSliders: boolean
}

/** What a policy decides in a dry run. */
export interface TriedPolicy {
  evaluation: EvaluationView
  sliders: Slider[]
  /** How long the evaluation took. */
  took_ms: number
  /** The fields of the public API. */
  body: Record<string, unknown> | null
}

/** Decides a dry run under a policy, and along each slider: some hundred judgements, so it runs in a thread of the pool. */
export function tryPolicy({ policy: stored, dry, environment, hasSliders }: PolicyTrial): TriedPolicy | Refusal {
  const compiled = compileInThread(stored)
  if (!('policy' in compiled)) return unusable(stored.version)
  const { policy } = compiled
  const startedMs = performance.now()
  const replay = dryRun(policy, dry, environment)
  if ('problem' in replay) return replay
  const tookMs = performance.now() - startedMs
  const before = hasSliders && dryRun(policy, { ...dry, facts: dry.unchanged }, environment)
  return {
    evaluation: viewEvaluation(replay),
    sliders: before && !('problem' in before) ? slidersOf(describeEvidence(before), policy, dry) : [],
    took_ms: Math.round(tookMs * 100) / 100,
    body: replay.decision,
  }
}
