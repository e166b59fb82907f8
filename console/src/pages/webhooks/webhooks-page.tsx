import { Button } from '@mantine/core'
import { IconPlus, IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import { usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { usePlace } from '../../api/use-place.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { useDialogInUrl } from '../../components/use-search.ts'
import { writeCount } from '../../components/write-number.ts'
import { environmentName } from '../../shell/environment-switch.tsx'
import { addressOf } from '../deliveries/delivery.ts'
import { AddEndpointDialog } from './add-endpoint-dialog.tsx'
import { type Endpoint, EndpointState, totalsOf, writeCountUpTo } from './endpoint-state.tsx'
import { SecretReveal } from './secret-reveal.tsx'
import classes from './webhooks.module.css'

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    id: 'url',
    header: 'Endpoint',
    onPhone: 'top',
    sortBy: ({ url }) => url,
    cell: ({ url, description }) => (
      <>
        <code>{addressOf(url)}</code>
        {description && <div className="small dim">{description}</div>}
      </>
    ),
  },
  { id: 'state', header: 'State', onPhone: 'top end', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
  {
    id: 'events',
    header: 'Events',
    cell: ({ event_types }) =>
      event_types === 'all' ? 'all' : `${event_types.length} ${event_types.length === 1 ? 'type' : 'types'}`,
    hideOnPhone: true,
  },
  {
    id: 'hours',
    header: 'Last 24 hours',
    cell: (endpoint) => <Spark endpoint={endpoint} />,
    onPhone: 'bottom',
  },
  {
    id: 'share',
    header: 'Delivered',
    end: true,
    cell: (endpoint) => totalsOf(endpoint).share,
    onPhone: 'bottom end',
  },
  {
    id: 'waiting',
    header: 'Waiting',
    end: true,
    sortBy: ({ waiting }) => waiting,
    cell: ({ waiting, counted_max }) => writeCountUpTo(counted_max, waiting),
  },
  {
    id: 'last',
    header: 'Last delivered',
    end: true,
    sortBy: ({ last_delivered_at }) => last_delivered_at ?? '',
    cell: ({ last_delivered_at }) =>
      last_delivered_at ? <Time at={last_delivered_at} as="relative" /> : <span className="dim">never</span>,
    hideOnPhone: true,
  },
]

/** The page of the webhook endpoints of an environment, with their health. */
export function WebhooksPage() {
  const { environment } = usePlace()
  const query = useOperation('webhooks.list', {}, { refetchIntervalMs: 10_000 })
  const canManage = usePermission('manage webhooks')
  const [isAdding, setIsAdding] = useDialogInUrl('webhooks', 'create')
  const [added, setAdded] = useState<{ id: string; secret: string }>()
  const test = useTestEvent()
  const hasEnabled = query.data?.endpoints.some(({ state }) => state === 'enabled') ?? false
  const add = (
    <Button leftSection={<IconPlus size={16} stroke={1.75} />} onClick={() => setIsAdding(true)}>
      Add endpoint
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Webhooks"
        below={
          <>
            {environmentName(environment)} events, signed and sent to your URLs.{' '}
            <PageLink to="deliveries">All deliveries</PageLink>
          </>
        }
      >
        {canManage && hasEnabled && (
          <Button
            variant="default"
            leftSection={<IconSend size={16} stroke={1.75} />}
            loading={test.isPending}
            onClick={() => test.mutate({})}
          >
            Test all endpoints
          </Button>
        )}
        {canManage && add}
      </PageHeader>
      <Section flush>
        <DataTable
          label="Webhook endpoints"
          columns={COLUMNS}
          rows={query.data?.endpoints.toSorted((one, other) => urgency(one) - urgency(other))}
          keyOf={({ id }) => id}
          linkOf={({ id }) => ({ to: `webhooks/${id}` })}
          query={query}
          empty={
            <EmptyState
              title="No endpoints yet"
              actions={canManage && add}
              preview={['decision.created', 'decision.reviewed', 'policy.activated']}
            >
              Add a URL of yours, and every event that it listens to arrives there, signed, within a moment of the
              change.
            </EmptyState>
          }
        />
      </Section>
      <AddEndpointDialog
        opened={isAdding && canManage}
        onClose={() => setIsAdding(false)}
        onAdded={(endpoint) => {
          setIsAdding(false)
          setAdded(endpoint)
        }}
      />
      <SecretReveal secret={added?.secret} isNew onClose={() => setAdded(undefined)} />
    </>
  )
}

/** Sends a test event and tells to how many endpoints it goes. */
export function useTestEvent() {
  return useAct('deliveries.send-test', {
    says: ({ endpoints }) =>
      endpoints.length === 0
        ? 'No endpoint is enabled, so nothing was sent.'
        : `Sent a test event to ${endpoints.length} enabled ${endpoints.length === 1 ? 'endpoint' : 'endpoints'}.`,
  })
}

/** What is broken stands first, and what is switched off last. */
function urgency({ state, failing_since }: Endpoint): number {
  if (state === 'disabled') return 2
  return failing_since === null ? 1 : 0
}

function Spark({ endpoint }: { endpoint: Endpoint }) {
  const { all, delivered } = totalsOf(endpoint)
  const most = Math.max(1, ...endpoint.hours.map((hour) => hour.delivered + hour.failed))
  return (
    <span
      className={classes.spark}
      role="img"
      aria-label={`${writeCount(delivered)} of ${writeCount(all)} attempts were delivered`}
    >
      {endpoint.hours.map((hour) => {
        const total = hour.delivered + hour.failed
        const tone = total === 0 ? undefined : hour.failed > 0 ? 'bad' : 'ok'
        return <i key={hour.hour} data-tone={tone} style={{ height: `${Math.round((total / most) * 20)}px` }} />
      })}
    </span>
  )
}
