import { writeNumber, writePercent, writeRate } from '../../components/write-number.ts'
import classes from './policies.module.css'

/** A share with the bounds of its interval; null where it is not known. */
export interface ShownEstimate {
  share: number | null
  low: number | null
  high: number | null
}

/** An interval on a scale from 0 to `max`: a bar with a line at the share, and a ring at what was expected. */
export function RateInterval({
  estimate: { share, low, high },
  expected,
  max,
}: {
  estimate: ShownEstimate
  expected?: number | null
  max: number
}) {
  if (share === null || low === null || high === null) return null
  const at = (value: number) => `${Math.min(100, Math.max(0, (value / max) * 100))}%`
  return (
    <div className={classes.interval} aria-hidden="true">
      <span style={{ left: at(low), width: `calc(${at(high)} - ${at(low)})` }} />
      <i style={{ left: at(share) }} />
      {expected !== null && expected !== undefined && <b style={{ left: at(expected) }} />}
    </div>
  )
}

/** The end of a scale that shows all of these: the next round share above them. */
export function scaleFor(estimates: readonly ShownEstimate[], others: readonly (number | null)[] = []): number {
  const highest = Math.max(0, ...estimates.map(({ high }) => high ?? 0), ...others.map((other) => other ?? 0))
  return Math.min(1, [0.05, 0.1, 0.2, 0.4, 0.6, 0.8].find((end) => end >= highest) ?? 1)
}

/** A share and its interval in words. */
export function writeEstimate({ share }: ShownEstimate): string {
  return share === null ? 'not known' : writeRate(share)
}

/** The interval alone: `4.9 % to 13.0 %`. */
export function writeInterval({ low, high }: ShownEstimate): string {
  return low === null || high === null ? '–' : `${writeRate(low)} to ${writeRate(high)}`
}

/** A difference of shares in percentage points, with its sign. */
export function writePoints(difference: number): string {
  const figure = writeNumber(difference * 100, {
    maximumFractionDigits: 1,
    minimumFractionDigits: 1,
    signDisplay: 'exceptZero',
  })
  return `${figure} points`
}

/** The end of a scale, in whole percent. */
export function writeScaleEnd(max: number): string {
  return writePercent(max, 0)
}
