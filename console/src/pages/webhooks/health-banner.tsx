import { Button } from '@mantine/core'
import { IconAlertTriangle, IconPlayerPause, IconRestore } from '@tabler/icons-react'
import type { OutputOf } from '../../api/operation-types.ts'
import { Banner } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import type { EndpointAct } from './endpoint-dialogs.tsx'
import { writeCountUpTo } from './endpoint-state.tsx'

/** Says that an endpoint is disabled or fails, since when, what waits, and what happens next. */
export function HealthBanner({
  shown,
  onAct,
}: {
  shown: OutputOf<'webhooks.show'>
  onAct: ((act: EndpointAct) => void) | undefined
}) {
  const { endpoint, disabled_from } = shown
  const waiting = `${writeCountUpTo(endpoint.counted_max, endpoint.waiting)} ${endpoint.waiting === 1 ? 'event waits' : 'events wait'} here`
  if (endpoint.state === 'disabled')
    return (
      <Banner
        tone="warn"
        icon={<IconPlayerPause size={16} stroke={1.75} />}
        action={
          onAct && (
            <Button variant="default" size="xs" onClick={() => onAct('enable')}>
              Enable…
            </Button>
          )
        }
      >
        <b>
          Disabled {endpoint.disabled_at && <Time at={endpoint.disabled_at} />}: {endpoint.disabled_why}.
        </b>{' '}
        {waiting} and {endpoint.waiting === 1 ? 'goes' : 'go'} out when it is enabled again. New events are not queued.
      </Banner>
    )
  if (endpoint.failing_since === null || disabled_from === null) return null
  return (
    <Banner
      tone="bad"
      icon={<IconAlertTriangle size={16} stroke={1.75} />}
      action={
        onAct && (
          <Button
            variant="default"
            size="xs"
            leftSection={<IconRestore size={14} stroke={1.75} />}
            onClick={() => onAct('recover')}
          >
            Recover since…
          </Button>
        )
      }
    >
      <b>
        Fails since <Time at={endpoint.failing_since} />.
      </b>{' '}
      {waiting} and {endpoint.waiting === 1 ? 'goes' : 'go'} out by {endpoint.waiting === 1 ? 'itself' : 'themselves'}{' '}
      when it answers again. After five days of nothing but failure it is disabled, on <Time at={disabled_from} />.
    </Banner>
  )
}
