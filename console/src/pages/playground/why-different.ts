import { writeMoney } from '../../components/write-number.ts'
import { writeDecimal } from '../../decision-view/write-feature.ts'
import type { DryResult } from './playground-request.ts'

type View = Pick<DryResult['view'], 'verdict' | 'requested' | 'recommended_limit'> & {
  evidence: Pick<DryResult['view']['evidence'], 'score' | 'settled_by' | 'limit'>
}
type SettledBy = NonNullable<View['evidence']['settled_by']>

/** What settled a verdict, after "under A". */
const SETTLED: Readonly<Record<SettledBy, string>> = {
  knock_out: 'a rule declines',
  data_questioned: 'a rule questions the data',
  score: 'the score is too low',
  completeness: 'too little is known',
  review_rule: 'a rule asks for a person',
  confidence: 'the score is not sure enough',
  limit_unknown: 'the limit cannot be computed',
  no_limit_left: 'the limit leaves nothing to lend',
  counter_offer: 'the limit is below what was asked',
  conditions: 'a rule asks for something first',
  nothing_against: 'nothing speaks against it',
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
  return settled_by === null ? 'the settling step is not known' : SETTLED[settled_by]
}

/** What a decision lends, and what keeps it from lending more. */
function lends({ verdict, requested, recommended_limit, evidence: { limit } }: View): string {
  if (recommended_limit === null || !requested)
    return verdict === 'manual_review' ? 'lends nothing until a person decides' : 'lends nothing'
  if (recommended_limit >= requested.amount) return 'lends what was asked'
  return `lends ${writeMoney(recommended_limit, requested.currency)}${because(limit?.binding ?? null)}`
}

function because(binding: string | null): string {
  if (binding === null || binding === 'requested') return ''
  if (binding === 'risk') return ', as a higher amount would fall below the cutoff or be too uncertain'
  if (binding === 'rule') return ', as a rule refuses higher amounts'
  return `, bound by ${nameOfBinding(binding)}`
}

/** What binds a limit, in words: a term of the policy by its name. */
export function nameOfBinding(binding: string): string {
  if (binding === 'requested') return 'the amount asked'
  if (binding === 'risk' || binding === 'rule') return `the ${binding === 'rule' ? 'rules' : 'risk'}`
  if (binding === 'maximum' || binding === 'minimum') return `the ${binding} of the product`
  return `the term “${binding.replaceAll('_', ' ')}”`
}
