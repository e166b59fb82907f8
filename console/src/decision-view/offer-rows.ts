import { writeMoney, writePercent } from '../components/write-number.ts'
import type { ViewData } from './view-data.ts'
import { featureWriter, writeDecimal, writePoints } from './write-feature.ts'

type CounterOffer = NonNullable<ViewData['evidence']['counter_offer']>
type Figures = CounterOffer['asked']

/** A figure of the requested amount and of the offered one, in words. */
export interface OfferRow {
  name: string
  asked: string
  offered: string
}

/** What a counter-offer changes, figure by figure. */
export function offerRows(
  view: Pick<ViewData, 'features' | 'requested'>,
  { currency, asked, offered }: CounterOffer,
): OfferRow[] {
  const writeFeature = featureWriter(view)
  const row = (name: string, write: (figures: Figures) => string): OfferRow => ({
    name,
    asked: write(asked),
    offered: write(offered),
  })
  return [
    row('Amount', ({ amount }) => writeMoney(amount, currency)),
    row('Monthly instalment', ({ instalment }) => writeMoney(instalment, currency)),
    row('Annual rate', ({ annual_rate }) => writePercent(annual_rate)),
    row('Score', ({ score }) => writeDecimal(score)),
    row('Tier', ({ tier }) => tier),
    row('Will repay', ({ bad_ppm }) => (bad_ppm === null ? 'not known' : writePercent(1 - bad_ppm / 1e6))),
    row('Confidence', ({ confidence }) => writePercent(confidence.ppm / 1e6)),
    ...asked.scorecard.map(({ label, feature }, index) =>
      row(label, ({ scorecard }) => {
        const { value, points } = scorecard[index]!
        return `${writeFeature(feature, value)} (${writePoints(points)})`
      }),
    ),
  ]
}
