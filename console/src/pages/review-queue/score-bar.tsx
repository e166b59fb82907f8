import { percentScale } from '../../components/charts/layout/percent-scale.ts'
import { writeDecimal } from '../../decision-view/write-feature.ts'
import classes from './review-queue.module.css'

/** The scores that the bar spans; a score beyond them fills or empties it. */
const placeOf = percentScale(400, 700)

/** A score with a bar on which the cutoff is marked. */
export function ScoreBar({ score, cutoff }: { score: number | null; cutoff: number | null }) {
  if (score === null || cutoff === null) return <span className="dim">–</span>
  return (
    <span className={classes.score}>
      <b className="num">{writeDecimal(score)}</b>
      <span
        className={classes.scoreBar}
        role="img"
        aria-label={`${writeDecimal(score)}, the cutoff is ${writeDecimal(cutoff)}`}
      >
        <i data-below={score < cutoff || undefined} style={{ width: `${placeOf(score)}%` }} />
        <em style={{ left: `${placeOf(cutoff)}%` }} />
      </span>
    </span>
  )
}
