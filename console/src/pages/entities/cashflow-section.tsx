import { usePermission } from '../../api/use-me.ts'
import { BarPairs } from '../../components/charts/bar-pairs.tsx'
import { Legend } from '../../components/charts/chart-frame.tsx'
import { NotVisible } from '../../components/not-visible.tsx'
import { Section } from '../../components/section.tsx'
import { writeUtcDay, writeUtcMonth } from '../../components/utc-day.ts'
import { writeCount, writeMoney, writeShortMoney } from '../../components/write-number.ts'
import type { ShownEntity } from './entity.ts'

const SERIES = [
  { key: 'in', name: 'In', color: 'var(--data-1)' },
  { key: 'out', name: 'Out', color: 'var(--neu-c)' },
]

/** Money in and out by month, as the facts of decisions count it. */
export function CashflowSection({ entity: { cashflow } }: { entity: ShownEntity }) {
  const isVisible = usePermission('see transactions')
  if (!cashflow && !isVisible)
    return (
      <Section title="Cash flow">
        <NotVisible />
      </Section>
    )
  if (!cashflow)
    return (
      <Section title="Cash flow">
        <p className="dim">No transactions were reported about this entity.</p>
      </Section>
    )
  const { currency, transactions, last_day, months, other_currencies } = cashflow
  const lowest = months.filter(({ lowest_balance }) => lowest_balance !== null && lowest_balance < 0)
  return (
    <Section
      title="Cash flow"
      sub={
        <>
          {currency}, {writeCount(transactions)} {transactions === 1 ? 'transaction' : 'transactions'}
          {last_day !== null && `, last seen ${writeUtcDay(last_day)}`}
        </>
      }
      end={<Legend series={SERIES} />}
    >
      <BarPairs
        label={`Money in and out by month, in ${currency}`}
        series={SERIES}
        bars={months.map(({ month, in: credits, out }) => ({
          key: month,
          label: writeUtcMonth(month),
          title: writeUtcMonth(month, true),
          values: { in: credits, out },
        }))}
        write={(value) => writeMoney(Math.round(value), currency)}
        writeTick={(value) => writeShortMoney(value, currency)}
      />
      {lowest.length > 0 && (
        <p className="small text-decline">
          Overdrawn in {lowest.map(({ month }) => writeUtcMonth(month)).join(', ')}, down to{' '}
          {writeMoney(Math.min(...lowest.map(({ lowest_balance }) => lowest_balance!)), currency)}.
        </p>
      )}
      {other_currencies.length > 0 && <p className="small dim">Also in {other_currencies.join(', ')}.</p>}
    </Section>
  )
}
