import {
  SETTLING_STEPS,
  type SettlingStep,
  settlesRightAfter,
  wordsOf,
} from '../../../server/src/core/decide/settling-steps.ts'
import { writeMoney, writePercent } from '../components/write-number.ts'
import type { ShownRule, ViewData } from './view-data.ts'
import { writeDecimal } from './write-feature.ts'

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

/** What a step found, and whether that speaks against the request; a step that has no `fails` only ever settles. */
interface Finding {
  says: (view: ViewData) => string
  fails?: (view: ViewData) => boolean
}

const FINDINGS: Readonly<Record<SettlingStep['key'], Finding>> = {
  knock_out: rulesThat('decline'),
  data: { says: () => 'may be relied on' },
  score: { says: scoreAgainstCutoff, fails: isBelowCutoff },
  completeness: { says: enoughKnown, fails: isTooLittleKnown },
  review_rules: rulesThat('manual_review'),
  confidence: { says: sureEnough, fails: isUnsure },
  limit: { says: limitSays },
  conditions: rulesThat('condition'),
  approval: { says: () => 'nothing against it' },
}

/** The steps of a decision, with the one that settled it. */
export function stepsOf(view: ViewData): Step[] {
  const settledBy = view.evidence.settled_by
  if (settledBy === null) return []
  const isTaken = (step: SettlingStep) => !('isCreditOnly' in step) || view.requested !== null
  // Under a policy without a scorecard there is no score, and nothing that it could be unsure of.
  const isAsked = ({ key }: SettlingStep) => view.evidence.score !== null || (key !== 'score' && key !== 'confidence')
  const steps = SETTLING_STEPS.filter((step) => isTaken(step) && isAsked(step))
  const settled = steps.findIndex(({ settles }) => settles.some(({ by }) => by === settledBy))
  const before = settlesRightAfter(settledBy)
  const beforeIt = SETTLING_STEPS.findIndex(({ key }) => key === before)
  const lastAsked =
    before === undefined ? settled - 1 : steps.findLastIndex((step) => SETTLING_STEPS.indexOf(step) <= beforeIt)
  return steps.map(({ key, name }, index) => {
    const { says, fails } = FINDINGS[key]
    const found = index > lastAsked ? 'not reached' : fails?.(view) ? 'failed' : 'passed'
    return { name, says: says(view), state: index === settled ? 'settled' : found }
  })
}

/** What a limit lacks, in words: a currency without a rate is named among the features that have no value. */
export function lackingFor({ missing, currency }: { missing: readonly string[]; currency: string }): string {
  if (missing.includes('request.currency')) return `the policy does not lend in ${currency}`
  return `${missing.join(', ')} has no value`
}

/** Words as a sentence of their own. */
export function asSentence(words: string): string {
  return `${upperFirst(words)}.`
}

/** Words as the beginning of a sentence. */
export function upperFirst(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What settled the verdict, in a sentence or two. */
export function settledSentence(view: ViewData): string {
  const { settled_by, score, limit } = view.evidence
  if (settled_by === null) return 'The stored evidence cannot be evaluated any more, so the settling step is not known.'
  const held = (action: ShownRule['action']) => view.rules.filter((rule) => rule.holds && rule.action === action)
  const named = (rules: readonly ShownRule[]) => rules.map(({ label }) => label).join('; ')
  // Access without credit is not a question of the score.
  const against = score && view.requested ? `The score of ${writeDecimal(score.total)} ${scoreWords(score)}. ` : ''
  const why = upperFirst(wordsOf(settled_by))
  switch (settled_by) {
    case 'knock_out':
      return `${why}: ${named(held('decline'))}. Nothing else was weighed against it.`
    case 'data_questioned':
      return `${why}: ${named(held('manual_review'))}. A person has to look before the score counts.`
    case 'score':
      return `${against}It is surely below, whatever the missing values are.`
    case 'completeness':
      return `${why}: ${enoughKnown(view)}.`
    case 'review_rule':
      return `${against}${why}: ${named(held('manual_review'))}.`
    case 'confidence':
      return `${against}The policy asks to be surer: ${sureEnough(view)}.`
    case 'limit_unknown':
      return `${against}${why}, because ${limit && lackingFor(limit)}.`
    case 'no_limit_left':
      return `${why}${whyNoMore(view)}.`
    case 'counter_offer':
      return `${against}${limitSays(view)} is approved, less than was asked for${whyNoMore(view)}.`
    case 'conditions':
      return `${against}${why}: ${named(held('condition'))}.`
    case 'nothing_against':
      return `${against}${why}.`
  }
}

/** Which term, or what else, keeps the limit from being higher. */
function whyNoMore({ evidence: { limit } }: ViewData): string {
  return !limit?.bound || limit.binding === 'requested' ? '' : `: ${limit.bound.because}`
}

function scoreWords({ total, cutoff }: { total: number; cutoff: number }): string {
  const distance = Math.abs(total - cutoff)
  const bar = writeDecimal(cutoff)
  const points = `${writeDecimal(distance)} ${distance === 1 ? 'point' : 'points'}`
  if (distance === 0) return 'is exactly the cutoff'
  return total > cutoff ? `clears the cutoff of ${bar} by ${points}` : `is ${points} below the cutoff of ${bar}`
}

/** A step that asks rules with one action. */
function rulesThat(action: ShownRule['action']): Finding {
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
