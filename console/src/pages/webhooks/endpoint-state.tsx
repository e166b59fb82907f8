import { IconAlertTriangle, IconCircleCheck, IconPlayerPause } from '@tabler/icons-react'
import type { OutputOf } from '../../api/operation-types.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { writeCount, writeDuration, writePercentOf } from '../../components/write-number.ts'

/** A webhook endpoint as the list has it. */
export type Endpoint = OutputOf<'webhooks.list'>['endpoints'][number]

/** The health of a webhook endpoint in a word or two. */
export function EndpointState({ endpoint }: { endpoint: Pick<Endpoint, 'state' | 'failing_since'> }) {
  if (endpoint.state === 'disabled')
    return (
      <StateBadge tone="warn" icon={<IconPlayerPause size={14} />}>
        Disabled
      </StateBadge>
    )
  if (endpoint.failing_since !== null)
    return (
      <StateBadge tone="bad" icon={<IconAlertTriangle size={14} />}>
        Failing for {writeDuration(Date.now() - Date.parse(endpoint.failing_since))}
      </StateBadge>
    )
  return (
    <StateBadge tone="ok" icon={<IconCircleCheck size={14} />}>
      Enabled
    </StateBadge>
  )
}

/** A number that was counted up to a bound. */
export function writeCountUpTo(max: number, count: number): string {
  return count >= max ? `more than ${writeCount(max)}` : writeCount(count)
}

/** Attempts of the last 24 hours, and the share that was delivered. */
export function totalsOf({ hours }: Pick<Endpoint, 'hours'>): { delivered: number; all: number; share: string } {
  const delivered = hours.reduce((sum, hour) => sum + hour.delivered, 0)
  const all = delivered + hours.reduce((sum, hour) => sum + hour.failed, 0)
  return { delivered, all, share: all === 0 ? 'no attempts' : writePercentOf(delivered, all) }
}
