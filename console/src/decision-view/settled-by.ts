import { writeMoney } from '../components/write-number.ts'
import type { ShownRule, ViewData } from './view-data.ts'
import { writeDecimal, writePercent } from './write-feature.ts'

/**
 * How a step of the engine ended: the request passed it, it failed without settling anything (a score below the cutoff, but
 * not surely), it settled the verdict, or it was not reached.
 */
export type StepState = 'passed' | 'failed' | 'settled' | 'not reached'

/** A step on the way to a verdict, and what it found. */
export interface Step {
  name: string
  says: string
  state: StepState
}

type SettledBy = NonNullable<ViewData['evidence']['settled_by']>

interface StepOfEngine {
  name: string
  settles: readonly SettledBy[]
  /** Access without credit is not a question of repayment, so these steps are left out. */
  creditOnly?: true
  says: (view: ViewData) => string
  /** Whether what it found speaks against the request; a step that has none only ever settles. */
  fails?: (view: ViewData) => boolean
}

/** The steps in the order in which the engine takes them. */
const STEPS: readonly StepOfEngine[] = [
  { name: 'Knock-out', settles: ['knock_out'], ...rulesThat('decline') },
  { name: 'Data', settles: ['data_questioned'], says: () => 'may be relied on' },
  { name: 'Score', settles: ['score'], creditOnly: true, says: scoreAgainstCutoff, fails: isBelowCutoff },
  { name: 'Enough known', settles: ['completeness'], says: enoughKnown, fails: isTooLittleKnown },
  { name: 'Review rules', settles: ['review_rule'], ...rulesThat('manual_review') },
  { name: 'Sure enough', settles: ['confidence'], creditOnly: true, says: sureEnough, fails: isUnsure },
  { name: 'Limit', settles: ['limit_unknown', 'no_limit_left', 'counter_offer'], creditOnly: true, says: limitSays },
  { name: 'Conditions', settles: ['conditions'], ...rulesThat('condition') },
  { name: 'Approval', settles: ['nothing_against'], says: () => 'nothing against it' },
]

/** The steps of a decision, with the one that settled it. */
export function stepsOf(view: ViewData): Step[] {
  const settledBy = view.evidence.settled_by
  if (settledBy === null) return []
  const steps = STEPS.filter(({ creditOnly }) => !creditOnly || view.requested !== null)
  const settled = steps.findIndex(({ settles }) => settles.includes(settledBy))
  // Terms that leave nothing settle a decline before these are asked.
  const skipped = settledBy === 'no_limit_left' && view.verdict === 'decline'
  const asked = (index: number) => index < settled && !(skipped && index > steps.findIndex(isScore))
  return steps.map((step, index) => ({
    name: step.name,
    says: step.says(view),
    state: stateOf(step, view, { isSettled: index === settled, isAsked: asked(index) }),
  }))
}

function stateOf(
  { fails }: StepOfEngine,
  view: ViewData,
  { isSettled, isAsked }: { isSettled: boolean; isAsked: boolean },
): StepState {
  if (isSettled) return 'settled'
  if (!isAsked) return 'not reached'
  return fails?.(view) ? 'failed' : 'passed'
}

const isScore = ({ name }: StepOfEngine) => name === 'Score'

/** What settled the verdict, in a sentence or two. */
export function settledSentence(view: ViewData): string {
  const { settled_by, score, limit } = view.evidence
  const held = (action: ShownRule['action']) => view.rules.filter((rule) => rule.holds && rule.action === action)
  const named = (rules: readonly ShownRule[]) => rules.map(({ label }) => label).join('; ')
  const against = score ? `The score of ${writeDecimal(score.total)} ${scoreWords(score)}.` : ''
  switch (settled_by) {
    case 'knock_out':
      return `A rule that declines holds: ${named(held('decline'))}. Nothing else was weighed against it.`
    case 'data_questioned':
      return `A rule questions the data itself: ${named(held('manual_review'))}. A person has to look before the score counts.`
    case 'score':
      return `${against} It is surely below, whatever the missing values are.`
    case 'completeness':
      return `Too little of what the policy reads is known: ${enoughKnown(view)}.`
    case 'review_rule':
      return `${against} A rule asks for a person: ${named(held('manual_review'))}.`
    case 'confidence':
      return `${against} The policy asks to be surer: ${sureEnough(view)}.`
    case 'limit_unknown':
      return `${against} The limit cannot be computed, because ${limit?.missing.join(', ')} has no value.`
    case 'no_limit_left':
      return `The terms of the limit leave nothing to lend${whyNoMore(view)}.`
    case 'counter_offer':
      return `${against} ${limitSays(view)} is approved, less than was asked for${whyNoMore(view)}.`
    case 'conditions':
      return `${against} A rule asks for something first: ${named(held('condition'))}.`
    case 'nothing_against':
      return `${against} Nothing speaks against it.`
    case null:
      return 'The stored evidence cannot be evaluated any more, so the settling step is not known.'
  }
}

/** Which term, or what else, keeps the limit from being higher. */
function whyNoMore({ evidence: { limit } }: ViewData): string {
  const binding = limit?.binding
  if (!binding || binding === 'requested') return ''
  if (binding === 'risk') return ': a higher amount would fall below the cutoff, or be too uncertain'
  if (binding === 'rule') return ': a rule refuses higher amounts'
  if (binding === 'minimum') return ': the product lends no smaller amount'
  return `: the term “${binding.replaceAll('_', ' ')}” allows no more`
}

function scoreWords({ total, cutoff }: { total: number; cutoff: number }): string {
  const distance = Math.abs(total - cutoff)
  const bar = writeDecimal(cutoff)
  const points = `${writeDecimal(distance)} ${distance === 1 ? 'point' : 'points'}`
  if (distance === 0) return 'is exactly the cutoff'
  return total > cutoff ? `clears the cutoff of ${bar} by ${points}` : `is ${points} below the cutoff of ${bar}`
}

/** A step that asks rules with one action. */
function rulesThat(action: ShownRule['action']): Pick<StepOfEngine, 'says' | 'fails'> {
  const asked = ({ rules }: ViewData) => rules.filter((rule) => rule.action === action)
  const held = (view: ViewData) => asked(view).filter(({ holds }) => holds === true).length
  return {
    says: (view) => {
      const count = asked(view).length
      return `${held(view) === 0 ? 'none' : held(view)} of ${count} ${count === 1 ? 'rule' : 'rules'} held`
    },
    fails: (view) => held(view) > 0,
  }
}

function isBelowCutoff({ evidence: { score } }: ViewData): boolean {
  return score !== null && score.total < score.cutoff
}

function isTooLittleKnown({ evidence: { completeness }, thresholds }: ViewData): boolean {
  return completeness !== null && thresholds !== null && completeness.ppm < thresholds.completeness_min_ppm
}

function isUnsure({ evidence: { confidence }, thresholds }: ViewData): boolean {
  return confidence !== null && thresholds !== null && confidence.ppm < thresholds.confidence_min_ppm
}

function scoreAgainstCutoff({ evidence: { score } }: ViewData): string {
  if (!score) return ''
  const sign = score.total >= score.cutoff ? '≥' : '<'
  return `${writeDecimal(score.total)} ${sign} ${writeDecimal(score.cutoff)}`
}

function enoughKnown({ evidence: { completeness }, thresholds }: ViewData): string {
  if (!completeness) return ''
  return `${writePercent(completeness.ppm / 1e6)} known${thresholds ? `, ${writePercent(thresholds.completeness_min_ppm / 1e6)} asked for` : ''}`
}

function sureEnough({ evidence: { confidence }, thresholds }: ViewData): string {
  if (!confidence) return ''
  return `${writePercent(confidence.ppm / 1e6)} sure${thresholds ? `, ${writePercent(thresholds.confidence_min_ppm / 1e6)} asked for` : ''}`
}

function limitSays({ evidence: { limit } }: ViewData): string {
  if (!limit) return ''
  return limit.amount === null ? 'not known' : writeMoney(limit.amount, limit.currency)
}
