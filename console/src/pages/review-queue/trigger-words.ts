import { wordsOf } from '../../../../server/src/core/decide/settling-steps.ts'
import { writePercent } from '../../components/write-number.ts'
import { upperFirst } from '../../decision-view/settled-by.ts'
import { writeDecimal } from '../../decision-view/write-feature.ts'
import type { ListedCase } from './review-case.ts'

type Triggered = Pick<ListedCase, 'trigger'> & { decision: Pick<ListedCase['decision'], 'score' | 'cutoff'> }

/** What triggered a case, in short: a title, which may be the code of a reason, and the figures. */
export function triggerWords({ trigger, decision }: Triggered): { title: string; isCode: boolean; words: string } {
  const title = trigger.settled_by === null ? '' : upperFirst(wordsOf(trigger.settled_by))
  const { confidence_ppm, completeness_ppm, confidence_min_ppm, completeness_min_ppm, reason, missing } = trigger
  if (trigger.evidence === 'altered') return { title: 'Evidence altered', isCode: false, words: 'It cannot be read' }
  switch (trigger.settled_by) {
    case 'confidence':
      return {
        title: isBelow(decision) ? 'Close below the cutoff' : title,
        isCode: false,
        words: `${share(confidence_ppm)} sure${asksFor(confidence_min_ppm)}`,
      }
    case 'completeness':
      return {
        title,
        isCode: false,
        words: `${share(completeness_ppm)} of the inputs known${asksFor(completeness_min_ppm)}`,
      }
    case 'limit_unknown':
      return { title, isCode: false, words: missingWords(missing) }
    default:
      return { title: reason?.code ?? 'Left to a person', isCode: reason !== null, words: reason?.label ?? '' }
  }
}

/** The sentence that a reviewer reads first. */
export function explainTrigger({ trigger, decision }: Triggered): string {
  const { settled_by, confidence_ppm, completeness_ppm, confidence_min_ppm, completeness_min_ppm, reason } = trigger
  const { score, cutoff } = decision
  const against = lowerFirst(reason?.label ?? '')
  if (trigger.evidence === 'altered')
    return 'The evidence of this decision was altered and cannot be read, so the request can only be declined.'
  switch (settled_by) {
    case null:
      return 'The evidence of this decision is not stored any more.'
    case 'confidence':
      return isBelow(decision)
        ? `${writeDecimal(score!)} misses the cutoff of ${writeDecimal(cutoff!)}, but not surely: what is missing could lift it.`
        : `${writeDecimal(score!)} clears the cutoff of ${writeDecimal(cutoff!)}, but with ${share(confidence_ppm)} confidence.${sentence(confidence_min_ppm)}`
    case 'completeness':
      return `Only ${share(completeness_ppm)} of what the policy looks at is known.${sentence(completeness_min_ppm)}`
    case 'limit_unknown':
      return `The score is good enough, but ${wordsOf(settled_by)} from what is known.`
    default:
      return `${upperFirst(wordsOf(settled_by))}: ${against}.`
  }
}

function isBelow({ score, cutoff }: Triggered['decision']): boolean {
  return score !== null && cutoff !== null && score < cutoff
}

function asksFor(ppm: number | null): string {
  return ppm === null ? '' : `, policy asks for ${share(ppm)}`
}

function sentence(ppm: number | null): string {
  return ppm === null ? '' : ` The policy asks for ${share(ppm)}.`
}

function missingWords(features: readonly string[]): string {
  if (features.includes('request.currency')) return 'The policy does not lend in this currency'
  return features.length === 0 ? 'A term of the limit has no value' : `${features.join(', ')} missing`
}

function lowerFirst(text: string): string {
  return text === '' ? 'see its trace' : text[0]!.toLowerCase() + text.slice(1).replace(/\.$/, '')
}

/** A share in millionths as `64.6 %`, rounded down: one that is below what the policy asks for must not read as reaching it. */
function share(ppm: number | null): string {
  return ppm === null ? 'an unknown share' : writePercent(Math.floor(ppm / 1_000) / 1_000)
}
