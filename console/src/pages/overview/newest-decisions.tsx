import { type Column, DataTable } from '../../components/data-table.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { DECISION_COLUMNS } from '../../decision-view/decision-columns.tsx'
import type { Overview } from './overview-figures.tsx'

type Decision = Overview['newest'][number]

const COLUMNS: readonly Column<Decision>[] = [
  ...DECISION_COLUMNS,
  {
    id: 'when',
    header: 'When',
    end: true,
    onPhone: 'bottom end',
    cell: ({ decided_at }) => <Time at={decided_at} as="relative" />,
  },
]

/** The newest decisions. */
export function NewestDecisions({ decisions }: { decisions: readonly Decision[] | undefined }) {
  return (
    <Section
      title="Latest decisions"
      flush
      end={
        <PageLink to="decisions" className="small">
          All decisions
        </PageLink>
      }
    >
      <DataTable
        label="Latest decisions"
        columns={COLUMNS}
        rows={decisions}
        keyOf={({ id }) => id}
        linkOf={({ id }) => ({ to: `decisions/${id}` })}
        empty={
          <p className="dim" style={{ padding: 16 }}>
            No decisions yet. Ask for one with POST /v1/underwrite; it lands here at once.
          </p>
        }
      />
    </Section>
  )
}
