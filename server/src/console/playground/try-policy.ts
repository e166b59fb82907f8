import { askedIn, type RequestRefusal, refusalOf } from '../../core/decide/request-refusal.ts'
import type { Environment } from '../../core/vocabularies.ts'
import { compileInThread } from '../../underwriting/compiled-policies.ts'
import { describeEvidence } from '../../underwriting/describe-evidence.ts'
import { dryRun } from '../../underwriting/dry-run.ts'
import { type EvaluationView, viewEvaluation } from '../decision-view/view-evaluation.ts'
import type { DryFacts, TriedDocument } from './dry-run.ts'
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

/** Why a policy was not tried: its stored document cannot be used, or it refuses the request. */
export type UntriedPolicy = { untried: 'unusable' } | { untried: 'refused'; refusal: RequestRefusal }

/** Decides a dry run under a policy, and along each slider: some hundred judgements, so it runs in a thread of the pool. */
export function tryPolicy({ policy: stored, dry, environment, hasSliders }: PolicyTrial): TriedPolicy | UntriedPolicy {
  const compiled = compileInThread(stored)
  if (!('policy' in compiled)) return { untried: 'unusable' }
  const { policy } = compiled
  const refusal = refusalOf(policy, { ...askedIn(dry.facts.features), product: dry.request.product })
  if (refusal) return { untried: 'refused', refusal }
  const startedMs = performance.now()
  const replay = dryRun(policy, dry, environment)
  const tookMs = performance.now() - startedMs
  const before = hasSliders && dryRun(policy, { ...dry, facts: dry.unchanged }, environment)
  return {
    evaluation: viewEvaluation(replay),
    sliders: before ? slidersOf(describeEvidence(before), policy, dry) : [],
    took_ms: Math.round(tookMs * 100) / 100,
    body: replay.decision,
  }
}
