import type { DecisionTrace } from '../../core/decide/evaluation.ts'

/** What made a decision wait for a person. */
export interface Trigger {
  /** The code of the reason that settled it; null where the policy was not sure enough, or knew too little. */
  code: string | null
  title: string
  words: string
}

/** The shares, in millionths, that the policy asks for; null where the policy is not stored any more. */
export interface PolicyMinimums {
  confidence_min_ppm: number | null
  completeness_min_ppm: number | null
}

interface StatedReason {
  code: string
  label: string
  impact: string
}

/** Says in words why a decision was left to a person, by the step that settled it. */
export function describeTrigger(
  trace: DecisionTrace | null,
  reasons: readonly StatedReason[],
  minimums: PolicyMinimums,
): Trigger {
  const against = reasons.find(({ impact }) => impact === 'negative')
  const stated = {
    code: against?.code ?? null,
    title: against?.code ?? 'Left to a person',
    words: against?.label ?? '',
  }
  if (trace === null) return stated
  switch (trace.settled_by) {
    case 'confidence':
      return {
        code: null,
        title: trace.score.total < trace.score.cutoff ? 'Close below the cutoff' : 'Not sure enough',
        words: `${percent(trace.confidence.ppm)} sure${asksFor(minimums.confidence_min_ppm)}`,
      }
    case 'completeness':
      return {
        code: null,
        title: 'Too little known',
        words: `${percent(trace.completeness.ppm)} of the inputs known${asksFor(minimums.completeness_min_ppm)}`,
      }
    case 'limit_unknown':
      return { code: null, title: 'Limit unknown', words: missingWords(trace.limit?.missing ?? []) }
    default:
      return stated
  }
}

/** The sentence that a reviewer reads first. */
export function explainTrigger(trace: DecisionTrace | null, trigger: Trigger, minimums: PolicyMinimums): string {
  if (trace === null) return 'The evidence of this decision is not stored any more.'
  const { total, cutoff } = trace.score
  const confidence = percent(trace.confidence.ppm)
  switch (trace.settled_by) {
    case 'confidence':
      return total < cutoff
        ? `${total} misses the cutoff of ${cutoff}, but not surely: what is missing could lift it.`
        : `${total} clears the cutoff of ${cutoff}, but with ${confidence} confidence.${sentence(minimums.confidence_min_ppm)}`
    case 'completeness':
      return `Only ${percent(trace.completeness.ppm)} of what the policy looks at is known.${sentence(minimums.completeness_min_ppm)}`
    case 'limit_unknown':
      return 'The score is good enough, but the limit cannot be computed from what is known.'
    case 'data_questioned':
      return `The data contradicts itself: ${lowerFirst(trigger.words)}.`
    default:
      return `A rule of the policy asks for a person: ${lowerFirst(trigger.words)}.`
  }
}

function asksFor(ppm: number | null): string {
  return ppm === null ? '' : `, policy asks for ${percent(ppm)}`
}

function sentence(ppm: number | null): string {
  return ppm === null ? '' : ` The policy asks for ${percent(ppm)}.`
}

function missingWords(features: readonly string[]): string {
  return features.length === 0 ? 'A term of the limit has no value' : `${features.join(', ')} missing`
}

function lowerFirst(text: string): string {
  return text === '' ? 'see its trace' : text[0]!.toLowerCase() + text.slice(1).replace(/\.$/, '')
}

/** A share in millionths as `64.6 %`, with a no-break space. */
function percent(ppm: number): string {
  const tenths = Math.floor(ppm / 1_000)
  return `${tenths % 10 === 0 ? tenths / 10 : (tenths / 10).toFixed(1)}\u00a0%`
}
