import { useOperation } from '../../api/use-operation.ts'
import { FilterChips } from '../../components/filter-chips.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { DeliveriesTable } from './deliveries-table.tsx'
import { addressOf } from './delivery.ts'

const STATES = [
  { value: 'pending', label: 'waiting' },
  { value: 'delivered', label: 'delivered' },
  { value: 'failed', label: 'failed' },
]
const ANSWERS = [
  { value: '2xx', label: '2xx' },
  { value: '3xx', label: '3xx' },
  { value: '4xx', label: '4xx' },
  { value: '5xx', label: '5xx' },
  { value: 'none', label: 'no answer' },
]

/** Deliveries with their filters: of one endpoint, or of all. */
export function DeliveriesSection({ endpointId }: { endpointId?: string }) {
  const { data: catalogue } = useOperation('webhooks.show-catalogue', {})
  const { data: endpoints } = useOperation('webhooks.list', {}, { enabled: endpointId === undefined })
  const types = catalogue?.event_types.map(({ type }) => ({ value: type, label: type })) ?? []
  const choices = endpoints?.endpoints.map(({ id, url, description }) => ({
    value: id,
    label: description ? `${addressOf(url)} (${description})` : addressOf(url),
  }))
  const chips = (
    <FilterChips
      page="deliveries"
      filters={[
        ...(endpointId ? [] : [{ name: 'endpoint_id' as const, label: 'Endpoint', options: choices ?? [] }]),
        { name: 'state', label: 'State', options: STATES },
        { name: 'event_type', label: 'Event', options: types },
        { name: 'answer', label: 'Status', options: ANSWERS },
        { name: 'event_id', label: 'Event id', placeholder: 'evt_…' },
      ]}
    />
  )
  if (endpointId === undefined)
    return (
      <>
        <div style={{ marginBottom: 12 }}>{chips}</div>
        <Section flush>
          <DeliveriesTable />
        </Section>
      </>
    )
  return (
    <Section
      title="Deliveries"
      flush
      end={
        <>
          {chips}
          <PageLink to="deliveries">All endpoints</PageLink>
        </>
      }
    >
      <DeliveriesTable endpointId={endpointId} />
    </Section>
  )
}
