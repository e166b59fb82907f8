import type { OutputOf } from '../api/operation-types.ts'
import { PageLink } from '../components/page-link.tsx'
import { Time } from '../components/time.tsx'
import { writeMoney } from '../components/write-number.ts'
import classes from './decision-view.module.css'

type Listed = OutputOf<'decisions.list'>['decisions'][number]
/** The newest review of a decision: what a person granted. */
export type Review = NonNullable<Listed['review']>
/** A decision with what was asked, what the policy could lend, and what a person granted. */
export type Amounts = Pick<Listed, 'requested' | 'limit' | 'review'>

/** Whether a review lends anything at all. */
export function isGranted({ verdict }: Pick<Review, 'verdict'>): boolean {
  return verdict === 'approve' || verdict === 'approve_with_conditions'
}

/** What a person granted, or else what the policy could lend, of what was asked; in one line. */
export function AmountLine({ requested, limit, review }: Amounts) {
  if (!requested) return <span className="dim">Access only</span>
  const asked = <span className="dim">of {writeMoney(requested.amount, requested.currency)} asked</span>
  if (review && !isGranted(review)) return <span className="num nowrap">nothing granted {asked}</span>
  if (review)
    return (
      <span className="num nowrap">
        {review.limit ? writeMoney(review.limit.amount, review.limit.currency) : 'no limit'} granted {asked}
      </span>
    )
  if (limit === null)
    return <span className="num nowrap">{writeMoney(requested.amount, requested.currency)} asked</span>
  return (
    <span className="num nowrap">
      could lend {writeMoney(limit, requested.currency)} {asked}
    </span>
  )
}

/** Who granted it and when, and through which API key where the review came by the API. */
export function ReviewedBy({ review }: { review: Review }) {
  const { reviewer, through_key, at } = review
  return (
    <>
      by <b>{reviewer}</b>
      {through_key && (
        <>
          {' '}
          through API key{' '}
          <PageLink to="audit-log" search={{ actor: through_key.id }} className={classes.keyLink}>
            {through_key.name ?? through_key.id}
          </PageLink>
        </>
      )}
      , <Time at={at} />
    </>
  )
}

/** The conditions of a grant, in one line. */
export function writeConditions({ conditions }: Pick<Review, 'conditions'>): string {
  return conditions.map(({ label }) => label).join('; ')
}
