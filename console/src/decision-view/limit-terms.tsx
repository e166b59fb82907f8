import { IconLock } from '@tabler/icons-react'
import { percentScale } from '../components/charts/layout/percent-scale.ts'
import { StateBadge } from '../components/state-badge.tsx'
import { Verdict } from '../components/verdict.tsx'
import { writeMoney } from '../components/write-number.ts'
import classes from './decision-view.module.css'
import { FoldSection } from './fold-section.tsx'
import { asSentence, lackingFor } from './settled-by.ts'
import type { ViewData } from './view-data.ts'

/** The terms of the limit, smallest first, with the one that binds, and the amount with a better verdict. */
export function LimitTerms({ view }: { view: ViewData }) {
  const { limit, better_amount } = view.evidence
  if (!limit) return null
  const { currency, binding, bound, amount } = limit
  const terms = [...limit.terms].sort((a, b) => a.amount - b.amount)
  // That nothing below the requested amount binds is worth a sentence; a term of the policy is marked in the list.
  const isBoundByTerm = binding !== 'requested' && terms.some(({ term }) => term === binding)
  // Terms may be "no bound", written as a huge amount, which must not flatten the others.
  const placeOf = percentScale(0, Math.max(1, ...terms.map((term) => Math.min(term.amount, widest(view)))))
  return (
    <FoldSection
      title="Limit"
      sub={`${terms.length} terms, at the amount that is offered`}
      end={<b className="num">{amount === null ? 'not known' : writeMoney(amount, currency)}</b>}
      footer={
        better_amount && (
          <span>
            A better verdict: <b>{writeMoney(better_amount.amount, better_amount.currency)}</b> would be{' '}
            <Verdict verdict={better_amount.verdict} />
          </span>
        )
      }
    >
      <ul className={classes.terms}>
        {terms.map((term) => (
          <li key={term.term} data-binding={term.term === binding || undefined}>
            <span className={classes.termName}>
              {term.name}
              {term.term === binding && (
                <StateBadge tone="info" icon={<IconLock size={13} />}>
                  Binding
                </StateBadge>
              )}
            </span>
            <span className="num">{writeMoney(term.amount, currency)}</span>
            <i className={classes.termBar} aria-hidden="true">
              <i style={{ width: `${placeOf(term.amount)}%` }} />
            </i>
          </li>
        ))}
      </ul>
      {limit.missing.length > 0 && <p className="small dim">{asSentence(lackingFor(limit))}</p>}
      {bound && !isBoundByTerm && <p className="small dim">{asSentence(bound.because)}</p>}
    </FoldSection>
  )
}

/** The largest amount that a bar is drawn for in full. */
function widest({ requested }: ViewData): number {
  return (requested?.amount ?? 1) * 3
}
