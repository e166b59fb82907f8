import { type BarGroup, BarPairs } from '../components/charts/bar-pairs.tsx'
import { Legend, type Series } from '../components/charts/chart-frame.tsx'
import { LineChart } from '../components/charts/line-chart.tsx'
import { writeTime } from '../components/time.tsx'
import { writeMoney } from '../components/write-number.ts'
import classes from './account-chart.module.css'
import { FoldSection } from './fold-section.tsx'
import type { ViewData } from './view-data.ts'

type Account = NonNullable<ViewData['account']>

const INCOME: Series = { key: 'income', name: 'Income', color: 'var(--data-1)' }
const SPENDING: Series = { key: 'spending', name: 'Spending', color: 'var(--neu-c)', hatched: true }
const BALANCE: Series = { key: 'balance', name: 'Lowest balance of the day', color: 'var(--accent-ink)' }

/** The windows of the facts, all of which end at the decision. */
const WINDOWS = [
  { days: 365, what: 'income, spending, returned payments' },
  { days: 180, what: 'balances, reserve, leanest weeks' },
  { days: 90, what: 'overdrawn days' },
  { days: 30, what: 'overdrawn days' },
] as const
const WINDOW_DAYS = 365
const MONTH_DAYS = 30
const DAY_MS = 86_400_000

/** Income and spending by month and the balance by day, with the windows that the facts were computed over. */
export function AccountChart({ view }: { view: ViewData }) {
  const { account } = view
  if (!account) return null
  return (
    <FoldSection
      title="Cash flow"
      sub={`${account.currency}, ${WINDOW_DAYS} days to ${writeTime(`${account.to}T12:00:00Z`, 'date')}`}
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
          height={160}
          minWidth={420}
        />
        <Balances account={account} />
      </div>
      <ul className={classes.windows} aria-label="The windows of the facts">
        {WINDOWS.map(({ days, what }) => (
          <li key={days}>
            <i style={{ width: `${(days / WINDOW_DAYS) * 100}%` }} aria-hidden="true" />
            <span>
              {days} days: {what}
            </span>
          </li>
        ))}
      </ul>
    </FoldSection>
  )
}

/** Months of 30 days, counted back from the decision as the facts count them; the first one may be shorter. */
function monthsOf({ days, to }: Account): BarGroup[] {
  const end = Date.parse(to)
  const sums = Array.from({ length: Math.ceil(WINDOW_DAYS / MONTH_DAYS) }, () => ({ income: 0, spending: 0 }))
  for (const { day, income, spending } of days) {
    const sum = sums[Math.floor((end - Date.parse(day)) / DAY_MS / MONTH_DAYS)]
    if (!sum) continue
    sum.income += income
    sum.spending += spending
  }
  return sums
    .map((values, number) => {
      const last = new Date(end - number * MONTH_DAYS * DAY_MS).toISOString()
      return { key: last, label: last.slice(5, 10), title: `30 days to ${writeTime(last, 'date')}`, values }
    })
    .reverse()
}

function Balances({ account }: { account: Account }) {
  const known = new Map(account.days.map(({ day, lowest_balance }) => [day, lowest_balance]))
  if (![...known.values()].some((balance) => balance !== null)) return <p className="dim">No balances were reported.</p>
  const end = Date.parse(account.to)
  let last: number | null = null
  const points = Array.from({ length: WINDOW_DAYS }, (_, index) => {
    const day = new Date(end - (WINDOW_DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10)
    // A balance stays until the next one is reported.
    last = known.get(day) ?? last
    const label = writeTime(`${day}T12:00:00Z`, 'date')
    return { key: day, label, title: label, values: { balance: last } }
  })
  const balances = points.flatMap(({ values }) => values.balance ?? [])
  return (
    <LineChart
      label={`Balance by day in ${account.currency}`}
      series={[BALANCE]}
      points={points}
      write={shortMoney}
      startsAtZero={Math.min(...balances) >= 0}
      height={110}
      minWidth={420}
    />
  )
}

function shortMoney(value: number): string {
  return Math.abs(value) >= 1_000 ? `${Math.round(value / 100) / 10}k` : String(Math.round(value))
}
