import { IconAlertOctagon, IconShieldCheck, IconShieldQuestion } from '@tabler/icons-react'
import { useOperation, usePages } from '../../api/use-operation.ts'
import { type AuditEntry, actorName } from '../../components/audit-entry.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { writeCount } from '../../components/write-number.ts'

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'event', header: 'Event', cell: ({ type }) => <code>{type}</code> },
  { id: 'by', header: 'By', cell: ({ actor }) => actorName(actor), hideOnPhone: true },
  { id: 'when', header: 'When', end: true, cell: ({ occurred_at }) => <Time at={occurred_at} /> },
  {
    id: 'leaf',
    header: 'Leaf',
    end: true,
    cell: ({ leaf_index }) => (leaf_index === null ? <span className="dim">waiting</span> : writeCount(leaf_index)),
    hideOnPhone: true,
  },
]

/** The audit trail of an entity, and when the log that it is on was last proved. */
export function TrailSection({ entityId }: { entityId: string }) {
  const query = usePages('audit-log.list', { target: entityId, limit: 10 })
  return (
    <Section title="Audit trail" flush end={<ProofBadge />}>
      <DataTable
        label="Audit trail"
        columns={COLUMNS}
        rows={query.data?.pages.flatMap(({ entries }) => entries)}
        keyOf={({ id }) => id}
        linkOf={({ id }) => ({ to: 'audit-log', search: { target: entityId, entry: id } })}
        query={{ isPending: query.isPending, error: query.error, refetch: () => void query.refetch() }}
        more={query}
      />
    </Section>
  )
}

function ProofBadge() {
  const { data: status } = useOperation('audit-log.show-status', {})
  if (!status) return null
  const { verified } = status
  return (
    <PageLink to="audit-log" aria-label="State of the audit log">
      {!verified && <StateBadge icon={<IconShieldQuestion />}>The log was not verified yet</StateBadge>}
      {verified?.intact && (
        <StateBadge tone="ok" icon={<IconShieldCheck />}>
          Proved <Time at={verified.at} as="relative" />, {writeCount(verified.leaves)} entries
        </StateBadge>
      )}
      {verified?.intact === false && (
        <StateBadge tone="bad" icon={<IconAlertOctagon />}>
          {verified.lost_after === null ? 'The log was altered' : 'The log has lost entries'}
        </StateBadge>
      )}
    </PageLink>
  )
}
