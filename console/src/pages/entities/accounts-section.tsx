import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { writeCount, writeMoney } from '../../components/write-number.ts'
import classes from './entities.module.css'
import type { ShownEntity } from './entity.ts'

/** The accounts that the transactions of an entity name, with what each held last. */
export function AccountsSection({ entity: { accounts } }: { entity: ShownEntity }) {
  if (accounts.length === 0) return null
  return (
    <Section title="Accounts" sub="kept as keyed hashes" flush>
      <ul className={classes.rows}>
        {accounts.map(({ masked, kind, holders, currencies }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two accounts may be masked alike, and the list is fixed.
          <li key={index}>
            <span>
              <code>{kind}</code> <span className="dim mono">{masked ?? 'unnamed'}</span>
              {holders > 1 && <span className={classes.below}>{holders} holders, of which one part counts</span>}
            </span>
            <span className="small">
              {currencies.map(({ currency, transactions, last_balance }) => (
                <span key={currency} className={classes.below}>
                  {last_balance === null ? 'no balance' : writeMoney(last_balance, currency)},{' '}
                  {writeCount(transactions)} {transactions === 1 ? 'transaction' : 'transactions'}
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const PROVIDED: Readonly<Record<string, string>> = {
  transactions: 'transactions',
  identity_links: 'identity links',
  feature_snapshots: 'feature snapshots',
}

/** Where the data of an entity came from, oldest first. */
export function SourcesSection({ entity: { sources } }: { entity: ShownEntity }) {
  if (sources.length === 0) return null
  return (
    <Section title="Sources" sub="as callers named them" flush>
      <ul className={classes.rows}>
        {sources.map(({ provides, kind, name, first_at }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two sources may differ in their address alone, and the list is fixed.
          <li key={index}>
            <span>
              {name ?? kind.replaceAll('_', ' ')}
              <span className={classes.below}>{PROVIDED[provides] ?? provides}</span>
            </span>
            <span className="dim small">
              since <Time at={first_at} as="date" />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
