import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { writeCount, writeMoney } from '../../components/write-number.ts'
import classes from './entities.module.css'
import type { ShownEntity } from './entity.ts'

/** What an entity owes, and the approvals that it has not taken up: both count when a limit is computed. */
export function CreditSection({ entity: { open_credits, open_offers } }: { entity: ShownEntity }) {
  if (open_credits.length === 0 && open_offers.length === 0) return null
  return (
    <Section title="Open credit" sub="counts when a limit is computed" flush>
      <ul className={classes.rows}>
        {open_credits.map(({ currency, credits, amount }) => (
          <li key={currency}>
            <span>
              Outstanding
              <span className={classes.below}>
                {writeCount(credits)} {credits === 1 ? 'credit' : 'credits'}
              </span>
            </span>
            <span>{writeMoney(amount, currency)}</span>
          </li>
        ))}
        {open_offers.map(({ decision_id, offered, expires_at }) => (
          <li key={decision_id}>
            <span>
              <PageLink to={`decisions/${decision_id}`}>Open offer</PageLink>
              <span className={classes.below}>
                expires <Time at={expires_at} as="date" />
              </span>
            </span>
            <span>{writeMoney(offered.amount, offered.currency)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
