import { Button, Input, SegmentedControl, Select, TextInput } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useOperation } from '../../api/use-operation.ts'
import { usePlace } from '../../api/use-place.ts'
import { BarStack } from '../../components/charts/bar-stack.tsx'
import { Legend, type Series } from '../../components/charts/chart-frame.tsx'
import { csvOf, download } from '../../components/download.ts'
import { Failed } from '../../components/failed.tsx'
import { Figure, Figures } from '../../components/figure.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import type { SearchOf } from '../../components/page-search.ts'
import { KeyValues, Section } from '../../components/section.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { dayBefore, dayOr, utcToday, writeUtcDay } from '../../components/utc-day.ts'
import { writeCount, writePercentOf } from '../../components/write-number.ts'
import { nameOf, type Usage, UsageByKey } from './usage-by-key.tsx'
import classes from './usage-page.module.css'

type Counter = 'requests' | 'decisions' | 'transactions'

const SERIES: Record<Counter, readonly Series[]> = {
  requests: [
    { key: 'answered', name: 'Answered', color: 'var(--data-1)' },
    { key: 'errors', name: 'Errors', color: 'var(--no-c)', hatched: true },
  ],
  decisions: [{ key: 'decisions', name: 'Decisions', color: 'var(--data-1)' }],
  transactions: [{ key: 'transactions', name: 'Transactions', color: 'var(--data-1)' }],
}

const PRESETS = [
  { label: '7 days', days: 7 },
  { label: '30 days', days: 30 },
  { label: '90 days', days: 90 },
] as const

/** The page "Usage": requests, errors, decisions and transactions by day and by key, against the limits. */
export function UsagePage() {
  const [search, setSearch] = usePageSearch('usage')
  const today = utcToday()
  const period = { from: dayOr(search.from, dayBefore(today, 29)), to: dayOr(search.to, today) }
  const query = useOperation('usage.show', { ...period, ...(search.key && { key: search.key }) })
  const usage = query.data
  const shown: Counter = search.show ?? 'requests'
  const days = `${writeUtcDay(period.from)} to ${writeUtcDay(period.to)}, days in UTC`
  const isPartlyDeleted = usage !== undefined && period.from < usage.kept_since
  return (
    <>
      <PageHeader
        title="Usage"
        below={isPartlyDeleted ? `${days}; usage before ${writeUtcDay(usage.kept_since)} is no longer kept` : days}
      >
        <ExportButton usage={usage} period={period} keyId={search.key} />
      </PageHeader>
      <PeriodFields period={period} usage={usage} keyId={search.key} onChange={setSearch} />
      {query.error && !usage ? (
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <UsageFigures usage={usage} period={period} keyId={search.key} />
          <Section
            title={`${shown[0]!.toUpperCase()}${shown.slice(1)} by day`}
            className={classes.chart}
            end={
              <>
                {SERIES[shown].length > 1 && <Legend series={SERIES[shown]} />}
                <SegmentedControl
                  aria-label="What the chart shows"
                  value={shown}
                  onChange={(value) => setSearch({ show: value === 'requests' ? undefined : value })}
                  data={[
                    { value: 'requests', label: 'Requests' },
                    { value: 'decisions', label: 'Decisions' },
                    { value: 'transactions', label: 'Transactions' },
                  ]}
                />
              </>
            }
          >
            <BarStack label={`${shown} by day`} series={SERIES[shown]} bars={barsOf(usage)} height={200} />
          </Section>
          <div className={classes.below}>
            <UsageByKey usage={usage} chosen={search.key} />
            <Limits usage={usage} />
          </div>
        </>
      )}
    </>
  )
}

function PeriodFields({
  period,
  usage,
  keyId,
  onChange,
}: {
  period: { from: string; to: string }
  usage: Usage | undefined
  keyId: string | undefined
  onChange: (changes: SearchOf<'usage'>) => void
}) {
  const today = utcToday()
  const preset = PRESETS.find(({ days }) => period.to === today && period.from === dayBefore(today, days - 1))
  const keys = (usage?.by_key ?? []).map(({ id, name, last_four }) => ({
    value: id,
    label: nameOf({ id, name, last_four }),
  }))
  return (
    <search className={classes.fields} aria-label="Period and key">
      <Input.Wrapper label="Period" labelElement="div">
        <SegmentedControl
          aria-label="Period"
          className={classes.period}
          value={preset?.label ?? ''}
          onChange={(label) => {
            const { days } = PRESETS.find((each) => each.label === label)!
            onChange({ from: dayBefore(today, days - 1), to: today })
          }}
          data={PRESETS.map(({ label }) => label)}
        />
      </Input.Wrapper>
      <TextInput
        type="date"
        label="First day"
        value={period.from}
        max={period.to}
        onChange={({ currentTarget }) => currentTarget.value && onChange({ from: currentTarget.value })}
      />
      <TextInput
        type="date"
        label="Last day"
        value={period.to}
        min={period.from}
        max={today}
        onChange={({ currentTarget }) => currentTarget.value && onChange({ to: currentTarget.value })}
      />
      <Select
        className={classes.key}
        label="API key"
        placeholder="All keys"
        clearable
        data={keys.some(({ value }) => value === keyId) || !keyId ? keys : [...keys, { value: keyId, label: keyId }]}
        value={keyId ?? null}
        onChange={(value) => onChange({ key: value ?? undefined })}
        clearButtonProps={{ 'aria-label': 'Show all keys' }}
      />
    </search>
  )
}

function UsageFigures({
  usage,
  period,
  keyId,
}: {
  usage: Usage | undefined
  period: { from: string; to: string }
  keyId: string | undefined
}) {
  const sum = (counter: 'requests' | 'errors' | 'decisions' | 'transactions') =>
    usage?.by_day.reduce((total, day) => total + day[counter], 0) ?? 0
  const [requests, errors] = [sum('requests'), sum('errors')]
  const days = usage?.by_day.length ?? 1
  return (
    <Figures>
      <Figure
        label="Requests"
        value={usage && writeCount(requests)}
        below={usage && `${writeCount(Math.round(requests / days))} a day`}
      />
      <Figure
        label="Errors"
        value={usage && writeCount(errors)}
        below={usage && (requests > 0 ? `${writePercentOf(errors, requests)} of requests` : 'of no request')}
      />
      <Figure
        label="Decisions"
        value={usage && writeCount(sum('decisions'))}
        below="on the audit log"
        link={{ to: 'audit-log', search: { type: 'decision.created', actor: keyId, ...period } }}
      />
      <Figure
        label="Transactions"
        value={usage && writeCount(sum('transactions'))}
        below="ingested, without duplicates"
      />
    </Figures>
  )
}

function Limits({ usage }: { usage: Usage | undefined }) {
  if (!usage) return null
  const { limits, rate_limited } = usage
  const figures: [name: string, figure: string, isBad?: boolean][] = [
    ['Requests per second and node', writeCount(limits.requests_per_second)],
    ['At once', writeCount(limits.request_burst)],
    ['Refused over the rate in this time', writeCount(rate_limited), rate_limited > 0],
    ['Transactions in one request', writeCount(limits.transactions_per_batch_max)],
    ['Size of a request', `${writeCount(limits.body_bytes_max / 1_048_576)} MiB`],
  ]
  return (
    <Section
      title="Limits"
      footer="A request over the rate is refused with 429 and says when to try again; clients that wait lose nothing."
    >
      <KeyValues
        rows={figures.map(([name, figure, isBad]) => [
          name,
          <b className={isBad ? 'num text-decline' : 'num'} key={name}>
            {figure}
          </b>,
        ])}
      />
    </Section>
  )
}

function ExportButton({
  usage,
  period,
  keyId,
}: {
  usage: Usage | undefined
  period: { from: string; to: string }
  keyId: string | undefined
}) {
  const { environment } = usePlace()
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={15} stroke={1.75} />}
      disabled={!usage}
      onClick={() => {
        const rows = usage!.by_day.map(({ day, requests, errors, decisions, transactions }) => [
          ...[environment, keyId ?? 'all', day],
          ...[requests, errors, decisions, transactions],
        ])
        const head = ['environment', 'api_key', 'day', 'requests', 'errors', 'decisions', 'transactions']
        download(`usage-${environment}-${period.from}-${period.to}.csv`, csvOf(head, rows), 'text/csv')
      }}
    >
      CSV
    </Button>
  )
}

function barsOf(usage: Usage | undefined) {
  return (usage?.by_day ?? []).map(({ day, requests, errors, decisions, transactions }) => ({
    key: day,
    label: writeUtcDay(day),
    title: writeUtcDay(day, true),
    values: { answered: requests - errors, errors, decisions, transactions },
  }))
}
