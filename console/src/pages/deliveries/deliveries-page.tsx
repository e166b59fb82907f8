import { PageHeader } from '../../components/page-header.tsx'
import { DeliveriesSection } from './deliveries-section.tsx'

/** The page of all deliveries across the webhook endpoints of an environment, the removed ones too. */
export function DeliveriesPage() {
  return (
    <>
      <PageHeader
        title="Deliveries"
        parent={{ title: 'Webhooks', path: 'webhooks' }}
        below="What was sent to every endpoint, newest event first."
      />
      <DeliveriesSection />
    </>
  )
}
