import { wordsOf } from '../../../../server/src/core/decide/settling-steps.ts'
import { writeMoney } from '../../components/write-number.ts'
import { writeDecimal } from '../../decision-view/write-feature.ts'
import type { DryResult } from './playground-request.ts'

type View = Pick<DryResult['view'], 'verdict' | 'requested' | 'recommended_limit'> & {
  evidence: Pick<DryResult['view']['evidence'], 'score' | 'settled_by' | 'limit'>
}

/** Why two decisions differ, in sentences: what settled each, the scores and cutoffs, and what each lends. */
export function whyDifferent(a: View, b: View): string {
  const [scoreA, scoreB] = [a.evidence.score, b.evidence.score]
  const isSettledAlike = a.evidence.settled_by === b.evidence.settled_by
  const sentences = [
    ...(isSettledAlike ? [] : [`Under A ${settled(a)}, under B ${settled(b)}`]),
    ...(scoreA && scoreB && scoreA.total !== scoreB.total
      ? [`A scores ${writeDecimal(scoreA.total)}, B ${writeDecimal(scoreB.total)}`]
      : []),
    ...(scoreA && scoreB && scoreA.cutoff !== scoreB.cutoff
      ? [`The cutoff of A is ${writeDecimal(scoreA.cutoff)}, that of B ${writeDecimal(scoreB.cutoff)}`]
      : []),
    ...(a.recommended_limit === b.recommended_limit ? [] : [`A ${lends(a)}; B ${lends(b)}`]),
  ]
  return sentences.length === 0 ? 'They do not, on these facts.' : `${sentences.join('. ')}.`
}

function settled({ evidence: { settled_by } }: View): string {
  return settled_by === null ? 'the settling step is not known' : wordsOf(settled_by)
}

/** What a decision lends, and what keeps it from lending more. */
function lends({ verdict, requested, recommended_limit, evidence: { limit } }: View): string {
  if (recommended_limit === null || !requested)
    return verdict === 'manual_review' ? 'lends nothing until a person decides' : 'lends nothing'
  if (recommended_limit >= requested.amount) return 'lends what was asked'
  const bound = limit?.binding === 'requested' ? null : limit?.bound
  return `lends ${writeMoney(recommended_limit, requested.currency)}${bound ? `, as ${bound.because}` : ''}`
}
