import { nodeId } from '../ids/node-id.ts'
import type { UsageCounter } from '../store/environment/usage.ts'
import type { Change } from '../store/write-path/change.ts'
import { auditEntryRow, type DomainEvent, domainEventRows, type OfferReplaced } from '../store/write-path/record.ts'
import type { RequestContext } from './define-endpoint.ts'

/** Adds the audit entries, events and usage counts of a request to its change. */
export function record(
  { caller, now, newId, requestId }: Pick<RequestContext, 'caller' | 'now' | 'newId' | 'requestId'>,
  {
    domainEvents,
    replacedOffers = [],
    counts = [],
    ...change
  }: Omit<Change, 'organizationId' | 'auditEntries' | 'usage'> & {
    domainEvents: DomainEvent[]
    /** What ended because of a decision, beside its event. */
    replacedOffers?: OfferReplaced[]
    counts?: [counter: UsageCounter, count: number][]
  },
): Change {
  const { organizationId, keyId } = caller
  const actor = { type: 'api_key', id: keyId } as const
  const context = { organizationId, actor, now, requestId, newId }
  const auditEntries = [
    ...domainEventRows(context, domainEvents),
    ...replacedOffers.map((entry) => auditEntryRow(context, entry)),
  ]
  return {
    ...change,
    organizationId,
    auditEntries,
    usage: counts.map(([counter, count]) => ({ day: now.slice(0, 10), node: nodeId, counter, count })),
  }
}
