import { IconCoin, IconScale, IconUserCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { StateBadge } from '../components/state-badge.tsx'
import { Time } from '../components/time.tsx'
import { Verdict } from '../components/verdict.tsx'
import { writeCount, writeMoney } from '../components/write-number.ts'
import classes from './decision-view.module.css'
import { FoldSection } from './fold-section.tsx'
import { ReviewedBy, writeConditions } from './granted.tsx'
import type { ShownDecision } from './view-data.ts'

type Review = ShownDecision['since']['reviews'][number]
type Outcome = ShownDecision['since']['outcomes'][number]

/** The reviews and outcomes that were recorded since the decision, newest first. */
export function Since({ shown }: { shown: ShownDecision }) {
  const { reviews, outcomes } = shown.since
  const happened: { id: string; at: string; icon: ReactNode; words: ReactNode }[] = [
    ...reviews.map((review) => ({
      id: review.id,
      at: review.at,
      icon: <IconUserCheck size={16} />,
      words: reviewWords(review),
    })),
    ...outcomes.map((outcome) => ({
      id: outcome.id,
      at: outcome.at,
      icon: <IconCoin size={16} />,
      words: outcomeWords(outcome),
    })),
  ].sort((a, b) => (a.at < b.at ? 1 : -1))
  return (
    <FoldSection title="Since then" sub={`${reviews.length} reviews, ${outcomes.length} outcomes`}>
      <ol className={classes.since}>
        {happened.map(({ id, at, icon, words }) => (
          <li key={id}>
            {icon}
            <div>{words}</div>
            <Time at={at} />
          </li>
        ))}
        <li>
          <IconScale size={16} />
          <div>
            <b>Decided</b> {shown.view.verdict && <Verdict verdict={shown.view.verdict} />}
          </div>
          <Time at={shown.decided_at} />
        </li>
      </ol>
    </FoldSection>
  )
}

function reviewWords(review: Review) {
  const { verdict, limit, conditions, reason, overrides } = review
  return (
    <>
      {verdict ? <Verdict verdict={verdict} /> : 'Reviewed'}
      {limit && <b> {writeMoney(limit.amount, limit.currency)} granted</b>} <ReviewedBy review={review} />
      {conditions.length > 0 && <p>On the conditions: {writeConditions(review)}</p>}
      <p className={classes.quote}>“{reason}”</p>
      {overrides && <StateBadge outline>overrides the verdict</StateBadge>}
    </>
  )
}

function outcomeWords({ type, amount, days_past_due, override_note }: Outcome) {
  return (
    <>
      <b>{type?.replaceAll('_', ' ') ?? 'unknown outcome'}</b>
      {amount && ` ${writeMoney(amount.amount, amount.currency)}`}
      {days_past_due !== null && `, ${writeCount(days_past_due)} days past due`}
      {override_note !== null && (
        <>
          <p className={classes.quote}>“{override_note}”</p>
          <StateBadge outline>does not fit the decision</StateBadge>
        </>
      )}
    </>
  )
}
