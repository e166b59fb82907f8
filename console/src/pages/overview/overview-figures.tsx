import { IconAlertTriangle, IconGauge, IconInbox, IconPercentage, IconScale, IconWebhook } from '@tabler/icons-react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useOperation } from '../../api/use-operation.ts'
import { Figure, Figures } from '../../components/figure.tsx'
import type { PageTarget } from '../../components/page-search.ts'
import {
  withPercentSign,
  writeCount,
  writeDuration,
  writeMs,
  writePercentOf,
  writeShare,
} from '../../components/write-number.ts'

/** The figures of a period. */
export type Overview = OutputOf<'overview.show'>

/** The five figures above the charts, each linked to its list. */
export function OverviewFigures({ overview, days }: { overview: Overview | undefined; days: number }) {
  const totals = overview?.totals
  const all = totals ? totals.approve + totals.approve_with_conditions + totals.manual_review + totals.decline : 0
  const approved = totals ? totals.approve + totals.approve_with_conditions : 0
  const share = writeShare(approved, all)
  const period = overview && { from: overview.period.from, to: overview.period.to }
  const decisions: PageTarget = {
    to: 'decisions',
    search: {
      ...period,
      ...(days === 1 && { from: overview?.points[0]?.at, to: undefined }),
    },
  }
  return (
    <Figures>
      <Figure
        label="Decisions"
        icon={IconScale}
        value={totals && writeCount(all)}
        below={overview && paceOf(all, { days, before: overview.previous_decisions })}
        link={decisions}
      />
      <Figure
        label="Approved"
        icon={IconPercentage}
        value={totals && (share ?? 'None')}
        {...(share && { unit: '%' })}
        below={totals && (share ? `${writePercentOf(totals.approve, all)} without conditions` : 'no decision yet')}
        link={decisions}
      />
      <Figure
        label="Latency p95"
        icon={IconGauge}
        value={overview && (overview.latency ? writeMs(overview.latency.p95) : 'None')}
        {...(overview?.latency && { unit: 'ms' })}
        below={
          overview &&
          (overview.latency
            ? `p50 ${writeMs(overview.latency.p50)} · p99 ${writeMs(overview.latency.p99)}`
            : 'nothing measured')
        }
        link={{ to: 'usage', search: period }}
      />
      <WaitingFigure waiting={overview?.waiting} />
      <WebhookFigure webhooks={overview?.webhooks} />
    </Figures>
  )
}

function WaitingFigure({ waiting }: { waiting: Overview['waiting'] | undefined }) {
  const { data: cases } = useOperation('cases.count', {})
  const overdue = cases?.overdue ?? 0
  return (
    <Figure
      label="Waiting for a person"
      icon={IconInbox}
      value={waiting && `${writeCount(waiting.count)}${waiting.is_more ? '+' : ''}`}
      tone={overdue > 0 ? 'bad' : undefined}
      below={
        waiting &&
        (overdue > 0 ? (
          <>
            <IconAlertTriangle size={14} stroke={1.75} />
            {writeCount(overdue)} past the deadline
          </>
        ) : waiting.oldest_since ? (
          `oldest for ${writeDuration(Date.now() - Date.parse(waiting.oldest_since))}`
        ) : (
          'no decision waits'
        ))
      }
      link={{ to: 'review-queue' }}
    />
  )
}

function WebhookFigure({ webhooks }: { webhooks: Overview['webhooks'] | undefined }) {
  const attempts = webhooks ? webhooks.delivered + webhooks.failed : 0
  const share = webhooks && writeShare(webhooks.delivered, attempts)
  const { failing = 0, disabled = 0, well = 0 } = webhooks?.endpoints ?? {}
  const isBad = failing + disabled > 0
  const words =
    failing > 0
      ? `${failing} of ${failing + well} endpoints failing`
      : disabled > 0
        ? `${disabled} ${disabled === 1 ? 'endpoint' : 'endpoints'} disabled`
        : well > 0
          ? `${writeCount(attempts)} attempts, all endpoints well`
          : 'no endpoint yet'
  return (
    <Figure
      label="Webhooks delivered"
      icon={IconWebhook}
      value={webhooks && (share ?? 'None')}
      {...(share && { unit: '%' })}
      tone={webhooks && isBad ? 'warn' : undefined}
      below={
        webhooks && (
          <>
            {isBad && <IconAlertTriangle size={14} stroke={1.75} />}
            {words}
          </>
        )
      }
      link={{ to: !isBad && well > 0 ? 'deliveries' : 'webhooks' }}
    />
  )
}

function paceOf(all: number, { days, before }: { days: number; before: number | null }): string {
  const perUnit = Math.round(all / (days === 1 ? 24 : days))
  const pace = `${all > 0 && perUnit === 0 ? 'less than 1' : writeCount(perUnit)} ${days === 1 ? 'an hour' : 'a day'}`
  if (days === 1) return pace
  if (before === null || before === 0) return pace
  const change = Math.round((all / before - 1) * 100)
  return change === 0
    ? `${pace}, as before`
    : `${pace}, ${change > 0 ? 'up' : 'down'} ${withPercentSign(writeCount(Math.abs(change)))}`
}
