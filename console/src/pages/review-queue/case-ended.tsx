import type { Ref } from 'react'
import { PageLink } from '../../components/page-link.tsx'
import { Time } from '../../components/time.tsx'
import { Verdict } from '../../components/verdict.tsx'
import { writeMoney } from '../../components/write-number.ts'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'

/** How the requests of a case were decided: the verdict, the limit and the conditions of each, with who, when and why. */
export function CaseEnded({
  shown: { decisions, decision, end, signature },
  ref,
}: {
  shown: ShownCase
  ref: Ref<HTMLDivElement>
}) {
  const reviewed = decisions.flatMap(({ id, requested, review }) => (review ? [{ id, requested, review }] : []))
  const ends = reviewed.length > 0 || !end ? reviewed : [{ id: decision.id, requested: null, review: end }]
  if (ends.length === 0) return null
  return (
    <div ref={ref} tabIndex={-1} className={classes.ends}>
      {ends.map(({ id, requested, review }) => (
        <section key={review.review_id} className={classes.ended} aria-label="How it ended">
          <div className={classes.endedWho}>
            {review.verdict ? <Verdict verdict={review.verdict} /> : 'Reviewed'}
            {review.limit && <b className="num">{writeMoney(review.limit.amount, review.limit.currency)}</b>}
            <span className="secondary">
              {(ends.length > 1 || !end) &&
                requested &&
                `of ${writeMoney(requested.amount, requested.currency)} asked, `}
              by {review.by}
              {signature && end && `, signed first by ${signature.by}`}, <Time at={review.at} />
            </span>
            <PageLink to={`decisions/${id}`} className="small">
              Open decision
            </PageLink>
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
      ))}
    </div>
  )
}
