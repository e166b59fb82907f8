import { BarStack } from '../../components/charts/bar-stack.tsx'
import { Legend, type Series } from '../../components/charts/chart-frame.tsx'
import { Section } from '../../components/section.tsx'
import { writeTime } from '../../components/write-time.ts'
import { type Endpoint, totalsOf } from './endpoint-state.tsx'

const SERIES: readonly Series[] = [
  { key: 'delivered', name: 'Delivered', color: 'var(--ok-c)' },
  { key: 'failed', name: 'Failed', color: 'var(--no-c)', hatched: true },
]

/** The attempts of each of the last 24 hours, delivered and failed. */
export function AttemptsChart({ endpoint }: { endpoint: Endpoint }) {
  const isEmpty = totalsOf(endpoint).all === 0
  return (
    <Section title="Attempts by hour" end={<Legend series={SERIES} />}>
      {isEmpty ? (
        <p className="dim">No attempts in the last 24 hours.</p>
      ) : (
        <BarStack
          label="Attempts by hour, delivered and failed"
          series={SERIES}
          height={180}
          bars={endpoint.hours.map(({ hour, delivered, failed }) => ({
            key: hour,
            label: writeTime(hour, 'time').slice(0, 5),
            title: writeTime(hour, 'date-time'),
            values: { delivered, failed },
          }))}
        />
      )}
    </Section>
  )
}
