import { ActionIcon, Button, Menu, Skeleton } from '@mantine/core'
import {
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconRestore,
  IconSend,
  IconTrash,
} from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { usePermission } from '../../api/use-me.ts'
import { useOperation } from '../../api/use-operation.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { Failed } from '../../components/failed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useGoTo } from '../../components/page-link.tsx'
import { Time } from '../../components/time.tsx'
import { DeliveriesSection } from '../deliveries/deliveries-section.tsx'
import { addressOf } from '../deliveries/delivery.ts'
import { AttemptsChart } from './attempts-chart.tsx'
import { EndpointAside } from './endpoint-aside.tsx'
import { type EndpointAct, EndpointDialogs } from './endpoint-dialogs.tsx'
import type { NewSecret } from './endpoint-forms.tsx'
import { EndpointState } from './endpoint-state.tsx'
import { HealthBanner } from './health-banner.tsx'
import { SecretReveal } from './secret-reveal.tsx'
import classes from './webhooks.module.css'
import { useTestEvent } from './webhooks-page.tsx'

const PARENT = { title: 'Webhooks', path: 'webhooks' } as const

/** The page of one webhook endpoint: its health, its deliveries, and everything that can be done with it. */
export function WebhookEndpointPage() {
  const { endpointId = '' } = useParams({ strict: false }) as { endpointId?: string }
  const query = useOperation('webhooks.show', { id: endpointId }, { refetchIntervalMs: 10_000 })
  if (query.data) return <EndpointView shown={query.data} />
  return (
    <>
      <PageHeader title="Webhook endpoint" parent={PARENT} below={<CopyableId id={endpointId} short />} />
      {query.error ? <Failed error={query.error} onRetry={query.refetch} /> : <Skeleton height={240} />}
    </>
  )
}

function EndpointView({ shown }: { shown: OutputOf<'webhooks.show'> }) {
  const { endpoint } = shown
  const canManage = usePermission('manage webhooks')
  const [act, setAct] = useState<EndpointAct>()
  const [rotated, setRotated] = useState<NewSecret>()
  const goTo = useGoTo()
  const open = canManage ? setAct : undefined
  return (
    <>
      <PageHeader
        title={addressOf(endpoint.url)}
        mono
        parent={PARENT}
        badge={<EndpointState endpoint={endpoint} />}
        below={
          <span className={classes.below}>
            <CopyableId id={endpoint.id} short />
            <span>
              added {endpoint.added_by && `by ${endpoint.added_by}`} on <Time at={endpoint.created_at} as="date" />
            </span>
            <span>
              {endpoint.last_delivered_at ? (
                <>
                  last delivered <Time at={endpoint.last_delivered_at} />
                </>
              ) : (
                'nothing was delivered yet'
              )}
            </span>
          </span>
        }
      >
        {canManage && <EndpointActions endpoint={endpoint} onAct={setAct} />}
      </PageHeader>
      <div className={classes.banner}>
        <HealthBanner shown={shown} onAct={open} />
      </div>
      <div className={classes.layout}>
        <div className={classes.column}>
          <AttemptsChart endpoint={endpoint} />
          <DeliveriesSection endpointId={endpoint.id} />
        </div>
        <EndpointAside shown={shown} onAct={open} />
      </div>
      <EndpointDialogs
        endpoint={endpoint}
        act={act}
        onClose={() => setAct(undefined)}
        onRotated={(secret) => {
          setAct(undefined)
          setRotated(secret)
        }}
        onRemoved={() => goTo({ to: 'webhooks' })}
      />
      <SecretReveal
        secret={rotated?.secret}
        previousUntil={rotated?.previous_secret_until}
        onClose={() => setRotated(undefined)}
      />
    </>
  )
}

function EndpointActions({
  endpoint,
  onAct,
}: {
  endpoint: OutputOf<'webhooks.show'>['endpoint']
  onAct: (act: EndpointAct) => void
}) {
  const test = useTestEvent()
  const isEnabled = endpoint.state === 'enabled'
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconSend size={16} stroke={1.75} />}
        disabled={!isEnabled}
        loading={test.isPending}
        onClick={() => test.mutate({})}
      >
        Test all endpoints
      </Button>
      <Button variant="default" leftSection={<IconRefresh size={16} stroke={1.75} />} onClick={() => onAct('rotate')}>
        Rotate secret
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={34} aria-label="More actions">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => onAct('edit')}>
            Edit…
          </Menu.Item>
          <Menu.Item leftSection={<IconRestore size={16} />} disabled={!isEnabled} onClick={() => onAct('recover')}>
            Recover since…
          </Menu.Item>
          {isEnabled ? (
            <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => onAct('disable')}>
              Disable…
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => onAct('enable')}>
              Enable…
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => onAct('remove')}>
            Remove…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
