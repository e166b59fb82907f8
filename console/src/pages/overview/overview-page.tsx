import { Button, SegmentedControl } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useOperation } from '../../api/use-operation.ts'
import { usePlace } from '../../api/use-place.ts'
import { CalibrationMark } from '../../components/calibration-mark.tsx'
import { BarStack } from '../../components/charts/bar-stack.tsx'
import { Legend } from '../../components/charts/chart-frame.tsx'
import { Failed } from '../../components/failed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { writeHour, writeUtcDay } from '../../components/utc-day.ts'
import { VERDICT_SERIES } from '../../components/verdict.tsx'
import { FirstSteps, useFirstSteps } from './first-steps.tsx'
import { NewestDecisions } from './newest-decisions.tsx'
import { type Overview, OverviewFigures } from './overview-figures.tsx'
import classes from './overview-page.module.css'
import { ApprovalRate, DecisionLatency, WaitingCases } from './overview-trends.tsx'

const RANGES = [
  { value: '24h', label: '24 h', words: 'last 24 hours' },
  { value: '7d', label: '7 days', words: 'last 7 days' },
  { value: '30d', label: '30 days', words: 'last 30 days' },
] as const

/** The page "Overview": how decisions, reviews and webhooks go, and what to do first. */
export function OverviewPage() {
  const [search, setSearch] = usePageSearch('overview')
  const { environment } = usePlace()
  const range = RANGES.find(({ value }) => value === search.range) ?? RANGES[2]
  const query = useOperation('overview.show', { range: range.value }, { refetchIntervalMs: 30_000 })
  const overview = query.data
  const steps = useFirstSteps()
  return (
    <>
      <PageHeader title="Overview" below={`${environment === 'sandbox' ? 'Sandbox' : 'Production'}, ${range.words}`}>
        <SegmentedControl
          aria-label="Period"
          value={range.value}
          onChange={(value) => setSearch({ range: value })}
          data={RANGES.map(({ value, label }) => ({ value, label }))}
        />
        <Button component={PageLink} to="playground" leftSection={<IconPlayerPlay size={15} stroke={1.75} />}>
          Decide
        </Button>
      </PageHeader>
      {query.error && !overview ? (
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <CalibrationMark />
          <OverviewFigures overview={overview} days={range.value === '7d' ? 7 : range.value === '30d' ? 30 : 1} />
          <div className={classes.top} data-alone={steps ? undefined : true}>
            <DecisionsChart overview={overview} />
            {steps && <FirstSteps steps={steps} />}
          </div>
          <div className={classes.trends}>
            <ApprovalRate overview={overview} />
            <DecisionLatency overview={overview} />
            <WaitingCases overview={overview} />
          </div>
          <NewestDecisions decisions={overview?.newest} />
        </>
      )}
    </>
  )
}

function DecisionsChart({ overview }: { overview: Overview | undefined }) {
  const unit = overview?.period.unit ?? 'day'
  const bars = (overview?.points ?? []).map(({ at, verdicts }) => ({
    key: at,
    label: unit === 'day' ? writeUtcDay(at) : writeHour(at),
    title: unit === 'day' ? writeUtcDay(at, true) : writeHour(at, true),
    values: verdicts,
    ...(unit === 'day' && {
      link: { to: 'decisions', search: { from: at.slice(0, 10), to: at.slice(0, 10) } } as const,
    }),
  }))
  return (
    <Section
      title={unit === 'day' ? 'Decisions by day' : 'Decisions by hour'}
      {...(unit === 'day' && { sub: 'days in UTC' })}
      end={<Legend series={VERDICT_SERIES} />}
    >
      <BarStack label={`Decisions by ${unit}, stacked by verdict`} series={VERDICT_SERIES} bars={bars} />
    </Section>
  )
}
