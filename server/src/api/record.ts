import { nodeId } from '../ids/node-id.ts'
import type { UsageCounter } from '../store/environment/usage.ts'
import type { Change } from '../store/write-path/change.ts'
import { type DomainEvent, domainEventRows } from '../store/write-path/record.ts'
import type { RequestContext } from './define-endpoint.ts'

/** Adds the audit entries, events and usage counts of a request to its change. */
export function record(
  { caller, now, newId, requestId }: Pick<RequestContext, 'caller' | 'now' | 'newId' | 'requestId'>,
  {
    domainEvents,
    counts = [],
    ...change
  }: Omit<Change, 'organizationId' | 'auditEntries' | 'usage'> & {
    domainEvents: DomainEvent[]
    counts?: [counter: UsageCounter, count: number][]
  },
): Change {
  const { organizationId, keyId } = caller
  const actor = { type: 'api_key', id: keyId } as const
  const auditEntries = domainEventRows({ organizationId, actor, now, requestId, newId }, domainEvents)
  return {
    ...change,
    organizationId,
    auditEntries,
    usage: counts.map(([counter, count]) => ({ day: now.slice(0, 10), node: nodeId, counter, count })),
  }
}
