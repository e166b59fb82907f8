import { usePermission } from '../api/use-me.ts'
import { BarPairs } from '../components/charts/bar-pairs.tsx'
import { Legend, type Series } from '../components/charts/chart-frame.tsx'
import { LineChart } from '../components/charts/line-chart.tsx'
import { NotVisible } from '../components/not-visible.tsx'
import { writeUtcDay } from '../components/utc-day.ts'
import { writeMoney, writeShortMoney } from '../components/write-number.ts'
import classes from './account-chart.module.css'
import { type Account, balancesOf, longestOf, monthsOf } from './account-points.ts'
import { FoldSection } from './fold-section.tsx'
import type { ViewData } from './view-data.ts'

const INCOME: Series = { key: 'income', name: 'Income', color: 'var(--data-1)' }
const SPENDING: Series = { key: 'spending', name: 'Spending', color: 'var(--neu-c)', hatched: true }
const BALANCE: Series = { key: 'balance', name: 'Lowest balance of the day', color: 'var(--accent-ink)' }

/** Income and spending by month and the balance by day, with the windows that the facts were computed over. */
export function AccountChart({ view }: { view: ViewData }) {
  const { account } = view
  const isVisible = usePermission('see transactions')
  if (!account && view.requested && !isVisible)
    return (
      <FoldSection title="Cash flow">
        <NotVisible />
      </FoldSection>
    )
  if (!account) return null
  const longest = longestOf(account.windows)
  return (
    <FoldSection
      title="Cash flow"
      sub={`${account.currency}, ${longest} days to ${writeUtcDay(account.to)}`}
      footer={
        <>
          <Legend series={[INCOME, SPENDING]} />
          <Legend series={[BALANCE]} line />
          <span className={classes.note}>
            The account as it is known today. The decision keeps the facts, not the days.
          </span>
        </>
      }
    >
      {/* Holds the tables for screen readers, which are positioned and would lengthen the page. */}
      <div className={classes.charts}>
        <BarPairs
          label={`Income and spending by month in ${account.currency}`}
          series={[INCOME, SPENDING]}
          bars={monthsOf(account)}
          write={(value) => writeMoney(Math.round(value), account.currency)}
          writeTick={(value) => writeShortMoney(value, account.currency)}
          height={160}
          minWidth={420}
        />
        <Balances account={account} />
      </div>
      <ul className={classes.windows} aria-label="The windows of the facts">
        {account.windows.map(({ days, what }) => (
          <li key={days}>
            <i style={{ width: `${(days / longest) * 100}%` }} aria-hidden="true" />
            <span>
              {days} days: {what}
            </span>
          </li>
        ))}
      </ul>
    </FoldSection>
  )
}

function Balances({ account }: { account: Account }) {
  if (!account.days.some(({ lowest_balance }) => lowest_balance !== null))
    return <p className="dim">No balances were reported.</p>
  return (
    <LineChart
      label={`Balance by day in ${account.currency}`}
      series={[BALANCE]}
      points={balancesOf(account)}
      write={(value) => writeMoney(value, account.currency)}
      writeTick={(value) => writeShortMoney(value, account.currency)}
      stepMin={1}
      height={110}
      minWidth={420}
    />
  )
}
