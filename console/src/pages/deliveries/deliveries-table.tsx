import { IconCheck, IconCircleX, IconClock, IconX } from '@tabler/icons-react'
import { usePages } from '../../api/use-operation.ts'
import { shorten } from '../../components/copyable-id.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { writeAnswerTime } from '../../components/write-number.ts'
import classes from './deliveries.module.css'
import { addressOf, type Delivery } from './delivery.ts'
import { DeliveryDetail } from './delivery-detail.tsx'

const EVENT: Column<Delivery> = {
  id: 'event',
  header: 'Event',
  onPhone: 'top',
  cell: ({ event_type, event_id }) => (
    <>
      <span className={classes.event}>{event_type}</span>
      <code className="small dim">{shorten(event_id)}</code>
    </>
  ),
}
const ENDPOINT: Column<Delivery> = {
  id: 'endpoint',
  header: 'Endpoint',
  cell: ({ endpoint_url, endpoint_state }) => (
    <>
      <code>{addressOf(endpoint_url)}</code>
      {endpoint_state !== 'enabled' && <div className="small dim">{endpoint_state}</div>}
    </>
  ),
  onPhone: 'bottom',
}
const OTHERS: readonly Column<Delivery>[] = [
  { id: 'state', header: 'State', onPhone: 'top end', cell: (delivery) => <DeliveryState delivery={delivery} /> },
  { id: 'attempts', header: 'Attempts', cell: (delivery) => <Dots delivery={delivery} />, hideOnPhone: true },
  {
    id: 'answer',
    header: 'Last answer',
    cell: ({ last_status, last_error, state }) =>
      last_status !== null || last_error !== null ? (
        <span className={state === 'delivered' ? undefined : 'text-decline'} title={last_error ?? undefined}>
          {last_status ?? 'no answer'}
        </span>
      ) : (
        <span className="dim">–</span>
      ),
  },
  {
    id: 'took',
    header: 'Took',
    end: true,
    cell: ({ last_duration_ms }) => (last_duration_ms === null ? '–' : writeAnswerTime(last_duration_ms)),
    hideOnPhone: true,
  },
  {
    id: 'next',
    header: 'Next try',
    cell: ({ state, due_at, endpoint_state }) => {
      if (state === 'delivered') return <span className="dim">–</span>
      if (state === 'failed') return <span className="dim">gave up</span>
      return endpoint_state === 'enabled' ? <Time at={due_at} as="relative" /> : 'when enabled'
    },
    hideOnPhone: true,
  },
  { id: 'when', header: 'When', end: true, onPhone: 'bottom end', cell: ({ created_at }) => <Time at={created_at} /> },
]

/** Deliveries by the filters of the URL; a row unfolds to its attempts, and the URL says which one is open. */
export function DeliveriesTable({ endpointId }: { endpointId?: string }) {
  const [{ open, ...kept }] = usePageSearch('deliveries')
  const { sort: _, ...filter } = kept
  const set = { ...filter, ...(endpointId && { endpoint_id: endpointId }) }
  const query = usePages('deliveries.list', set, { refetchIntervalMs: 5_000 })
  return (
    <DataTable
      label="Deliveries"
      columns={[EVENT, ...(endpointId ? [] : [ENDPOINT]), ...OTHERS]}
      rows={query.data?.pages.flatMap(({ deliveries }) => deliveries)}
      keyOf={keyOf}
      linkOf={(delivery) => ({
        to: endpointId ? `webhooks/${endpointId}` : 'deliveries',
        search: { ...kept, ...(open !== keyOf(delivery) && { open: keyOf(delivery) }) },
      })}
      below={(delivery) => (open === keyOf(delivery) ? <DeliveryDetail delivery={delivery} /> : undefined)}
      query={query}
      more={query}
      empty={
        <p className="dim" style={{ padding: 16 }}>
          {Object.keys(set).some((name) => name !== 'endpoint_id')
            ? 'No delivery matches these filters.'
            : 'Nothing was sent yet. Send a test event to see one here.'}
        </p>
      }
    />
  )
}

function keyOf({ event_id, endpoint_id }: Delivery): string {
  return `${event_id}.${endpoint_id}`
}

function DeliveryState({ delivery: { state, attempts } }: { delivery: Delivery }) {
  if (state === 'delivered')
    return (
      <StateBadge tone="ok" icon={<IconCheck size={14} />}>
        Delivered
      </StateBadge>
    )
  if (state === 'failed')
    return (
      <StateBadge tone="bad" icon={<IconCircleX size={14} />}>
        Failed
      </StateBadge>
    )
  return (
    <StateBadge tone="warn" icon={<IconClock size={14} />}>
      {attempts === 0 ? 'Waiting' : 'Retrying'}
    </StateBadge>
  )
}

function Dots({ delivery: { answers, attempts, state } }: { delivery: Delivery }) {
  const isOk = (status: number) => status >= 200 && status < 300
  const first = attempts - answers.length
  return (
    <span className={classes.dots} role="img" aria-label={`${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`}>
      {first > 0 && <span className="small dim">{first} +</span>}
      {answers.map((status, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is known by its number
        <i key={first + index} data-answer={isOk(status) ? 'ok' : 'no'}>
          {isOk(status) ? <IconCheck size={10} stroke={3} /> : <IconX size={10} stroke={3} />}
        </i>
      ))}
      {state === 'pending' && <i data-answer="next" />}
    </span>
  )
}
