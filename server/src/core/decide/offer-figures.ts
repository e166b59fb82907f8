import type { FactSet, Facts } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { type Assessment, assess } from './assess.ts'
import type { Judgement } from './decide.ts'
import type { Confidence, ScorecardLine } from './evaluation.ts'
import { pricedTerms } from './limit-bounds.ts'
import { inCents, instalmentOf } from './measure-request.ts'
import { scorecardLines } from './score.ts'

/** What an amount decides about the figures of a request. */
export interface AmountFigures {
  amount: number
  /** At the price of its tier. */
  instalment: number
  annual_rate: number
  tier: string
  score: number
  bad_ppm: number | null
  confidence: Confidence
  /** What is measured from the amount, at the price of the product. */
  request: FactSet
  /** The lines of the scorecard that are measured from the amount. */
  scorecard: (ScorecardLine & { label: string })[]
}

/** The figures of the requested amount, and those of the amount that is offered in its place. */
export interface OfferFigures {
  currency: string
  asked: AmountFigures
  offered: AmountFigures
}

/** The figures on both sides of a counter-offer; null for any other decision. */
export function offerFigures({ policy, asked, offer, settledBy }: Judgement, { features }: Facts): OfferFigures | null {
  if (settledBy !== 'counter_offer') return null
  const { amount, currency } = offer.limit!
  const offered = assess(policy, features, { ...asked.figures, amount: amount! })
  return { currency, asked: figuresOf(policy, asked), offered: figuresOf(policy, offered) }
}

function figuresOf(policy: CompiledPolicy, assessment: Assessment): AmountFigures {
  const { figures, tier, total, badPpm, confidence, request } = assessment
  const amount = figures.amount!
  const terms = pricedTerms(figures, tier)
  return {
    amount,
    instalment: inCents(instalmentOf(amount, { fee: figures.fee, terms })),
    annual_rate: terms.annual_rate,
    tier: tier.tier,
    score: total,
    bad_ppm: badPpm,
    confidence: confidence!,
    request,
    scorecard: scorecardLines(policy, assessment).flatMap((line, index) => {
      const { dependsOnAmount, label } = policy.characteristics[index]!
      return dependsOnAmount ? [{ ...line, label }] : []
    }),
  }
}
