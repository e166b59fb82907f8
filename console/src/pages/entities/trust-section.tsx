import { LineChart } from '../../components/charts/line-chart.tsx'
import { KeyValues, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { writeUtcDay } from '../../components/utc-day.ts'
import { writeFixed, writePercent } from '../../components/write-number.ts'
import classes from './entities.module.css'
import type { ShownEntity } from './entity.ts'

const SERIES = [{ key: 'score', name: 'Trust', color: 'var(--data-1)' }]

/** The trust score of an entity, how it changed, and what it is made of. */
export function TrustSection({ entity: { trust } }: { entity: ShownEntity }) {
  if (!trust)
    return (
      <Section title="Trust score">
        <p className="text-decline">The stored trust was altered and cannot be read.</p>
      </Section>
    )
  const { history } = trust
  const before = history.at(-2)
  const change = before ? trust.score - before.score : 0
  return (
    <Section title="Trust score" sub={<Time at={trust.as_of} as="relative" />}>
      <div className={classes.trust}>
        <span className={classes.score}>{writeFixed(trust.score, 2)}</span>
        {before && Math.abs(change) >= 0.005 && (
          <span className={change < 0 ? 'text-decline' : 'text-ok'}>
            {change < 0 ? '↘' : '↗'} {writeFixed(Math.abs(change), 2)} since {writeUtcDay(before.day)}
          </span>
        )}
      </div>
      {history.length > 1 ? (
        <LineChart
          label="Trust score on the days on which it changed"
          series={SERIES}
          points={history.map(({ day, score }) => ({
            key: day,
            label: writeUtcDay(day),
            title: writeUtcDay(day, true),
            values: { score },
          }))}
          write={(value) => writeFixed(value, 2)}
          stepMin={0.01}
          hasZero={false}
          height={110}
          minWidth={220}
        />
      ) : (
        <p className="dim small">It has not changed since it was first computed.</p>
      )}
      <div className={classes.trustFigures}>
        <KeyValues
          rows={[
            ['Negative exposure', writePercent(trust.negative_exposure)],
            ['Positive support', writePercent(trust.positive_support)],
            ['Track records behind it', trust.evidence_count],
          ]}
        />
      </div>
    </Section>
  )
}
