import { Time } from '../../components/time.tsx'
import { Verdict } from '../../components/verdict.tsx'
import { writeMoney } from '../../components/write-number.ts'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'

/** How a case ended: for each of its requests the verdict, the limit and the conditions, with who decided, when and why. */
export function CaseEnded({ shown: { decisions }, end }: { shown: ShownCase; end: NonNullable<ShownCase['end']> }) {
  const reviewed = decisions.flatMap(({ requested, review }) => (review ? [{ requested, review }] : []))
  const ends = reviewed.length > 0 ? reviewed : [{ requested: null, review: end }]
  return ends.map(({ requested, review }) => (
    <section key={review.review_id} className={classes.ended} aria-label="How it ended">
      <div className={classes.endedWho}>
        <Verdict verdict={review.verdict} />
        {review.limit && <b className="num">{writeMoney(review.limit.amount, review.limit.currency)}</b>}
        <span className="secondary">
          {ends.length > 1 && requested && `of ${writeMoney(requested.amount, requested.currency)} asked, `}
          by {review.by}, <Time at={review.at} />
        </span>
      </div>
      <p>{review.reason}</p>
      {review.conditions.length > 0 && (
        <ul>
          {review.conditions.map((condition) => (
            <li key={condition}>{condition}</li>
          ))}
        </ul>
      )}
    </section>
  ))
}
