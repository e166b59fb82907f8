import { IconLock } from '@tabler/icons-react'
import { percentScale } from '../components/charts/layout/percent-scale.ts'
import { StateBadge } from '../components/state-badge.tsx'
import { Verdict } from '../components/verdict.tsx'
import { writeMoney } from '../components/write-number.ts'
import classes from './decision-view.module.css'
import { FoldSection } from './fold-section.tsx'
import type { ViewData } from './view-data.ts'

/** What keeps the limit from being higher where no term does. */
const BINDING_WORDS: Readonly<Record<string, string>> = {
  requested: 'Nothing below the requested amount binds.',
  risk: 'A higher amount would fall below the cutoff, or be too uncertain.',
  rule: 'A rule refuses higher amounts.',
  minimum: 'The amount is below the least that the product lends.',
}

/** The terms of the limit, smallest first, with the one that binds, and the amount with a better verdict. */
export function LimitTerms({ view }: { view: ViewData }) {
  const { limit, better_amount } = view.evidence
  if (!limit) return null
  const { currency, binding, amount } = limit
  const terms = [...limit.terms].sort((a, b) => a.amount - b.amount)
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
              {term.term === 'requested' ? 'Asked for' : words(term.term)}
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
      {limit.missing.length > 0 && (
        <p className="small dim">
          Without a value for <code>{limit.missing.join(', ')}</code>
        </p>
      )}
      {binding && BINDING_WORDS[binding] && <p className="small dim">{BINDING_WORDS[binding]}</p>}
    </FoldSection>
  )
}

/** The largest amount that a bar is drawn for in full. */
function widest({ requested }: ViewData): number {
  return (requested?.amount ?? 1) * 3
}

function words(term: string): string {
  const text = term.replaceAll('_', ' ')
  return text[0]!.toUpperCase() + text.slice(1)
}
